#include "../units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"

#define DIGITS_MAX 15 /* of a number's digits all together; a double holds them exactly */

struct unit {
	const char *name;
	int64_t factor;
	bool synonym; /* read, but neither listed nor written */
};

struct quantity {
	const char *what;
	const char *example;
	int64_t bare; /* factor of a number without a unit; 0 = it needs one */
	const struct unit *units;
	size_t count;
};

/* Largest first, which is the order format tries them in. */
static const struct unit duration_units[] = {
	{"h", 3600000, false},
	{"min", 60000, false},
	{"s", 1000, false},
	{"ms", 1, false},
};

static const struct unit rate_units[] = {
	{"Tbit", 1000000000000, false},
	{"Gbit", 1000000000, false},
	{"Mbit", 1000000, false},
	{"kbit", 1000, false},
	{"bit", 1, false},
};

static const struct unit size_units[] = {
	{"GiB", 1 << 30, false},
	{"MiB", 1 << 20, false},
	{"KiB", 1 << 10, false},
	{"B", 1, false},
	{"GB", 1000000000, true},
	{"MB", 1000000, true},
	{"kB", 1000, true},
	{"G", 1 << 30, true},
	{"M", 1 << 20, true},
	{"K", 1 << 10, true},
	{"k", 1 << 10, true},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct quantity duration = {
	"a duration", "10s", 0, duration_units, COUNT(duration_units)};
static const struct quantity seconds = {
	"a duration", "10s", 1000, duration_units, COUNT(duration_units)};
static const struct quantity rate = {"a rate", "20Mbit", 0, rate_units, COUNT(rate_units)};
static const struct quantity data_size = {"a size", "64KiB", 1, size_units, COUNT(size_units)};

/* A decimal number: mantissa / 10^decimals. */
struct decimal {
	int64_t mantissa;
	int64_t scale; /* 10^decimals */
};

/* Reads digits with at most one point; returns the first byte after them, or NULL for no number. */
static const char *decimal_parse(const char *text, struct decimal *ret)
{
	int digits = 0;
	bool point = false;

	ret->mantissa = 0;
	ret->scale = 1;
	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		if (++digits > DIGITS_MAX)
			return NULL;
		ret->mantissa = ret->mantissa * 10 + (*text - '0');
		if (point)
			ret->scale *= 10;
	}
	return digits > 0 ? text : NULL;
}

static int no_such_unit(
	const struct quantity *quantity, const char *text, const char *unit, struct error *err)
{
	char list[128] = "", near[SUGGEST_TEXT_MAX];
	size_t used = 0, i;

	if (*unit == ' ')
		return error_set(err, ERROR_USAGE, NULL,
			"\"%.40s\" is not %s: no space goes between number and unit, as in %s",
			text, quantity->what, quantity->example);
	for (i = 0; i < quantity->count; i++) {
		if (!quantity->units[i].synonym)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
				used ? ", " : "", quantity->units[i].name);
	}
	if (*unit == '\0')
		return error_set(err, ERROR_USAGE, NULL,
			"\"%.40s\" has no unit; %s takes one of %s, as in %s", text, quantity->what,
			list, quantity->example);
	suggest_text(unit, quantity->units, quantity->count, sizeof(quantity->units[0]), near,
		sizeof(near));
	return error_set(err, ERROR_USAGE, NULL,
		"unknown unit \"%.20s\" in \"%.40s\"; %s takes one of %s%s", unit, text,
		quantity->what, list, near);
}

static int not_a_number(const char *what, const char *text, const char *example, struct error *err)
{
	return error_set(
		err, ERROR_USAGE, NULL, "\"%.40s\" is not %s, such as %s", text, what, example);
}

static int quantity_parse(
	const struct quantity *quantity, const char *text, int64_t *ret, struct error *err)
{
	struct decimal number;
	const char *unit = decimal_parse(text, &number);
	int64_t factor = 0, value;
	size_t i;

	if (!unit)
		return not_a_number(quantity->what, text, quantity->example, err);
	if (*unit == '\0')
		factor = number.mantissa == 0 ? 1 : quantity->bare;
	for (i = 0; i < quantity->count; i++) {
		if (strcmp(unit, quantity->units[i].name) == 0)
			factor = quantity->units[i].factor;
	}
	if (factor == 0)
		return no_such_unit(quantity, text, unit, err);
	if (__builtin_mul_overflow(number.mantissa, factor, &value))
		return error_set(err, ERROR_USAGE, NULL, "\"%.40s\" is too large", text);
	if (value % number.scale != 0)
		return error_set(err, ERROR_USAGE, NULL, "\"%.40s\" is finer than 1%s", text,
			quantity == &data_size ? "B"
			: quantity == &rate    ? "bit"
					       : "ms");
	*ret = value / number.scale;
	return 0;
}

int units_parse_duration(const char *text, int64_t *ret_ms, struct error *err)
{
	return quantity_parse(&duration, text, ret_ms, err);
}

int units_parse_seconds(const char *text, int64_t *ret_ms, struct error *err)
{
	return quantity_parse(&seconds, text, ret_ms, err);
}

int units_parse_rate(const char *text, int64_t *ret_bps, struct error *err)
{
	return quantity_parse(&rate, text, ret_bps, err);
}

int units_parse_size(const char *text, int64_t *ret_bytes, struct error *err)
{
	return quantity_parse(&data_size, text, ret_bytes, err);
}

int units_parse_percent(const char *text, double *ret_percent, struct error *err)
{
	struct decimal number;
	const char *rest = decimal_parse(text, &number);

	if (!rest || (strcmp(rest, "%") != 0 && !(*rest == '\0' && number.mantissa == 0)))
		return not_a_number("a percentage", text, "5%", err);
	*ret_percent = (double)number.mantissa / (double)number.scale;
	return 0;
}

int units_parse_count(const char *text, int64_t *ret_count, struct error *err)
{
	struct decimal number;
	bool negative = *text == '-';
	const char *rest = decimal_parse(text + negative, &number);

	if (!rest || *rest != '\0' || number.scale != 1 || strchr(text, '.'))
		return not_a_number("a whole number", text, "10", err);
	*ret_count = negative ? -number.mantissa : number.mantissa;
	return 0;
}

static const char *quantity_format(
	const struct quantity *quantity, int64_t value, char *buffer, size_t size)
{
	const struct unit *best = NULL;
	size_t i;

	for (i = 0; i < quantity->count && !best; i++) {
		const struct unit *unit = &quantity->units[i];

		if (!unit->synonym && (value % unit->factor == 0 || unit->factor == 1) &&
			(value != 0 || unit->factor == 1))
			best = unit;
	}
	if (best)
		snprintf(buffer, size, "%" PRId64 "%s", value / best->factor, best->name);
	return buffer;
}

const char *units_format_duration(int64_t ms, char *buffer, size_t size)
{
	return quantity_format(&duration, ms, buffer, size);
}

const char *units_format_rate(int64_t bps, char *buffer, size_t size)
{
	return quantity_format(&rate, bps, buffer, size);
}

const char *units_format_size(int64_t bytes, char *buffer, size_t size)
{
	return quantity_format(&data_size, bytes, buffer, size);
}
