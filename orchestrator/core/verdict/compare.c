/*
 * Comparing two segments: paired by round or not, by Student's t below 8 values and by ranks from
 * there. The interval and its p come from the same test.
 */
#include <math.h>
#include <stdlib.h>

#include "parts.h"

#define RANKS_FROM 8

/*
 * Ranks need enough values to reach the level at all: 1/2^n of paired signs, 1/C(2n, n) of two
 * samples. With many links and few rounds they cannot; t then serves on.
 */
static bool use_ranks(const struct verdict_study *study, size_t na, size_t nb)
{
	size_t n = na < nb ? na : nb;
	double a = (double)na, b = (double)nb, least;

	if (n < RANKS_FROM || na > STATS_RANK_MAX || nb > STATS_RANK_MAX)
		return false;
	if (study->verdict->paired)
		least = exp2(-(double)n);
	else
		least = exp(lgamma(a + 1) + lgamma(b + 1) - lgamma(a + b + 1));
	return least <= study->alpha;
}

/* Differences by round; free() them. */
static double *differences(const struct verdict_sample *a, const struct verdict_sample *b)
{
	double *result = calloc(a->n ? a->n : 1, sizeof(*result));
	size_t i;

	for (i = 0; result && i < a->n; i++)
		result[i] = a->log[i] - b->log[i];
	return result;
}

static struct verdict_comparison compare_paired(const struct verdict_study *study,
	const struct verdict_sample *a, const struct verdict_sample *b)
{
	double *d = differences(a, b);
	struct verdict_comparison result = {NAN, NAN, NAN, NAN, NAN};
	struct stats_interval interval;
	struct stats_summary moments;

	if (!d)
		return result;
	interval = use_ranks(study, a->n, a->n) ? stats_paired_rank(d, a->n, study->alpha)
						: stats_paired_t(d, a->n, study->alpha);
	stats_moments(d, a->n, &moments);
	result = (struct verdict_comparison){interval.low, interval.high, moments.mean,
		moments.sd * moments.sd, (double)a->n - 1};
	free(d);
	return result;
}

static struct verdict_comparison compare_unpaired(const struct verdict_study *study,
	const struct verdict_sample *a, const struct verdict_sample *b)
{
	struct stats_summary ma, mb;
	struct stats_interval interval;

	interval = use_ranks(study, a->n, b->n)
			   ? stats_two_sample_rank(a->log, a->n, b->log, b->n, study->alpha)
			   : stats_welch(a->log, a->n, b->log, b->n, study->alpha);
	stats_moments(a->log, a->n, &ma);
	stats_moments(b->log, b->n, &mb);
	return (struct verdict_comparison){interval.low, interval.high, ma.mean - mb.mean,
		ma.sd * ma.sd + mb.sd * mb.sd, stats_welch_df(a->log, a->n, b->log, b->n)};
}

struct verdict_comparison study_compare(const struct verdict_study *study,
	const struct verdict_sample *a, const struct verdict_sample *b)
{
	/* A capacity taken as end to end's, against end to end: the same numbers. */
	if (a == b)
		return (struct verdict_comparison){0, 0, 0, 0, (double)a->n - 1};
	return study->verdict->paired ? compare_paired(study, a, b) : compare_unpaired(study, a, b);
}

double study_p_above(const struct verdict_study *study, const struct verdict_sample *a,
	const struct verdict_sample *b, double threshold)
{
	bool ranks = use_ranks(study, a->n, b->n);
	double *d, p;

	if (a == b)
		return threshold < 0 ? 0 : 1;
	if (!study->verdict->paired)
		return ranks ? stats_two_sample_rank_p(a->log, a->n, b->log, b->n, threshold)
			     : stats_welch_p(a->log, a->n, b->log, b->n, threshold);
	d = differences(a, b);
	if (!d)
		return NAN;
	p = ranks ? stats_paired_rank_p(d, a->n, threshold) : stats_paired_t_p(d, a->n, threshold);
	free(d);
	return p;
}

void study_need(struct verdict_study *study, double p)
{
	if (!(p <= study->p))
		study->p = p;
}

/* N = ceil(v (t(1 - alpha) + t(.8))^2 / d^2): 80 % power at the distance seen. */
void study_open(
	struct verdict_study *study, const struct verdict_comparison *comparison, double distance)
{
	double t = stats_t_quantile(1 - study->alpha, comparison->df) +
		   stats_t_quantile(.8, comparison->df);
	double n = ceil(comparison->variance * t * t / (distance * distance));

	if (study->needed < 0)
		return;
	if (!(n <= VERDICT_ROUNDS_MAX)) {
		study->needed = -1;
		return;
	}
	/* These rounds did not settle it, whatever the formula says. */
	if (n <= (double)study->rounds)
		n = (double)study->rounds + 1;
	if (n > study->needed)
		study->needed = (int)n;
}

double study_level_percent(const struct verdict_study *study)
{
	return 100 * (1 - 2 * study->alpha);
}
