/* The statistics against reference values: every printed digit counts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "published.h"
#include "stats.h"
#include "stats/parts.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* value rounds to the printed number: half a unit of its last place, and the rounding's own dust.
 */
static void check_digits(double value, double printed, int decimals, const char *file, int line)
{
	double unit = pow(10, -decimals);

	if (!(fabs(value - printed) <= unit * .5 + 1e-9))
		_fail(file, line);
}
#define assert_digits(value, printed, decimals)                                                    \
	do {                                                                                       \
		double value_ = (value);                                                           \
		if (!(fabs(value_ - (printed)) <= pow(10, -(decimals)) * .5 + 1e-9))               \
			print_error("%s = %.9g, not %.9g\n", #value, value_, (double)(printed));   \
		check_digits(value_, (printed), (decimals), __FILE__, __LINE__);                   \
	} while (0)

static void assert_interval(struct stats_interval i, double low, double high, int decimals)
{
	assert_digits(i.low, low, decimals);
	assert_digits(i.high, high, decimals);
}

static void logs(const double *values, size_t n, double *ret)
{
	size_t i;

	for (i = 0; i < n; i++)
		ret[i] = log(values[i]);
}

static struct stats_interval exp_interval(struct stats_interval i)
{
	return (struct stats_interval){exp(i.low), exp(i.high)};
}

/* Quantiles as printed in the tables of textbooks. */
static void test_quantiles(void **state)
{
	static const struct {
		double p, df, t;
	} known[] = {{.975, 1, 12.706}, {.975, 2, 4.303}, {.975, 9, 2.262}, {.95, 4, 2.132},
		{.995, 10, 3.169}, {.975, 30, 2.042}, {.9, 1, 3.078}, {.999, 5, 5.893},
		{.975, 120, 1.980}};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(known); i++) {
		assert_digits(stats_t_quantile(known[i].p, known[i].df), known[i].t, 3);
		assert_digits(stats_t_quantile(1 - known[i].p, known[i].df), -known[i].t, 3);
	}
	assert_digits(stats_normal_cdf(1.959963985), .975, 9);
	assert_digits(stats_t_cdf(0, 7), .5, 12);
	/* One degree of freedom is Cauchy's distribution, which has a closed form. */
	for (i = 1; i < 50; i++)
		assert_digits(stats_t_cdf((double)i / 3, 1), .5 + atan((double)i / 3) / M_PI, 8);
	/* Far tails keep their relative precision; df = 2: 1/2 - t / (2 sqrt(2 + t^2)). */
	assert_true(fabs(stats_t_tail(1e4, 2) / 4.99999992500e-9 - 1) < 1e-6);
	assert_true(isnan(stats_t_quantile(0, 5)));
	assert_true(isnan(stats_t_quantile(.5, 0)));
	assert_true(isnan(stats_t_cdf(NAN, 5)));
}

static void test_published_summary(void **state)
{
	struct stats_summary s;

	(void)state;
	stats_summarize(published_wired, 10, &s);
	assert_int_equal(s.n, 10);
	assert_digits(s.mean, 94.43, 4);
	assert_digits(s.sd, .0823, 4);
	assert_digits(s.cv * 100, .0872, 4);
	assert_digits(s.median, 94.45, 2);
	assert_digits(s.min, 94.3, 6);
	assert_digits(s.max, 94.5, 6);
	assert_interval(s.t95, 94.3711, 94.4889, 4);
	assert_digits(s.hl, 94.45, 2);
	assert_interval(s.hl95, 94.35, 94.50, 2);
	assert_interval(s.median95, 94.3, 94.5, 1);
	assert_true(s.drift);

	stats_summarize(published_wireless, 10, &s);
	assert_digits(s.mean, 20.43, 4);
	assert_digits(s.sd, 2.5820, 4);
	assert_digits(s.cv * 100, 12.6383, 4);
	assert_digits(s.median, 19.60, 2);
	assert_interval(s.t95, 18.5829, 22.2771, 4);
	assert_digits(s.hl, 19.90, 2);
	assert_interval(s.hl95, 18.65, 22.35, 2);
	assert_interval(s.median95, 18.4, 23.9, 1);
	assert_false(s.drift);
	assert_false(s.two_modes);

	stats_summarize(published_end, 10, &s);
	assert_digits(s.mean, 21.85, 4);
	assert_digits(s.sd, 2.5670, 4);
	assert_digits(s.cv * 100, 11.7482, 4);
	assert_digits(s.median, 22.45, 2);
	assert_interval(s.t95, 20.0137, 23.6863, 4);
	assert_digits(s.hl, 21.90, 2);
	assert_interval(s.hl95, 20.00, 23.90, 2);
	assert_interval(s.median95, 19.0, 25.1, 1);
	assert_true(s.drift);
}

