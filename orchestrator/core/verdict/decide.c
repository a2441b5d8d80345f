/* One verdict per (path, test, engine, direction): grouping and the order of the steps. */
#include <math.h>
#include <stdlib.h>

#include "parts.h"

/*
 * The order of docs/verdicts.md: the first step that returns true has decided. A limit that is not
 * the network's (a host's CPU, a window) would be seen between step_only_link and step_capacities.
 */
static bool (*const steps[])(struct verdict_study *study) = {
	step_rounds,
	step_speed,
	step_only_link,
	step_capacities,
	step_outcome,
};

struct entry {
	const struct run_trial *trial;
	size_t index; /* keeps the sort stable */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = run_compare_study(x->trial, y->trial);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static void explain_pairing(struct verdict_study *study)
{
	if (study->verdict->kind == VERDICT_INCONCLUSIVE && study->rounds < VERDICT_ROUNDS_MIN)
		return;
	if (study->verdict->paired)
		verdict_reason(
			study->verdict, "%zu rounds, compared round by round", study->rounds);
	else
		verdict_reason(study->verdict,
			"not interleaved: series compared as wholes, so drift can pass for a "
			"difference");
}

/* Decides over the trials of one study, which it may reorder. */
static bool decide(const struct run *run, const struct run_trial **trials, size_t count,
	struct verdict *verdict)
{
	const struct topology_path *path = &run->topology->paths[trials[0]->path_index];
	struct verdict_study study = {
		.run = run,
		.topology = run->topology,
		.path = path,
		.trials = trials,
		.trial_count = count,
		.links = path->link_count,
		.verdict = verdict,
	};
	bool done;
	size_t i;

	done = study_prepare(&study);
	for (i = 0; done && i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i](&study))
			break;
	if (done) {
		explain_queues(&study);
		explain_pairing(&study);
	}
	study_finish(&study);
	return done;
}

static struct verdict *new_verdict(struct verdicts *verdicts, const struct run_trial *first)
{
	struct verdict *verdict = &verdicts->items[verdicts->count++];

	*verdict = (struct verdict){
		.path = first->path,
		.test = first->test,
		.engine = first->engine,
		.direction = first->direction,
		.kind = VERDICT_INCONCLUSIVE,
		.confidence = NAN,
	};
	return verdict;
}

static bool decide_all(const struct run *run, struct verdicts *verdicts, struct entry *entries)
{
	const struct run_trial **trials = calloc(run->trial_count, sizeof(*trials));
	size_t start = 0, i;
	bool done = trials != NULL;

	for (i = 0; done && i < run->trial_count; i++)
		trials[i] = entries[i].trial;
	for (i = 1; done && i <= run->trial_count; i++) {
		const struct run_trial *first = trials[start];

		if (i < run->trial_count && !run_compare_study(first, entries[i].trial))
			continue;
		if (run_is_capacity_test(run->topology, first->test_index))
			done = decide(run, trials + start, i - start, new_verdict(verdicts, first));
		else if (run_is_fixed_rate_test(run->topology, first->test_index))
			done = verdict_fixed_rate(
				run, trials + start, i - start, new_verdict(verdicts, first));
		start = i;
	}
	free(trials);
	return done;
}

struct verdicts *verdict_decide(const struct run *run, struct error *err)
{
	struct verdicts *verdicts = calloc(1, sizeof(*verdicts));
	size_t count = run->trial_count, i;
	struct entry *entries = calloc(count + 1, sizeof(*entries));

	if (verdicts)
		verdicts->items = calloc(count + 1, sizeof(*verdicts->items));
	if (!verdicts || !entries || !verdicts->items)
		goto failed;
	for (i = 0; i < count; i++)
		entries[i] = (struct entry){run->trials[i], i};
	qsort(entries, count, sizeof(*entries), compare_entries);
	if (count && !decide_all(run, verdicts, entries))
		goto failed;
	free(entries);
	return verdicts;

failed:
	free(entries);
	verdict_free(verdicts);
	error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	return NULL;
}

static void free_texts(char **texts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

void verdict_free(struct verdicts *verdicts)
{
	size_t i;

	if (!verdicts)
		return;
	for (i = 0; i < verdicts->count; i++) {
		struct verdict *verdict = &verdicts->items[i];

		free_texts(verdict->segments, verdict->segment_count);
		free_texts(verdict->hosts, verdict->host_count);
		free_texts(verdict->reasons, verdict->reason_count);
		free(verdict->slowest_segment);
	}
	free(verdicts->items);
	free(verdicts);
}
