/*
 * Statistics on small samples (docs/verdicts.md, "Numbers"). Pure functions on arrays; n up to 1000
 * unless said otherwise. Exact distributions are computed, never taken from a table. No I/O, no
 * state.
 */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Above this n rank estimates and intervals are NaN: they need n^2 / 2 numbers. */
#define STATS_RANK_MAX 1000

struct stats_interval {
	double low, high; /* NaN when it does not exist at this n */
};

struct stats_summary {
	size_t n;
	double mean, sd,
		cv; /* sd with n-1; cv = sd / mean (a share, not percent); NaN when undefined */
	double median, min, max;
	struct stats_interval t95;      /* Student's interval of the mean */
	double hl;                      /* Hodges-Lehmann: median of the Walsh averages */
	struct stats_interval hl95;     /* exact signed-rank interval, none below n = 6 */
	struct stats_interval median95; /* order statistics, none below n = 6 */
	bool drift;                     /* Mann-Kendall p < .05 */
	bool two_modes;                 /* W below its limit, n >= 8 */
};

/* values in the order they were measured; n >= 1. */
void stats_summarize(const double *values, size_t n, struct stats_summary *ret);

/* Only n, mean and sd of it. */
void stats_moments(const double *values, size_t n, struct stats_summary *ret);

/* Distributions. */
double stats_normal_cdf(double z);
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df); /* df may be fractional; p in (0, 1) */

double stats_t_tail(double t, double df); /* P(T > t), exact far out in the tail */

/* Median of the Walsh averages; median of all x[i] - y[j]. NaN for n = 0 and above
 * STATS_RANK_MAX. */
double stats_hodges_lehmann(const double *values, size_t n);
double stats_hodges_lehmann_two(const double *x, size_t nx, const double *y, size_t ny);

/* exp of the mean log; the values must be above 0. */
double stats_geometric_mean(const double *values, size_t n);

/* The median's interval is sorted values r and n + 1 - r (from 1) at one-sided level alpha; 0 =
 * none. */
size_t stats_median_rank(size_t n, double alpha);

/* Mann-Kendall S and its two-sided p: normal, variance corrected for ties, continuity 1. */
void stats_mann_kendall(const double *values, size_t n, double *ret_s, double *ret_p);

/* W: least within-group share of the sum of squares over 2-way splits of the sorted sample. */
double stats_two_mode_share(const double *values, size_t n);
double stats_two_mode_limit(size_t n); /* flag below this; interpolated between the table's n */

/*
 * Intervals of the mean/shift of a difference at one-sided level alpha per bound. All use logs
 * given by the caller. The rank ones set NaN bounds when alpha cannot be reached at this n.
 */
struct stats_interval stats_paired_t(const double *differences, size_t n, double alpha);
struct stats_interval stats_paired_rank(const double *differences, size_t n, double alpha);
struct stats_interval stats_welch(
	const double *x, size_t nx, const double *y, size_t ny, double alpha);
struct stats_interval stats_two_sample_rank(
	const double *x, size_t nx, const double *y, size_t ny, double alpha);

/* One-sided p of "the shift is at most threshold" (small p: the shift is above it). */
double stats_paired_t_p(const double *differences, size_t n, double threshold);
double stats_paired_rank_p(const double *differences, size_t n, double threshold);
double stats_welch_df(const double *x, size_t nx, const double *y, size_t ny);
double stats_welch_p(const double *x, size_t nx, const double *y, size_t ny, double threshold);
double stats_two_sample_rank_p(
	const double *x, size_t nx, const double *y, size_t ny, double threshold);

#endif
