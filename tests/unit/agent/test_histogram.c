/* Percentiles from buckets against those of the sorted values themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "histogram.h"

#define VALUES 20000

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Knuth's 64-bit linear congruential generator (MMIX): the same values on every machine. */
static uint64_t next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static int64_t small(uint64_t *state)
{
	return (int64_t)(next(state) % 100);
}

/* From microseconds to seconds, as many in each power of two. */
static int64_t spread(uint64_t *state)
{
	uint64_t bits = next(state) % 24;

	return (int64_t)((UINT64_C(1) << bits) + next(state) % (UINT64_C(1) << bits));
}

static int64_t two_levels(uint64_t *state)
{
	return next(state) % 10 ? 30 + (int64_t)(next(state) % 5) : 62000;
}

static int64_t constant(uint64_t *state)
{
	(void)state;
	return 4999999;
}

static void check(int64_t (*make)(uint64_t *state), size_t count)
{
	static const unsigned int permilles[] = {1, 100, 500, 900, 990, 999, 1000};
	struct histogram *histogram = calloc(1, sizeof(*histogram));
	int64_t *values = calloc(count, sizeof(*values));
	uint64_t state = 1;

	assert_non_null(histogram);
	assert_non_null(values);
	for (size_t i = 0; i < count; i++) {
		values[i] = make(&state);
		histogram_add(histogram, values[i]);
	}
	qsort(values, count, sizeof(*values), compare);
	for (size_t i = 0; i < sizeof(permilles) / sizeof(permilles[0]); i++) {
		size_t rank = (count * permilles[i] + 999) / 1000;
		int64_t exact = values[rank - 1];
		int64_t found = histogram_percentile(histogram, permilles[i]);

		/* One percent, and nothing at all where the buckets are single values. */
		assert_true(llabs(found - exact) * 100 <= exact);
		if (exact < 64)
			assert_int_equal(found, exact);
	}
	assert_int_equal(histogram->max, values[count - 1]);
	assert_int_equal(histogram->total, count);
	free(values);
	free(histogram);
}

static void is_within_a_percent(void **state)
{
	int64_t (*const makers[])(uint64_t * state) = {small, spread, two_levels, constant};

	(void)state;
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		check(makers[i], VALUES);
		check(makers[i], 7);
		check(makers[i], 1);
	}
}

static void survives_extremes(void **state)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));

	(void)state;
	assert_non_null(histogram);
	assert_int_equal(histogram_percentile(histogram, 500), 0);
	histogram_add(histogram, -5);
	assert_int_equal(histogram_percentile(histogram, 500), 0);
	histogram_add(histogram, INT64_MAX);
	histogram_add(histogram, INT64_MAX);
	assert_true(histogram_percentile(histogram, 900) > INT64_C(1000000000000));
	histogram_clear(histogram);
	assert_int_equal(histogram->total, 0);
	free(histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_within_a_percent),
		cmocka_unit_test(survives_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