static void test_published_logs(void **state)
{
	static const struct {
		const double *values;
		double mean, sd;
	} known[] = {{published_wired, 94.43, .00087}, {published_wireless, 20.2947, .11918},
		{published_end, 21.7121, .11924}};
	double ln[10];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(known); i++) {
		logs(known[i].values, 10, ln);
		assert_digits(stats_geometric_mean(known[i].values, 10), known[i].mean, 4);
		assert_digits(sqrt(sample_variance(ln, 10)), known[i].sd, 5);
	}
}

static void test_published_shape(void **state)
{
	double s, p;

	(void)state;
	stats_mann_kendall(published_wired, 10, &s, &p);
	assert_digits(s, 23, 6);
	assert_digits(p, .0307, 4);
	stats_mann_kendall(published_wireless, 10, &s, &p);
	assert_digits(s, -11, 6);
	assert_digits(p, .371, 3);
	stats_mann_kendall(published_end, 10, &s, &p);
	assert_digits(s, -33, 6);
	assert_digits(p, .0042, 4);
	assert_digits(stats_two_mode_share(published_wireless, 10), .1675, 4);
	assert_digits(stats_two_mode_share(published_end, 10), .2401, 4);
}

static void test_published_ratios(void **state)
{
	double a[10], b[10], e[10], d[10], difference, error;
	size_t i;

	(void)state;
	logs(published_wired, 10, a);
	logs(published_wireless, 10, b);
	logs(published_end, 10, e);
	for (i = 0; i < 10; i++)
		d[i] = e[i] - b[i];
	difference = sample_mean(e, 10) - sample_mean(b, 10);
	error = sqrt((sample_variance(e, 10) + sample_variance(b, 10)) / 10);
	assert_digits(exp(difference), 1.06984, 5);
	assert_digits(difference / error, 1.2663, 4);
	assert_digits(stats_welch_df(e, 10, b, 10), 18.000, 3);
	assert_digits(2 * stats_welch_p(e, 10, b, 10, 0), .2215, 4);
	assert_interval(exp_interval(stats_welch(e, 10, b, 10, .025)), .9565, 1.1966, 4);
	assert_digits(exp(stats_hodges_lehmann_two(e, 10, b, 10)), 1.07477, 5);
	assert_interval(
		exp_interval(stats_two_sample_rank(e, 10, b, 10, .025)), .95397, 1.22703, 5);
	assert_digits(exp(stats_hodges_lehmann(d, 10)), 1.08267, 5);
	assert_interval(exp_interval(stats_paired_rank(d, 10, .025)), .97047, 1.17020, 5);

	assert_digits(exp(sample_mean(a, 10) - sample_mean(b, 10)), 4.65294, 5);
	assert_digits(stats_welch_df(a, 10, b, 10), 9.001, 3);
	assert_interval(exp_interval(stats_welch(a, 10, b, 10, .025)), 4.2727, 5.0670, 4);
	/* The end-to-end test at a margin of 10 % and of 15 %. */
	assert_digits(stats_two_sample_rank_p(e, 10, b, 10, log(.9)), .004465, 6);
	assert_digits(1 - stats_two_sample_rank_p(e, 10, b, 10, log(.85)), .9996, 4);
}

