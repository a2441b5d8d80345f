/* How the values of single keys are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"
#include "../units.h"
#include "reader.h"

typedef const char *(*format_function)(int64_t value, char *buffer, size_t size);

static const char *format_count(int64_t value, char *buffer, size_t size)
{
	snprintf(buffer, size, "%lld", (long long)value);
	return buffer;
}

static int check_range(struct reader *reader, const struct field *field, const struct node *value,
	int64_t number, format_function format)
{
	char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

	if ((field->low == 0 && field->high == 0) ||
		(number >= field->low && number <= field->high))
		return 0;
	return reader_fail(reader, value->mark, "%s must be %s to %s, not %.40s", field->name,
		format(field->low, low, sizeof(low)), format(field->high, high, sizeof(high)),
		value->text);
}

typedef int (*parse_function)(const char *text, int64_t *ret, struct error *err);

static int read_quantity(struct reader *reader, const struct field *field, const struct node *value,
	int64_t *ret, parse_function parse, format_function format)
{
	const char *text = reader_text(reader, field->name, value);
	struct error why;
	int64_t number;

	if (!text)
		return -1;
	if (parse(text, &number, &why) < 0)
		return reader_fail(reader, value->mark, "%s: %s", field->name, why.message);
	if (check_range(reader, field, value, number, format) < 0)
		return -1;
	*ret = number;
	return 0;
}

int reader_duration(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	return read_quantity(
		reader, field, value, target, units_parse_duration, units_format_duration);
}

int reader_rate(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	return read_quantity(reader, field, value, target, units_parse_rate, units_format_rate);
}

int reader_size(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	return read_quantity(reader, field, value, target, units_parse_size, units_format_size);
}

int reader_int(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	int64_t number;

	if (read_quantity(reader, field, value, &number, units_parse_count, format_count) < 0)
		return -1;
	*(int *)target = (int)number;
	return 0;
}

/* low and high are in percent. */
int reader_percent(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	const char *text = reader_text(reader, field->name, value);
	struct error why;
	double percent;

	if (!text)
		return -1;
	if (units_parse_percent(text, &percent, &why) < 0)
		return reader_fail(reader, value->mark, "%s: %s", field->name, why.message);
	if (percent < (double)field->low || percent > (double)field->high)
		return reader_fail(reader, value->mark, "%s must be %d%% to %d%%, not %.40s",
			field->name, (int)field->low, (int)field->high, text);
	*(double *)target = percent;
	return 0;
}

int reader_share(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	double percent;

	if (reader_percent(reader, field, value, &percent) < 0)
		return -1;
	*(double *)target = percent / 100;
	return 0;
}

/* 5% or 0.05: as a margin .05 cannot be meant as a percentage. */
int reader_margin(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	char *end = NULL;
	double share;

	if (value->kind != NODE_SCALAR || strchr(value->text, '%') ||
		strspn(value->text, "0123456789.") != strlen(value->text))
		return reader_share(reader, field, value, target);
	share = strtod(value->text, &end);
	if (end == value->text || *end != '\0' || share * 100 < (double)field->low ||
		share * 100 > (double)field->high)
		return reader_fail(reader, value->mark,
			"%s must be %d%% to %d%%, written as 5%% or 0.05, not %.40s", field->name,
			(int)field->low, (int)field->high, value->text);
	*(double *)target = share;
	return 0;
}

int reader_string(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	const char *text = reader_text(reader, field->name, value);
	char *copy;

	if (!text)
		return -1;
	copy = strdup(text);
	if (!copy)
		return reader_out_of_memory(reader);
	*(char **)target = copy;
	return 0;
}

int reader_name(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	const char *text = reader_text(reader, field->name, value);

	if (!text || reader_check_name(reader, value->mark, "anything", text) < 0)
		return -1;
	return reader_string(reader, field, value, target);
}

int reader_bool(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	const char *text = reader_text(reader, field->name, value);

	if (!text)
		return -1;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return reader_fail(reader, value->mark, "%s must be true or false, not \"%.40s\"",
			field->name, text);
	*(bool *)target = text[0] == 't';
	return 0;
}

static int no_such_choice(
	struct reader *reader, const struct field *field, const struct node *value)
{
	char list[200] = "", near[SUGGEST_TEXT_MAX];
	const struct reader_choice *choice;
	size_t used = 0, count = 0;

	for (choice = field->choices; choice->name && used < sizeof(list); choice++) {
		used += (size_t)snprintf(
			list + used, sizeof(list) - used, "%s%s", used ? ", " : "", choice->name);
		count++;
	}
	return reader_fail(reader, value->mark, "%s must be one of %s, not \"%.40s\"%s",
		field->name, list, value->text,
		suggest_text(
			value->text, field->choices, count, sizeof(*choice), near, sizeof(near)));
}

/* The target is an enum, which gcc and clang make as wide as an int. */
int reader_choice(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	const struct reader_choice *choice;

	if (!reader_text(reader, field->name, value))
		return -1;
	for (choice = field->choices; choice->name; choice++) {
		if (strcmp(choice->name, value->text) == 0) {
			*(int *)target = choice->value;
			return 0;
		}
	}
	return no_such_choice(reader, field, value);
}

int reader_node(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	(void)reader;
	(void)field;
	*(const struct node **)target = value;
	return 0;
}
