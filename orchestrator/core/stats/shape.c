/* Notes on a sample's shape: a trend in time, two modes. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>

/* Sum of t (t - 1) (2 t + 5) over groups of t equal values: what ties take from S's variance. */
static double tie_term(const double *sorted, size_t n)
{
	double term = 0;
	size_t start = 0, i;

	for (i = 1; i <= n; i++) {
		double t;

		if (i < n && sorted[i] <= sorted[start])
			continue;
		t = (double)(i - start);
		term += t * (t - 1) * (2 * t + 5);
		start = i;
	}
	return term;
}

void stats_mann_kendall(const double *values, size_t n, double *ret_s, double *ret_p)
{
	double s = 0, p = 1, size = (double)n, variance;
	double *sorted = sample_sorted(values, n);
	size_t i, j;

	for (i = 0; i < n; i++)
		for (j = i + 1; j < n; j++)
			s += (values[j] > values[i]) - (values[j] < values[i]);
	if (sorted) {
		variance = (size * (size - 1) * (2 * size + 5) - tie_term(sorted, n)) / 18;
		/* S moves in steps of 2 around 0: the continuity correction is 1. */
		if (variance > 0 && fabs(s) > 1)
			p = 2 * stats_normal_cdf(-(fabs(s) - 1) / sqrt(variance));
	}
	free(sorted);
	*ret_s = s;
	*ret_p = p;
}

static double sum_of_squares(const double *values, size_t n)
{
	return n < 2 ? 0 : sample_variance(values, n) * (double)(n - 1);
}

double stats_two_mode_share(const double *values, size_t n)
{
	size_t least = (n + 4) / 5 > 2 ? (n + 4) / 5 : 2, split;
	double total = sum_of_squares(values, n), best = NAN;
	double *sorted;

	if (n < 2 * least || !(total > 0))
		return NAN;
	sorted = sample_sorted(values, n);
	for (split = least; sorted && split + least <= n; split++) {
		double within =
			sum_of_squares(sorted, split) + sum_of_squares(sorted + split, n - split);

		if (!(within / total >= best))
			best = within / total;
	}
	free(sorted);
	return best;
}

double stats_two_mode_limit(size_t n)
{
	static const struct {
		size_t n;
		double limit;
	} known[] = {{8, .063}, {10, .092}, {12, .114}, {15, .142}, {20, .172}, {30, .207}};
	const size_t count = sizeof(known) / sizeof(known[0]);
	size_t i;

	if (n < known[0].n)
		return NAN;
	for (i = 1; i < count; i++) {
		double share;

		if (n > known[i].n)
			continue;
		share = (double)(n - known[i - 1].n) / (double)(known[i].n - known[i - 1].n);
		return known[i - 1].limit + share * (known[i].limit - known[i - 1].limit);
	}
	return known[count - 1].limit;
}
