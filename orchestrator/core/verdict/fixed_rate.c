/*
 * A UDP test at a fixed rate gets no capacity verdict: it is carried, or there is loss, with the
 * first segment that loses (STATISTICS section 2). A segment loses when more than half of its
 * trials lost more than the limit: the median trial, which one bad moment does not move. The
 * confidence is the sign test's.
 */
#include <math.h>
#include <string.h>

#include "parts.h"

#define SENT_LEAST  .95 /* of the rate: with less the sender is what is measured */
#define DROPS_LEAST 1.  /* a trial */

struct fixed {
	const struct run *run;
	const struct topology_path *path;
	const struct topology_test *test;
	const struct run_trial *const *trials;
	size_t trial_count;
	struct verdict *verdict;
};

/* What the trials of one segment say. */
struct losses {
	size_t trials, valid;
	size_t over;        /* lost more than the limit */
	size_t over_path;   /* ... on the way: without what the receiver's socket dropped */
	size_t behind;      /* the sender kept below the rate */
	double loss, sent;  /* means: percent, bit/s */
	double lost, drops; /* datagrams, summed */
};

static size_t whole(const struct fixed *fixed)
{
	return fixed->path->link_count > 1 ? 2 * fixed->path->link_count - 1 : 0;
}

static struct losses weigh(const struct fixed *fixed, size_t segment)
{
	struct losses losses = {0};
	size_t told = 0;

	for (size_t i = 0; i < fixed->trial_count; i++) {
		const struct run_trial *trial = fixed->trials[i];
		double drops = trial->socket_drops > 0 ? trial->socket_drops : 0;
		double share = trial->lost > 0 ? fmin(drops / trial->lost, 1) : 0;

		if (trial->segment_index != segment)
			continue;
		losses.trials++;
		if (!run_trial_valid(trial) || isnan(trial->loss_percent))
			continue;
		losses.valid++;
		losses.over += trial->loss_percent > fixed->test->loss_limit;
		losses.over_path += trial->loss_percent * (1 - share) > fixed->test->loss_limit;
		losses.loss += trial->loss_percent;
		losses.lost += trial->lost > 0 ? trial->lost : 0;
		losses.drops += drops;
		if (isnan(trial->sent_bps))
			continue;
		told++;
		losses.sent += trial->sent_bps;
		losses.behind += trial->sent_bps < SENT_LEAST * (double)fixed->test->rate;
	}
	losses.loss = losses.valid ? losses.loss / (double)losses.valid : (double)NAN;
	losses.sent = told ? losses.sent / (double)told : (double)NAN;
	return losses;
}

/* One-sided p of at least k of n where heads and tails are alike. */
static double sign_test(size_t k, size_t n)
{
	double sum = 0;

	for (size_t i = k; i <= n; i++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) -
			   lgamma((double)(n - i) + 1) - (double)n * log(2));
	return sum < 1 ? sum : 1;
}

static const char *host_at(const struct fixed *fixed, size_t position)
{
	return fixed->run->topology->hosts[fixed->path->hosts[position]].name;
}

/* The positions of a segment's ends on the path, in the direction of the traffic. */
static void ends_of(const struct fixed *fixed, size_t segment, size_t *ret_from, size_t *ret_to)
{
	size_t links = fixed->path->link_count;
	size_t near = segment < links ? segment : 0;
	size_t far = segment < links ? segment + 1 : segment - links + 1;
	bool reverse = fixed->verdict->direction == TOPOLOGY_REVERSE;

	*ret_from = reverse ? far : near;
	*ret_to = reverse ? near : far;
}

static const char *segment_name(const struct fixed *fixed, size_t segment)
{
	for (size_t i = 0; i < fixed->trial_count; i++) {
		if (fixed->trials[i]->segment_index == segment)
			return fixed->trials[i]->segment;
	}
	return fixed->path->name;
}

/* Links as the traffic meets them, then ever longer parts of the path, then all of it. */
static size_t in_order(const struct fixed *fixed, size_t index)
{
	size_t links = fixed->path->link_count;

	if (index < links)
		return fixed->verdict->direction == TOPOLOGY_REVERSE ? links - 1 - index : index;
	return index + 1;
}

static bool grade(struct fixed *fixed, enum verdict_kind kind, size_t agreeing, size_t valid)
{
	fixed->verdict->kind = kind;
	fixed->verdict->grade = VERDICT_STATISTICAL;
	fixed->verdict->confidence = 1 - sign_test(agreeing, valid);
	return true;
}

/* The queue in front of the segment, on the host that sends into it; NaN when none tells. */
static double queue_drops(const struct fixed *fixed, size_t segment, const char *host)
{
	double sum = 0;
	size_t seen = 0;

	for (size_t i = 0; i < fixed->trial_count; i++) {
		const struct run_trial *trial = fixed->trials[i];
		double most = -1;

		if (trial->segment_index != segment || !run_trial_valid(trial))
			continue;
		for (size_t j = 0; j < trial->interface_count; j++) {
			if (!strcmp(trial->interfaces[j].host, host))
				most = fmax(most, trial->interfaces[j].qdisc_drops);
		}
		if (most < 0)
			continue;
		sum += most;
		seen++;
	}
	return seen ? sum / (double)seen : (double)NAN;
}

