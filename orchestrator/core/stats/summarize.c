#include "parts.h"

#include <math.h>
#include <stdlib.h>

#define DRIFT_P .05

size_t stats_median_rank(size_t n, double alpha)
{
	double probability = exp2(-(double)n), cumulative = probability;
	size_t r = 0;

	/* Binomial(n, 1/2): the largest r with P(at most r - 1 values below the median) <= alpha.
	 */
	if (n > STATS_RANK_MAX) {
		double rank = floor((double)n / 2 - 1.96 * sqrt((double)n) / 2);

		return (size_t)rank;
	}
	while (r < n && cumulative <= alpha) {
		probability *= (double)(n - r) / (double)(r + 1);
		cumulative += probability;
		r++;
	}
	return r;
}

static struct stats_interval median_interval(const double *sorted, size_t n)
{
	size_t r = stats_median_rank(n, .025);

	if (r < 1)
		return (struct stats_interval){NAN, NAN};
	return (struct stats_interval){sorted[r - 1], sorted[n - r]};
}

void stats_summarize(const double *values, size_t n, struct stats_summary *ret)
{
	double *sorted = sample_sorted(values, n);
	double s = 0, p = 1;

	*ret = (struct stats_summary){
		.n = n,
		.mean = sample_mean(values, n),
		.sd = sqrt(sample_variance(values, n)),
		.median = NAN,
		.min = NAN,
		.max = NAN,
		.t95 = stats_paired_t(values, n, .025),
		.hl = stats_hodges_lehmann(values, n),
		.hl95 = stats_paired_rank(values, n, .025),
		.median95 = {NAN, NAN},
	};
	ret->cv = ret->mean > 0 || ret->mean < 0 ? ret->sd / ret->mean : NAN;
	if (sorted && n) {
		ret->median = sample_median(sorted, n);
		ret->min = sorted[0];
		ret->max = sorted[n - 1];
		ret->median95 = median_interval(sorted, n);
	}
	free(sorted);
	stats_mann_kendall(values, n, &s, &p);
	ret->drift = p < DRIFT_P;
	ret->two_modes = stats_two_mode_share(values, n) < stats_two_mode_limit(n);
}

double stats_geometric_mean(const double *values, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += log(values[i]);
	return exp(sum / (double)n);
}

void stats_moments(const double *values, size_t n, struct stats_summary *ret)
{
	*ret = (struct stats_summary){
		.n = n,
		.mean = sample_mean(values, n),
		.sd = sqrt(sample_variance(values, n)),
	};
}
