/* Below, separated, tied: the table of docs/verdicts.md, with its grades. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

enum relation { RELATION_OPEN, RELATION_SEPARATED, RELATION_TIED };

/* How the links and the path stand to X. */
struct outcome {
	struct verdict_comparison path; /* end to end against X's capacity */
	bool below, not_below, consistent;
	size_t separated, tied, open; /* other links by relation */
};

static const struct verdict_sample *whole_of(const struct verdict_study *study)
{
	return &study->matched[study_whole(study)];
}

static double p_inside(const struct verdict_study *study, const struct verdict_sample *a,
	const struct verdict_sample *b, double low, double high)
{
	return fmax(study_p_above(study, a, b, low), study_p_above(study, b, a, -high));
}

static enum relation relate(
	const struct verdict_study *study, size_t link, struct verdict_comparison *ret)
{
	double tie = log1p(study->topology->verdict.tie);

	*ret = study_compare(study, study_capacity(study, link), study_capacity(study, study->x));
	if (ret->low > tie)
		return RELATION_SEPARATED;
	return ret->low > -tie && ret->high < tie ? RELATION_TIED : RELATION_OPEN;
}

static double p_relation(const struct verdict_study *study, size_t link, enum relation relation)
{
	double tie = log1p(study->topology->verdict.tie);
	const struct verdict_sample *y = study_capacity(study, link);
	const struct verdict_sample *x = study_capacity(study, study->x);

	if (relation == RELATION_SEPARATED)
		return study_p_above(study, y, x, tie);
	return p_inside(study, y, x, -tie, tie);
}

static void weigh(const struct verdict_study *study, struct outcome *outcome)
{
	struct verdict_comparison other;
	size_t i;

	*outcome = (struct outcome){
		.path = study_compare(study, whole_of(study), study_capacity(study, study->x))};
	outcome->below = outcome->path.high < log1p(-study->margin);
	outcome->not_below = outcome->path.low > log1p(-study->margin);
	outcome->consistent = outcome->not_below && outcome->path.high < log1p(study->margin);
	for (i = 0; i < study->links; i++) {
		enum relation relation;

		if (i == study->x || !study->measured[i])
			continue;
		relation = relate(study, i, &other);
		outcome->separated += relation == RELATION_SEPARATED;
		outcome->tied += relation == RELATION_TIED;
		outcome->open += relation == RELATION_OPEN;
	}
}

static void explain_slowest(struct verdict_study *study)
{
	size_t next = study->x, i;
	double best = NAN;
	char slow[32], fast[32];

	for (i = 0; i < study->links; i++) {
		double rate = study_compare(
			study, study_capacity(study, i), study_capacity(study, study->x))
				      .mean;

		if (i == study->x || !study->measured[i] || rate >= best)
			continue;
		best = rate;
		next = i;
	}
	verdict_rate(study_rate(study, study->x), slow, sizeof(slow));
	if (next == study->x) {
		verdict_reason(study->verdict, "%s carries %s, the only link that was measured",
			study_link_name(study, study->x), slow);
		return;
	}
	verdict_reason(study->verdict,
		"%s carries %s, the slowest of %zu links; next is %s with %s (%.2f times as much)",
		study_link_name(study, study->x), slow, study->measured_count,
		study_link_name(study, next),
		verdict_rate(study_rate(study, next), fast, sizeof(fast)), exp(best));
}

static const char *path_word(const struct outcome *outcome)
{
	if (outcome->below)
		return "the path carries less than its slowest link";
	if (outcome->consistent)
		return "equal within the margin";
	if (outcome->not_below)
		return "the path is not slower than the link";
	return "whether the path is slower than the link stays open";
}

static void explain_path(struct verdict_study *study, const struct outcome *outcome)
{
	char rate[32], shift[48], range[48];

	/* Against itself there is nothing to say: the reason about the ended test said it. */
	if (study->limited[study->x])
		return;
	verdict_reason(study->verdict,
		"end to end %s is %s %s alone (%.3g %% interval %s, margin %.0f %%): %s",
		verdict_rate(study_rate(study, study_whole(study)), rate, sizeof(rate)),
		verdict_shift(outcome->path.mean, shift, sizeof(shift)),
		study_link_name(study, study->x), study_level_percent(study),
		verdict_range(&outcome->path, range, sizeof(range)), 100 * study->margin,
		path_word(outcome));
}

