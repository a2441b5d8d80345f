/* Reasons as sentences. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

static bool append(char ***texts, size_t *count, char *text)
{
	char **larger = text ? realloc(*texts, (*count + 1) * sizeof(char *)) : NULL;

	if (!larger) {
		free(text);
		return false;
	}
	*texts = larger;
	larger[(*count)++] = text;
	return true;
}

bool verdict_reason(struct verdict *verdict, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return append(&verdict->reasons, &verdict->reason_count, length < 0 ? NULL : text);
}

bool verdict_add_segment(struct verdict *verdict, const char *name)
{
	return append(&verdict->segments, &verdict->segment_count, strdup(name));
}

bool verdict_add_host(struct verdict *verdict, const char *name)
{
	size_t i;

	for (i = 0; i < verdict->host_count; i++)
		if (!strcmp(verdict->hosts[i], name))
			return true;
	return append(&verdict->hosts, &verdict->host_count, strdup(name));
}

/* Three significant digits and at least one decimal below 100, as in the table. */
const char *verdict_rate(double bits_per_second, char *buffer, size_t size)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = {{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}};
	size_t i = 0;
	double value;

	/* From 10 Gbit/s up, so that 941 and 8986 Mbit/s can be compared at sight. */
	while (i < 3 && bits_per_second < (i ? units[i].scale : 1e10))
		i++;
	value = bits_per_second / units[i].scale;
	snprintf(buffer, size, "%.*f %s",
		value < 9.995   ? 2
		: value < 99.95 ? 1
				: 0,
		value, units[i].unit);
	return buffer;
}

const char *verdict_shift(double difference, char *buffer, size_t size)
{
	double percent = 100 * expm1(difference);

	if (fabs(percent) < .05)
		snprintf(buffer, size, "equal to");
	else
		snprintf(
			buffer, size, "%.1f %% %s", fabs(percent), percent < 0 ? "below" : "above");
	return buffer;
}

/* Percent of a logarithm to a tenth; what rounds to nothing is not negative. */
static double tenths(double difference)
{
	return round(1000 * expm1(difference)) / 10 + 0.0;
}

const char *verdict_range(const struct verdict_comparison *comparison, char *buffer, size_t size)
{
	snprintf(buffer, size, "%+.1f to %+.1f %%", tenths(comparison->low),
		tenths(comparison->high));
	return buffer;
}