static void test_rank_tables(void **state)
{
	static const size_t paired[][2] = {
		{6, 1}, {7, 3}, {8, 4}, {10, 9}, {12, 14}, {15, 26}, {20, 53}, {30, 138}};
	static const size_t early[][2] = {{8, 1}, {12, 9}, {16, 21}, {20, 40}, {30, 114}};
	static const size_t two[][2] = {
		{5, 3}, {6, 6}, {8, 14}, {10, 24}, {12, 38}, {15, 65}, {20, 128}};
	static const size_t median[][2] = {
		{6, 1}, {7, 1}, {8, 1}, {10, 2}, {12, 3}, {15, 4}, {20, 6}, {30, 10}, {5, 0}};
	size_t i, length;

	(void)state;
	for (i = 0; i < COUNT(paired); i++) {
		double *c = signed_rank_cumulative(paired[i][0], &length);

		assert_int_equal(sample_rank_for(c, length, .025), paired[i][1]);
		free(c);
	}
	for (i = 0; i < COUNT(early); i++) {
		double *c = signed_rank_cumulative(early[i][0], &length);

		assert_int_equal(sample_rank_for(c, length, .0065), early[i][1]);
		free(c);
	}
	for (i = 0; i < COUNT(two); i++) {
		double *c = rank_sum_cumulative(two[i][0], two[i][0], &length);

		assert_int_equal(sample_rank_for(c, length, .025), two[i][1]);
		free(c);
	}
	for (i = 0; i < COUNT(median); i++)
		assert_int_equal(stats_median_rank(median[i][0], .025), median[i][1]);
}

/* All 2^n sign patterns, and all ways to choose: what the recurrences must agree with. */
static void test_distributions_by_counting(void **state)
{
	double counted[37] = {0}, *c;
	size_t length, pattern, i;

	(void)state;
	for (pattern = 0; pattern < 256; pattern++) {
		size_t sum = 0;

		for (i = 0; i < 8; i++)
			sum += pattern >> i & 1 ? i + 1 : 0;
		counted[sum] += 1. / 256;
	}
	c = signed_rank_cumulative(8, &length);
	for (i = 0; i < length; i++) {
		assert_digits(c[i] - (i ? c[i - 1] : 0), counted[i], 12);
	}
	free(c);

	for (i = 0; i < COUNT(counted); i++)
		counted[i] = 0;
	for (pattern = 0; pattern < 256; pattern++) {
		size_t ones = 0, u = 0;

		for (i = 0; i < 8; i++) {
			if (pattern >> i & 1)
				u += i - ones++;
		}
		if (ones == 3)
			counted[u] += 1. / 56;
	}
	c = rank_sum_cumulative(3, 5, &length);
	for (i = 0; i < length; i++)
		assert_digits(c[i] - (i ? c[i - 1] : 0), counted[i], 12);
	free(c);
}

/* An interval's bound lies above a threshold exactly when the p of that threshold is small. */
static void test_p_agrees_with_interval(void **state)
{
	double d[10], b[10], e[10];
	int i;

	(void)state;
	logs(published_wireless, 10, b);
	logs(published_end, 10, e);
	for (i = 0; i < 10; i++)
		d[i] = e[i] - b[i];
	for (i = -300; i <= 300; i++) {
		double threshold = i / 1000. + 1e-7;

		assert_int_equal(stats_paired_rank(d, 10, .025).low > threshold,
			stats_paired_rank_p(d, 10, threshold) <= .025);
		assert_int_equal(stats_paired_t(d, 10, .025).low > threshold,
			stats_paired_t_p(d, 10, threshold) <= .025);
		assert_int_equal(stats_two_sample_rank(e, 10, b, 10, .025).low > threshold,
			stats_two_sample_rank_p(e, 10, b, 10, threshold) <= .025);
		assert_int_equal(stats_welch(e, 10, b, 10, .025).low > threshold,
			stats_welch_p(e, 10, b, 10, threshold) <= .025);
	}
}