static void explain_unmeasured(struct verdict_study *study)
{
	size_t i;

	for (i = 0; i < study->links; i++)
		if (!study->measured[i])
			verdict_reason(study->verdict, "%s was not measured by itself",
				study_link_name(study, i));
}

/* Do two links share a name, or a radio of the host between them? */
static bool share_medium(const struct verdict_study *study, size_t a, size_t b)
{
	const struct topology_link *la = &study->topology->links[study->path->links[a]];
	const struct topology_link *lb = &study->topology->links[study->path->links[b]];
	const struct topology_end *in, *out;

	if (la->shares && lb->shares && !strcmp(la->shares, lb->shares))
		return true;
	if (la->medium != TOPOLOGY_WIFI || lb->medium != TOPOLOGY_WIFI ||
		(a > b ? a - b : b - a) != 1)
		return false;
	in = study_far_end(study, a < b ? a : b);
	out = study_near_end(study, a < b ? b : a);
	return in->device && out->device && !strcmp(in->device, out->device);
}

/*
 * What links in one medium carry together: 1 / sum(1 / Xi), by round; unpaired, by position, which
 * keeps the mean and the spread. False when X shares with nobody.
 */
static bool shared_capacity(const struct verdict_study *study, struct verdict_sample *ret)
{
	const struct verdict_sample *whole = whole_of(study);
	size_t sharing = 0, i, j;

	ret->n = whole->n;
	ret->log = calloc(whole->n, sizeof(double));
	for (j = 0; ret->log && j < study->links; j++) {
		const struct verdict_sample *sample = &study->matched[j];

		if (!study->measured[j] || (j != study->x && !share_medium(study, j, study->x)))
			continue;
		sharing++;
		if (sample->n < ret->n)
			ret->n = sample->n;
		for (i = 0; i < ret->n; i++)
			ret->log[i] += exp(-sample->log[i]);
	}
	for (i = 0; ret->log && i < ret->n; i++)
		ret->log[i] = -log(ret->log[i]);
	return ret->log && sharing > 1;
}

static void settle_shared(struct verdict_study *study, const struct verdict_sample *shared)
{
	struct verdict_comparison r = study_compare(study, whole_of(study), shared);
	double low = log(1 - 2 * study->margin), high = log(1 + 2 * study->margin);
	char range[48];
	size_t i;

	verdict_range(&r, range, sizeof(range));
	if (r.low > low && r.high < high) {
		study_need(study, p_inside(study, whole_of(study), shared, low, high));
		study_grade(study, VERDICT_SHARED_MEDIUM, VERDICT_STATISTICAL);
		for (i = 0; i < study->links; i++)
			if (i == study->x || share_medium(study, i, study->x))
				verdict_add_segment(study->verdict, study_link_name(study, i));
		verdict_reason(study->verdict,
			"the links share a medium, and the path carries what they carry together "
			"in "
			"turns (%.3g %% interval of the difference %s)",
			study_level_percent(study), range);
		return;
	}
	verdict_reason(study->verdict,
		"the links share a medium; whether that or the host between them holds the path "
		"back "
		"stays open (%.3g %% interval against sharing %s)",
		study_level_percent(study), range);
	study_open(study, &r, fmin(fabs(r.mean - low), fabs(high - r.mean)));
	study_inconclusive(study);
}

/* The link with the lowest capacity among links 0 .. last. */
static size_t slowest_to(const struct verdict_study *study, size_t last)
{
	size_t slowest = study->x, i;
	double lowest = NAN;

	for (i = 0; i <= last; i++) {
		double mean;

		if (!study->measured[i])
			continue;
		mean = study_compare(
			study, study_capacity(study, i), study_capacity(study, study->x))
			       .mean;
		if (mean >= lowest)
			continue;
		lowest = mean;
		slowest = i;
	}
	return slowest;
}

