/* Numbered datagrams and their spacing, as the receiver tallies them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "udp_tally.h"

static struct udp_tally tally;

static void counts_by_number(void **state)
{
	(void)state;
	udp_tally_init(&tally);
	assert_true(udp_tally_add(&tally, 1, 0, 0)); /* 0 is lost */
	assert_true(udp_tally_add(&tally, 3, 0, 0));
	assert_true(udp_tally_add(&tally, 2, 0, 0));
	assert_false(udp_tally_add(&tally, 2, 0, 0));
	assert_false(udp_tally_add(&tally, UINT64_MAX / 2, 0, 0));
	assert_int_equal(udp_tally_lost(&tally, 6), 3); /* 0, 4, 5 */
	assert_int_equal(tally.duplicates, 1);
	assert_int_equal(tally.reordered, 1);
	udp_tally_begin_window(&tally);
	assert_true(udp_tally_add(&tally, 0, 0, 0)); /* a straggler of before */
	assert_true(udp_tally_add(&tally, 5, 0, 0));
	assert_int_equal(tally.window_packets, 1);
	assert_int_equal(tally.reordered, 0);
	assert_int_equal(udp_tally_lost(&tally, 6), 1);
	/* A word that says less than what came. */
	assert_int_equal(udp_tally_lost(&tally, 2), 0);
}

static void forgets_what_is_old(void **state)
{
	(void)state;
	udp_tally_init(&tally);
	for (uint64_t i = 0; i < 3 * UDP_TALLY_MEMORY; i += 2)
		assert_true(udp_tally_add(&tally, i, 0, 0));
	/* The ring holds the others as unseen, however often it went round. */
	assert_true(udp_tally_add(&tally, tally.next - 2, 0, 0));
	assert_false(udp_tally_add(&tally, tally.next - 3, 0, 0));
	assert_false(udp_tally_add(&tally, 1, 0, 0));
}

/* RFC 3550, appendix A.8, by its own recurrence on a known sequence of spacings. */
static void smooths_as_rfc_3550(void **state)
{
	static const int64_t delays[] = {0, 160, 0, 320, 320, 16, 1600, 0};
	int64_t sent = 1000000, jitter = 0;

	(void)state;
	udp_tally_init(&tally);
	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++, sent += 500) {
		if (i > 0) {
			int64_t d = llabs(delays[i] - delays[i - 1]);

			jitter += d - ((jitter + 8) >> 4);
		}
		/* Another clock, and before the sender's: only differences count. */
		udp_tally_add(&tally, i, sent, sent - 900000 + delays[i]);
	}
	assert_int_equal(udp_tally_jitter(&tally), jitter >> 4);
	assert_int_equal(tally.spread.total, 7);
	assert_int_equal(tally.spread.max, 1600);
	assert_int_equal(histogram_percentile(&tally.spread, 1000), 1600);
}

/* Nearest rank of 1..n times a step, within 1/64. */
static void bounds_its_percentiles(void **state)
{
	static const unsigned int ranks[] = {1, 500, 900, 990, 999, 1000};
	static struct histogram histogram;

	(void)state;
	for (int64_t step = 1; step < INT64_C(1000000000); step *= 37) {
		histogram_clear(&histogram);
		for (int64_t i = 1; i <= 1000; i++)
			histogram_add(&histogram, i * step);
		for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
			int64_t right = (int64_t)ranks[i] * step;
			int64_t read = histogram_percentile(&histogram, ranks[i]);

			assert_true(llabs(read - right) <= right / 64 + 1);
		}
	}
	histogram_clear(&histogram);
	assert_int_equal(histogram_percentile(&histogram, 500), 0);
	histogram_add(&histogram, -5);
	histogram_add(&histogram, INT64_MAX);
	assert_int_equal(histogram_percentile(&histogram, 500), 0);
	assert_true(histogram_percentile(&histogram, 1000) <= histogram.max);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_by_number),
		cmocka_unit_test(forgets_what_is_old),
		cmocka_unit_test(smooths_as_rfc_3550),
		cmocka_unit_test(bounds_its_percentiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