static void test_small_and_flat(void **state)
{
	static const double flat[] = {5, 5, 5, 5, 5, 5};
	static const double one[] = {7};
	struct stats_summary s;

	(void)state;
	stats_summarize(one, 1, &s);
	assert_true(s.mean == 7 && s.median == 7 && s.hl == 7);
	assert_true(isnan(s.sd) && isnan(s.cv) && isnan(s.t95.low) && isnan(s.hl95.low));
	assert_true(isnan(s.median95.high) && !s.drift && !s.two_modes);
	stats_summarize(flat, 6, &s);
	assert_true(s.sd == 0 && s.t95.low == 5 && s.t95.high == 5 && s.hl95.low == 5);
	assert_false(s.drift || s.two_modes);
	stats_summarize(published_end, 5, &s);
	assert_true(isnan(s.hl95.low) && isnan(s.median95.low) && !isnan(s.t95.low));
	assert_true(isnan(stats_paired_rank(published_end, 5, .025).low));
	assert_true(stats_welch_p(flat, 6, flat, 6, 0) == 1);
	assert_true(stats_welch_p(flat, 6, flat, 6, -1) == 0);
	assert_true(isnan(stats_welch_p(one, 1, flat, 6, 0)));
	assert_true(isnan(stats_two_mode_share(published_end, 3)));
}

/* Two clear modes are flagged, one is not; a trend is seen, its shuffled values are not. */
static void test_flags(void **state)
{
	static const double modes[] = {10, 20.1, 10.2, 20, 9.9, 19.8, 10.1, 20.2, 10, 19.9};
	static const double trend[] = {1, 2, 3, 4, 5, 6, 7, 8};
	static const double mixed[] = {5, 2, 8, 1, 7, 4, 3, 6};
	struct stats_summary s;

	(void)state;
	stats_summarize(modes, 10, &s);
	assert_true(s.two_modes);
	assert_false(s.drift);
	stats_summarize(trend, 8, &s);
	assert_true(s.drift);
	assert_false(s.two_modes);
	stats_summarize(mixed, 8, &s);
	assert_false(s.drift);
	assert_digits(stats_two_mode_limit(8), .063, 9);
	assert_digits(stats_two_mode_limit(9), .0775, 9);
	assert_digits(stats_two_mode_limit(30), .207, 9);
	assert_digits(stats_two_mode_limit(500), .207, 9);
	assert_true(isnan(stats_two_mode_limit(7)));
}

/* At n = 1000 the exact interval is what the normal approximation says, within a rank's step. */
static void test_large(void **state)
{
	static double values[1000];
	struct stats_summary s;
	double expected, m = 1000. * 1001 / 2;
	size_t i, length;
	double *c;

	(void)state;
	for (i = 0; i < COUNT(values); i++)
		values[i] = (double)(i * 617 % 1000);
	stats_summarize(values, COUNT(values), &s);
	assert_digits(s.hl, 499.5, 9);
	assert_true(s.hl95.low > 480 && s.hl95.low < 485);
	c = signed_rank_cumulative(1000, &length);
	expected = m / 2 - 1.959964 * sqrt(m * 2001 / 12);
	assert_true(fabs((double)sample_rank_for(c, length, .025) - expected) < 10);
	free(c);
	c = rank_sum_cumulative(100, 100, &length);
	expected = stats_normal_cdf((4200.5 - 5000) / sqrt(1e4 * 201 / 12));
	assert_true(fabs(c[4200] - expected) < 1e-4);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_published_summary),
		cmocka_unit_test(test_published_logs),
		cmocka_unit_test(test_published_shape),
		cmocka_unit_test(test_published_ratios),
		cmocka_unit_test(test_rank_tables),
		cmocka_unit_test(test_distributions_by_counting),
		cmocka_unit_test(test_p_agrees_with_interval),
		cmocka_unit_test(test_small_and_flat),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
