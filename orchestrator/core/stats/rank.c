/*
 * Hodges-Lehmann intervals and their tests: Wilcoxon's signed ranks for pairs, Mann and Whitney's
 * rank sum for two samples. An interval's bound and the one-sided p count the same averages (or
 * differences), so "the bound is above the threshold" and "p <= alpha" always agree; a value on
 * the threshold counts against it.
 */
#include "parts.h"

#include <math.h>
#include <stdlib.h>

/* Above this many pairs of values the rank sum's distribution is taken as normal. */
#define RANK_SUM_EXACT_MAX 10000

static const struct stats_interval no_interval = {NAN, NAN};

static void accumulate(double *probability, size_t length)
{
	size_t i;

	for (i = 1; i < length; i++)
		probability[i] += probability[i - 1];
}

/*
 * P(W+ = s): each rank i is in the sum or not, with probability 1/2. In probabilities, not counts:
 * 2^-1000 still is a normal double, 2^1000 sums would not stay exact.
 */
double *signed_rank_cumulative(size_t n, size_t *ret_length)
{
	size_t length = n * (n + 1) / 4 + 1, i, s, reach = 0;
	double *p = calloc(length, sizeof(*p));

	if (!p)
		return NULL;
	p[0] = 1;
	for (i = 1; i <= n; i++) {
		reach = reach + i < length ? reach + i : length - 1;
		for (s = reach; s >= i; s--)
			p[s] = .5 * (p[s] + p[s - i]);
		for (s = 0; s < i && s < length; s++)
			p[s] *= .5;
	}
	accumulate(p, length);
	*ret_length = length;
	return p;
}

/*
 * P(U = u) for i values of x and j of y by the largest of all: it is an x with probability
 * i / (i + j), and then beats all j. Only sums of positive terms, so nothing cancels.
 */
static double *rank_sum_exact(size_t nx, size_t ny, size_t length)
{
	double *table = calloc((ny + 1) * length, sizeof(*table)), *result = NULL;
	size_t i, j, u;

	if (!table)
		return NULL;
	for (j = 0; j <= ny; j++)
		table[j * length] = 1;
	for (i = 1; i <= nx; i++) {
		for (j = 1; j <= ny; j++) {
			double share = (double)i / (double)(i + j);
			double *row = table + j * length;
			const double *shorter = table + (j - 1) * length;

			for (u = length; u-- > 0;) {
				double with_x = u >= j ? row[u - j] : 0;

				row[u] = share * with_x + (1 - share) * shorter[u];
			}
		}
	}
	result = malloc(length * sizeof(*result));
	if (result) {
		for (u = 0; u < length; u++)
			result[u] = table[ny * length + u];
		accumulate(result, length);
	}
	free(table);
	return result;
}

/* The normal approximation with continuity correction, within 1e-4 at 100 x 100. */
static double *rank_sum_normal(size_t nx, size_t ny, size_t length)
{
	double pairs = (double)nx * (double)ny;
	double sd = sqrt(pairs * (double)(nx + ny + 1) / 12);
	double *p = malloc(length * sizeof(*p));
	size_t u;

	for (u = 0; p && u < length; u++)
		p[u] = stats_normal_cdf(((double)u + .5 - pairs / 2) / sd);
	return p;
}

double *rank_sum_cumulative(size_t nx, size_t ny, size_t *ret_length)
{
	size_t length = nx * ny / 2 + 1;

	*ret_length = length;
	if (nx * ny > RANK_SUM_EXACT_MAX)
		return rank_sum_normal(nx, ny, length);
	return rank_sum_exact(nx, ny, length);
}

/* P(statistic <= count) of a distribution symmetric on 0 .. total. */
static double tail_to(const double *cumulative, size_t length, size_t count, size_t total)
{
	if (count >= total)
		return 1;
	if (count < length)
		return cumulative[count];
	return 1 - cumulative[total - count - 1];
}

static struct stats_interval interval_of(
	const double *sorted, size_t count, const double *cumulative, size_t length, double alpha)
{
	size_t k = sample_rank_for(cumulative, length, alpha);

	if (k < 1 || 2 * k > count + 1)
		return no_interval;
	return (struct stats_interval){sorted[k - 1], sorted[count - k]};
}