/* A prefix's values matched with a link's: their common rounds. False below the least number. */
static bool match_prefix(const struct verdict_study *study, const struct verdict_sample *prefix,
	const struct verdict_sample *link, struct verdict_sample *a, struct verdict_sample *b)
{
	size_t i, j = 0;

	*a = (struct verdict_sample){.log = calloc(prefix->n + 1, sizeof(double))};
	*b = (struct verdict_sample){.log = calloc(prefix->n + link->n + 1, sizeof(double))};
	if (!a->log || !b->log)
		return false;
	if (!study->verdict->paired) {
		memcpy(a->log, prefix->log, prefix->n * sizeof(double));
		memcpy(b->log, link->log, link->n * sizeof(double));
		a->n = prefix->n;
		b->n = link->n;
	}
	for (i = 0; study->verdict->paired && i < prefix->n; i++) {
		while (j < link->n && link->round[j] < prefix->round[i])
			j++;
		if (j < link->n && link->round[j] == prefix->round[i]) {
			a->log[a->n++] = prefix->log[i];
			b->log[b->n++] = link->log[j];
		}
	}
	return a->n >= VERDICT_ROUNDS_MIN && b->n >= VERDICT_ROUNDS_MIN;
}

enum fall { FALL_UNKNOWN, FALL_NO, FALL_YES };

/* Is the part of the path over links 0 .. last below the slowest of them? */
static enum fall prefix_falls(struct verdict_study *study, size_t last)
{
	size_t link = slowest_to(study, last);
	struct verdict_sample a = {0}, b = {0};
	enum fall result = FALL_UNKNOWN;

	if (match_prefix(study, &study->all[study->links + last], &study->all[link], &a, &b)) {
		double bound = log1p(-study_margin(study, link));
		struct verdict_comparison r = study_compare(study, &a, &b);
		char shift[48];

		if (r.high < bound)
			result = FALL_YES;
		else if (r.low > bound)
			result = FALL_NO;
		if (result != FALL_UNKNOWN)
			verdict_reason(study->verdict, "from %s to %s the path is %s %s alone",
				study_host_name(study, 0), study_host_name(study, last + 1),
				verdict_shift(r.mean, shift, sizeof(shift)),
				study_link_name(study, link));
	}
	free(a.log);
	free(b.log);
	return result;
}

/* Hosts first .. last of the path may be the one: after the last good prefix, up to the first bad.
 */
static void find_forwarders(struct verdict_study *study, size_t *ret_first, size_t *ret_last)
{
	size_t last;

	*ret_first = 1;
	*ret_last = study->links - 1;
	for (last = 1; last + 1 < study->links; last++) {
		enum fall fall = prefix_falls(study, last);

		if (fall == FALL_NO)
			*ret_first = last + 1;
		if (fall == FALL_YES) {
			*ret_last = last;
			return;
		}
	}
}

static void settle_forwarding(struct verdict_study *study)
{
	enum verdict_grade grade = VERDICT_SUSPECTED;
	size_t first, last, i;

	find_forwarders(study, &first, &last);
	for (i = first; i <= last; i++) {
		verdict_add_host(study->verdict, study_host_name(study, i));
		if (evidence_forwarding(study, i))
			grade = VERDICT_CONFIRMED;
	}
	if (grade == VERDICT_SUSPECTED)
		verdict_reason(study->verdict,
			"no counter of %s shows it at work: no full core, no drops that grew",
			first == last ? study_host_name(study, first) : "the hosts between");
	if (first != last)
		verdict_reason(
			study->verdict, "which of %zu hosts it is stays open", last - first + 1);
	study_grade(study, VERDICT_FORWARDING, grade);
}

static void settle_below(struct verdict_study *study)
{
	struct verdict_sample shared = {0};

	study_need(study, study_p_above(study, study_capacity(study, study->x), whole_of(study),
				  -log1p(-study->margin)));
	if (shared_capacity(study, &shared)) {
		settle_shared(study, &shared);
	} else if (study->measured_count < study->links) {
		verdict_reason(study->verdict,
			"a link that was not measured, or a host that forwards, holds it back");
		study_inconclusive(study);
	} else if (evidence_loss_rtt(study)) {
		study_inconclusive(study);
	} else {
		settle_forwarding(study);
	}
	free(shared.log);
}