static bool explain(struct fixed *fixed, size_t segment, const struct losses *losses)
{
	char rate[32];

	return verdict_reason(fixed->verdict,
		"%s lost %.2f %% of %s on average, and more than %g %% in %zu of %zu trials",
		segment_name(fixed, segment), losses->loss,
		verdict_rate((double)fixed->test->rate, rate, sizeof(rate)),
		fixed->test->loss_limit, losses->over, losses->valid);
}

static bool explain_socket(struct fixed *fixed, const struct losses *losses, const char *receiver)
{
	if (!(losses->drops >= DROPS_LEAST * (double)losses->valid))
		return true;
	return verdict_reason(fixed->verdict,
		"%.0f of %.0f lost datagrams reached %s and found its socket's buffer full: the "
		"receiver's socket buffer, not the path",
		losses->drops, losses->lost, receiver);
}

static bool blame_segment(struct fixed *fixed, size_t segment, const struct losses *losses)
{
	size_t from, to;
	double drops;

	ends_of(fixed, segment, &from, &to);
	drops = queue_drops(fixed, segment, host_at(fixed, from));
	grade(fixed, VERDICT_LOSS, losses->over_path, losses->valid);
	if (!verdict_add_segment(fixed->verdict, segment_name(fixed, segment)) ||
		!explain(fixed, segment, losses) ||
		!explain_socket(fixed, losses, host_at(fixed, to)))
		return false;
	if (!(drops >= DROPS_LEAST))
		return true;
	fixed->verdict->grade = VERDICT_CONFIRMED;
	return verdict_reason(fixed->verdict,
		"the queue of %s, in front of it, dropped %.1f packets a trial",
		host_at(fixed, from), drops);
}

/* Nothing is lost on the way, but the host at its end does not read what arrives. */
static bool blame_receiver(struct fixed *fixed, const struct losses *losses)
{
	size_t from, to;

	ends_of(fixed, whole(fixed), &from, &to);
	grade(fixed, VERDICT_LOSS, losses->over, losses->valid);
	return verdict_add_host(fixed->verdict, host_at(fixed, to)) &&
	       explain(fixed, whole(fixed), losses) &&
	       explain_socket(fixed, losses, host_at(fixed, to));
}

static bool blame_sender(struct fixed *fixed, const struct losses *losses)
{
	char rate[32], sent[32];
	size_t from, to;

	ends_of(fixed, whole(fixed), &from, &to);
	return verdict_reason(fixed->verdict,
		"%s sent %s of the %s asked for, in %zu of %zu trials less than %.0f %%: the "
		"sender is what is too slow, of the path this says nothing",
		host_at(fixed, from), verdict_rate(losses->sent, sent, sizeof(sent)),
		verdict_rate((double)fixed->test->rate, rate, sizeof(rate)), losses->behind,
		losses->valid, 100 * SENT_LEAST);
}

/* Returns whether too few trials are valid; they are then named. */
static bool too_few(struct fixed *fixed)
{
	size_t segments = 2 * fixed->path->link_count;
	bool few = false;

	for (size_t i = 0; i < segments; i++) {
		struct losses losses = weigh(fixed, i);

		if ((!losses.trials && i != whole(fixed)) || losses.valid >= VERDICT_ROUNDS_MIN)
			continue;
		few = true;
		verdict_reason(fixed->verdict,
			"%s has %zu valid trials, and fewer than %d say nothing",
			segment_name(fixed, i), losses.valid, VERDICT_ROUNDS_MIN);
	}
	if (few)
		fixed->verdict->rounds_needed = VERDICT_ROUNDS_MIN;
	return few;
}

bool verdict_fixed_rate(const struct run *run, const struct run_trial *const *trials, size_t count,
	struct verdict *verdict)
{
	struct fixed fixed = {
		.run = run,
		.path = &run->topology->paths[trials[0]->path_index],
		.test = &run->topology->tests[trials[0]->test_index],
		.trials = trials,
		.trial_count = count,
		.verdict = verdict,
	};
	size_t links = fixed.path->link_count;
	struct losses all = weigh(&fixed, whole(&fixed));

	verdict->paired = trials[0]->round > 0;
	if (too_few(&fixed))
		return true;
	for (size_t i = 0; i < (links > 1 ? 2 * links - 1 : 1); i++) {
		size_t segment = in_order(&fixed, i);
		struct losses losses = weigh(&fixed, segment);

		if (2 * losses.over_path > losses.valid)
			return blame_segment(&fixed, segment, &losses);
	}
	if (2 * all.over > all.valid)
		return blame_receiver(&fixed, &all);
	if (2 * all.behind > all.valid)
		return blame_sender(&fixed, &all);
	grade(&fixed, VERDICT_CARRIED, all.valid - all.over, all.valid);
	return explain(&fixed, whole(&fixed), &all);
}
