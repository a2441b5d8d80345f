#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "view.h"

static void test_rates(void **state)
{
	static const struct {
		double bits_per_second;
		const char *cell, *text;
	} cases[] = {
		/* the design's own three */
		{29.7e6, "29.7", "29.7 Mbit/s"},
		{94.4e6, "94.4", "94.4 Mbit/s"},
		{941e6, "941", "941 Mbit/s"},
		/* rounding carries into the next decade */
		{99.96e6, "100", "100 Mbit/s"},
		{9.996e6, "10.0", "10.0 Mbit/s"},
		{999.6e6, "1000", "1000 Mbit/s"},
		/* far up, far down */
		{8986e6, "8986", "8986 Mbit/s"},
		{12.5e9, "12500", "12.5 Gbit/s"},
		{5.36e6, "5.36", "5.36 Mbit/s"},
		{12345, "0.0123", "12.3 kbit/s"},
		{(double)NAN, "-", "-"},
		{(double)INFINITY, "-", "-"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[48];

		assert_string_equal(view_format_rate(cases[i].bits_per_second, text, sizeof(text)),
			cases[i].text);
	}
}

static void test_numbers(void **state)
{
	char text[48];

	(void)state;
	assert_string_equal(view_format_number(0, text, sizeof(text)), "0.0");
	/* an interval of few noisy trials may reach below zero */
	assert_string_equal(view_format_number(-3.14159, text, sizeof(text)), "-3.14");
}

static void test_confidence_is_never_overstated(void **state)
{
	char text[48];

	(void)state;
	/* 1 - .004465, the rank-sum p of the published numbers */
	assert_string_equal(view_format_confidence(1 - .004465, text, sizeof(text)), "99.5 %");
	assert_string_equal(view_format_confidence(.99799, text, sizeof(text)), "99.7 %");
	assert_string_equal(view_format_confidence(.9999999, text, sizeof(text)), "99.9 %");
	assert_string_equal(view_format_confidence(1, text, sizeof(text)), "over 99.9 %");
	assert_string_equal(view_format_confidence(.95, text, sizeof(text)), "95.0 %");
	assert_string_equal(view_format_confidence((double)NAN, text, sizeof(text)), "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_confidence_is_never_overstated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