static void need_relations(struct verdict_study *study)
{
	struct verdict_comparison unused;
	size_t i;

	for (i = 0; i < study->links; i++)
		if (i != study->x && study->measured[i])
			study_need(study, p_relation(study, i, relate(study, i, &unused)));
}

static void need_not_below(struct verdict_study *study)
{
	study_need(study, study_p_above(study, whole_of(study), study_capacity(study, study->x),
				  log1p(-study->margin)));
}

static void settle_link(struct verdict_study *study, const struct outcome *outcome)
{
	struct verdict *verdict = study->verdict;
	enum verdict_grade grade = VERDICT_SUSPECTED;

	verdict_add_segment(verdict, study_link_name(study, study->x));
	need_relations(study);
	verdict->qualifier = outcome->consistent ? VERDICT_AGREES : VERDICT_OPEN;
	if (study->limited[study->x]) {
		verdict->qualifier = VERDICT_ENDPOINT_LIMITED;
		study_blame_enders(study, study->x);
	}
	if (outcome->not_below) {
		need_not_below(study);
		grade = evidence_link(study, study->x) ? VERDICT_CONFIRMED : VERDICT_STATISTICAL;
	} else {
		verdict_reason(verdict,
			"an extra loss of up to %.0f %% in forwarding is not excluded",
			-100 * expm1(outcome->path.low));
		study_open(study, &outcome->path, fabs(outcome->path.mean - log1p(-study->margin)));
		verdict->rounds_needed = study->needed;
	}
	study_grade(study, VERDICT_LINK, grade);
}

static void settle_tie(struct verdict_study *study)
{
	struct verdict_comparison r;
	char range[48];
	size_t i;

	need_relations(study);
	need_not_below(study);
	for (i = 0; i < study->links; i++) {
		if (!study->measured[i] || (i != study->x && relate(study, i, &r) != RELATION_TIED))
			continue;
		verdict_add_segment(study->verdict, study_link_name(study, i));
		if (study->limited[i]) {
			study->verdict->qualifier = VERDICT_ENDPOINT_LIMITED;
			study_blame_enders(study, i);
		}
		if (i != study->x)
			verdict_reason(study->verdict,
				"%s and %s are equal within the margin of %.0f %% (%.3g %% "
				"interval %s)",
				study_link_name(study, i), study_link_name(study, study->x),
				100 * study->topology->verdict.tie, study_level_percent(study),
				verdict_range(&r, range, sizeof(range)));
	}
	study_grade(study, VERDICT_TIE, VERDICT_STATISTICAL);
}

static void settle_open(struct verdict_study *study, const struct outcome *outcome)
{
	double tie = log1p(study->topology->verdict.tie);
	struct verdict_comparison r;
	char shift[48], range[48];
	size_t i;

	for (i = 0; i < study->links; i++) {
		if (i == study->x || !study->measured[i] || relate(study, i, &r) != RELATION_OPEN)
			continue;
		verdict_reason(study->verdict,
			"%s is %s %s (%.3g %% interval %s): neither told apart nor equal at a "
			"margin of %.0f %%",
			study_link_name(study, i), verdict_shift(r.mean, shift, sizeof(shift)),
			study_link_name(study, study->x), study_level_percent(study),
			verdict_range(&r, range, sizeof(range)),
			100 * study->topology->verdict.tie);
		study_open(study, &r, fabs(fabs(r.mean) - tie));
	}
	if (!outcome->not_below)
		study_open(study, &outcome->path, fabs(outcome->path.mean - log1p(-study->margin)));
	study_inconclusive(study);
}

bool step_outcome(struct verdict_study *study)
{
	struct outcome outcome;

	weigh(study, &outcome);
	explain_slowest(study);
	explain_path(study, &outcome);
	explain_unmeasured(study);
	if (outcome.below)
		settle_below(study);
	else if (!outcome.open && !outcome.tied)
		settle_link(study, &outcome);
	else if (!outcome.open && outcome.not_below)
		settle_tie(study);
	else
		settle_open(study, &outcome);
	return true;
}
