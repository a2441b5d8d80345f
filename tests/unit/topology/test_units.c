#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "units.h"

typedef int (*parser)(const char *text, int64_t *ret, struct error *err);

struct sample {
	parser parse;
	const char *text;
	int64_t value;
};

static const struct sample samples[] = {
	{units_parse_duration, "10s", 10000},
	{units_parse_duration, "500ms", 500},
	{units_parse_duration, "1.5s", 1500},
	{units_parse_duration, ".25s", 250},
	{units_parse_duration, "2min", 120000},
	{units_parse_duration, "1h", 3600000},
	{units_parse_duration, "0", 0},
	{units_parse_duration, "0s", 0},
	{units_parse_seconds, "2", 2000},
	{units_parse_seconds, "0.5", 500},
	{units_parse_seconds, "300ms", 300},
	{units_parse_rate, "20Mbit", 20000000},
	{units_parse_rate, "1Gbit", 1000000000},
	{units_parse_rate, "2.5Gbit", 2500000000},
	{units_parse_rate, "64kbit", 64000},
	{units_parse_rate, "1Tbit", 1000000000000},
	{units_parse_rate, "9bit", 9},
	{units_parse_size, "1024", 1024},
	{units_parse_size, "1MiB", 1048576},
	{units_parse_size, "64k", 65536},
	{units_parse_size, "64K", 65536},
	{units_parse_size, "64KiB", 65536},
	{units_parse_size, "64kB", 64000},
	{units_parse_size, "1.5MiB", 1572864},
	{units_parse_size, "1MB", 1000000},
	{units_parse_size, "1G", 1073741824},
	{units_parse_size, "7B", 7},
	{units_parse_count, "0", 0},
	{units_parse_count, "-3", -3},
	{units_parse_count, "999999999999999", 999999999999999},
};

static void test_values(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		int64_t value = -1;

		assert_int_equal(samples[i].parse(samples[i].text, &value, NULL), 0);
		assert_int_equal(value, samples[i].value);
	}
}

struct refusal {
	parser parse;
	const char *text;
	const char *message;
};

static const struct refusal refusals[] = {
	{units_parse_duration, "", "\"\" is not a duration, such as 10s"},
	{units_parse_duration, ".", "\".\" is not a duration, such as 10s"},
	{units_parse_duration, "s", "\"s\" is not a duration, such as 10s"},
	{units_parse_duration, "1.2.3s",
		"unknown unit \".3s\" in \"1.2.3s\"; a duration takes one of h, min, s, ms"},
	{units_parse_duration, "10",
		"\"10\" has no unit; a duration takes one of h, min, s, ms, as in 10s"},
	{units_parse_duration, "1.0005s", "\"1.0005s\" is finer than 1ms"},
	{units_parse_duration, "10m",
		"unknown unit \"m\" in \"10m\"; a duration takes one of h, min, s, ms"},
	{units_parse_duration, "1e3s",
		"unknown unit \"e3s\" in \"1e3s\"; a duration takes one of h, min, s, ms"},
	{units_parse_rate, "10 Mbit",
		"\"10 Mbit\" is not a rate: no space goes between number and unit, as in 20Mbit"},
	{units_parse_rate, "0.5bit", "\"0.5bit\" is finer than 1bit"},
	{units_parse_rate, "999999999999999Tbit", "\"999999999999999Tbit\" is too large"},
	{units_parse_rate, "9999999999999999bit",
		"\"9999999999999999bit\" is not a rate, such as 20Mbit"},
	{units_parse_size, "1.5B", "\"1.5B\" is finer than 1B"},
	{units_parse_size, "-1", "\"-1\" is not a size, such as 64KiB"},
	{units_parse_count, "1.0", "\"1.0\" is not a whole number, such as 10"},
	{units_parse_count, "5.", "\"5.\" is not a whole number, such as 10"},
	{units_parse_count, "--5", "\"--5\" is not a whole number, such as 10"},
	{units_parse_count, "5x", "\"5x\" is not a whole number, such as 10"},
};

static void test_refusals(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct error err = {0};
		int64_t value = 77;

		assert_int_equal(refusals[i].parse(refusals[i].text, &value, &err), -1);
		assert_string_equal(err.message, refusals[i].message);
		assert_int_equal(err.code, ERROR_USAGE);
		assert_int_equal(value, 77);
	}
}

static void test_percent(void **state)
{
	double percent = -1;

	(void)state;
	assert_int_equal(units_parse_percent("5%", &percent, NULL), 0);
	assert_true(percent == 5);
	assert_int_equal(units_parse_percent("0.5%", &percent, NULL), 0);
	assert_true(percent == .5);
	assert_int_equal(units_parse_percent("0", &percent, NULL), 0);
	assert_true(percent == 0);
	assert_int_equal(units_parse_percent("5", &percent, NULL), -1);
	assert_int_equal(units_parse_percent("5%%", &percent, NULL), -1);
	assert_int_equal(units_parse_percent("%", &percent, NULL), -1);
	assert_true(percent == 0);
}

/* Whatever is printed is read back as the same number. */
static void test_round_trip(void **state)
{
	static const int64_t values[] = {0, 1, 999, 1000, 1024, 1500, 60000, 65536, 90000, 3600000,
		20000000, 1048576, 1 << 30, 2500000000, 1000000000000};
	char text[UNITS_TEXT_MAX];
	int64_t value;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		units_format_duration(values[i], text, sizeof(text));
		assert_int_equal(units_parse_duration(text, &value, NULL), 0);
		assert_int_equal(value, values[i]);
		units_format_rate(values[i], text, sizeof(text));
		assert_int_equal(units_parse_rate(text, &value, NULL), 0);
		assert_int_equal(value, values[i]);
		units_format_size(values[i], text, sizeof(text));
		assert_int_equal(units_parse_size(text, &value, NULL), 0);
		assert_int_equal(value, values[i]);
	}
	assert_string_equal(units_format_duration(90000, text, sizeof(text)), "90s");
	assert_string_equal(units_format_duration(1500, text, sizeof(text)), "1500ms");
	assert_string_equal(units_format_rate(2500000000, text, sizeof(text)), "2500Mbit");
	assert_string_equal(units_format_size(65536, text, sizeof(text)), "64KiB");
	assert_string_equal(units_format_size(0, text, sizeof(text)), "0B");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
