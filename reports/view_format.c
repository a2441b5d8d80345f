#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

const char *view_format_number(double number, char *buffer, size_t size)
{
	char rounded[32];
	const char *exponent;
	int decimals;

	if (!isfinite(number) || number == 0) {
		snprintf(buffer, size, "%s", isfinite(number) ? "0.0" : "-");
		return buffer;
	}
	/* Rounded before its size is looked at: 99.96 is 100, not 100.0. */
	snprintf(rounded, sizeof(rounded), "%.2e", number);
	exponent = strchr(rounded, 'e');
	decimals = 2 - (exponent ? (int)strtol(exponent + 1, NULL, 10) : 0);
	snprintf(buffer, size, "%.*f", decimals < 0 ? 0 : decimals, number);
	return buffer;
}

const char *view_format_mbit(double bits_per_second, char *buffer, size_t size)
{
	return view_format_number(bits_per_second / 1e6, buffer, size);
}

const char *view_format_rate(double bits_per_second, char *buffer, size_t size)
{
	if (!isfinite(bits_per_second)) {
		snprintf(buffer, size, "-");
		return buffer;
	}
	/* The words of a verdict's reasons: one page must not give one rate two faces. */
	return verdict_rate(bits_per_second, buffer, size);
}

const char *view_format_confidence(double confidence, char *buffer, size_t size)
{
	double percent = floor(confidence * 1000) / 10;

	if (!isfinite(confidence))
		snprintf(buffer, size, "-");
	else if (percent > 99.9)
		snprintf(buffer, size, "over 99.9 %%");
	else
		snprintf(buffer, size, "%.1f %%", percent);
	return buffer;
}