double *sample_walsh(const double *values, size_t n, size_t *ret_count)
{
	size_t count = n * (n + 1) / 2, i, j, at = 0;
	double *walsh = malloc((count ? count : 1) * sizeof(*walsh));

	if (!walsh)
		return NULL;
	for (i = 0; i < n; i++)
		for (j = i; j < n; j++)
			walsh[at++] = values[i] + (values[j] - values[i]) / 2;
	sample_sort(walsh, count);
	*ret_count = count;
	return walsh;
}

static double *pair_differences(
	const double *x, size_t nx, const double *y, size_t ny, size_t *ret_count)
{
	size_t count = nx * ny, i, j;
	double *differences = malloc((count ? count : 1) * sizeof(*differences));

	if (!differences)
		return NULL;
	for (i = 0; i < nx; i++)
		for (j = 0; j < ny; j++)
			differences[i * ny + j] = x[i] - y[j];
	sample_sort(differences, count);
	*ret_count = count;
	return differences;
}

double stats_hodges_lehmann(const double *values, size_t n)
{
	size_t count = 0;
	double *walsh, result;

	if (!n || n > STATS_RANK_MAX)
		return NAN;
	walsh = sample_walsh(values, n, &count);
	result = walsh ? sample_median(walsh, count) : NAN;
	free(walsh);
	return result;
}

double stats_hodges_lehmann_two(const double *x, size_t nx, const double *y, size_t ny)
{
	size_t count = 0;
	double *differences, result;

	if (!nx || !ny || nx > STATS_RANK_MAX || ny > STATS_RANK_MAX)
		return NAN;
	differences = pair_differences(x, nx, y, ny, &count);
	result = differences ? sample_median(differences, count) : NAN;
	free(differences);
	return result;
}

struct stats_interval stats_paired_rank(const double *differences, size_t n, double alpha)
{
	struct stats_interval result = no_interval;
	size_t count = 0, length = 0;
	double *walsh, *cumulative;

	if (!n || n > STATS_RANK_MAX)
		return no_interval;
	walsh = sample_walsh(differences, n, &count);
	cumulative = signed_rank_cumulative(n, &length);
	if (walsh && cumulative)
		result = interval_of(walsh, count, cumulative, length, alpha);
	free(walsh);
	free(cumulative);
	return result;
}

double stats_paired_rank_p(const double *differences, size_t n, double threshold)
{
	size_t count = 0, length = 0;
	double *walsh, *cumulative, p = NAN;

	if (!n || n > STATS_RANK_MAX)
		return NAN;
	walsh = sample_walsh(differences, n, &count);
	cumulative = signed_rank_cumulative(n, &length);
	if (walsh && cumulative)
		p = tail_to(cumulative, length, sample_count_to(walsh, count, threshold), count);
	free(walsh);
	free(cumulative);
	return p;
}

struct stats_interval stats_two_sample_rank(
	const double *x, size_t nx, const double *y, size_t ny, double alpha)
{
	struct stats_interval result = no_interval;
	size_t count = 0, length = 0;
	double *differences, *cumulative;

	if (!nx || !ny || nx > STATS_RANK_MAX || ny > STATS_RANK_MAX)
		return no_interval;
	differences = pair_differences(x, nx, y, ny, &count);
	cumulative = rank_sum_cumulative(nx, ny, &length);
	if (differences && cumulative)
		result = interval_of(differences, count, cumulative, length, alpha);
	free(differences);
	free(cumulative);
	return result;
}

double stats_two_sample_rank_p(
	const double *x, size_t nx, const double *y, size_t ny, double threshold)
{
	size_t count = 0, length = 0;
	double *differences, *cumulative, p = NAN;

	if (!nx || !ny || nx > STATS_RANK_MAX || ny > STATS_RANK_MAX)
		return NAN;
	differences = pair_differences(x, nx, y, ny, &count);
	cumulative = rank_sum_cumulative(nx, ny, &length);
	if (differences && cumulative)
		p = tail_to(
			cumulative, length, sample_count_to(differences, count, threshold), count);
	free(differences);
	free(cumulative);
	return p;
}
