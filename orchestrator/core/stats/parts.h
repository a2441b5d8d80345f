/* Sorting and moments, for the files of this folder only. */
#ifndef STATS_PARTS_H
#define STATS_PARTS_H

#include <stddef.h>

#include "stats.h"

double sample_mean(const double *values, size_t n);
/* With n - 1; NaN for n < 2. */
double sample_variance(const double *values, size_t n);
void sample_sort(double *values, size_t n);
/* A sorted copy; free() it. NULL when there is no memory. */
double *sample_sorted(const double *values, size_t n);
double sample_median(const double *sorted, size_t n);
/* How many of sorted are <= limit. */
size_t sample_count_to(const double *sorted, size_t n, double limit);

/* Largest rank k >= 1 with P(statistic <= k - 1) <= alpha, or 0; cumulative has `length` entries.
 */
size_t sample_rank_for(const double *cumulative, size_t length, double alpha);

/*
 * Cumulative null distributions, entry s = P(statistic <= s), of *ret_length entries: at least the
 * lower half, beyond which symmetry serves. free() them; NULL when there is no memory.
 */
double *signed_rank_cumulative(size_t n, size_t *ret_length);
double *rank_sum_cumulative(size_t nx, size_t ny, size_t *ret_length);

/* The n (n + 1) / 2 Walsh averages, sorted; free() them. */
double *sample_walsh(const double *values, size_t n, size_t *ret_count);

#endif
