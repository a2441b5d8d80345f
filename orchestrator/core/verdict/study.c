/* One verdict's data: valid trials by segment, and the rounds that all needed segments share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

size_t study_whole(const struct verdict_study *study)
{
	return 2 * study->links - 1;
}

const char *study_link_name(const struct verdict_study *study, size_t link)
{
	return study->topology->links[study->path->links[link]].name;
}

const char *study_host_name(const struct verdict_study *study, size_t position)
{
	return study->topology->hosts[study->path->hosts[position]].name;
}

const struct topology_end *study_near_end(const struct verdict_study *study, size_t link)
{
	const struct topology_link *l = &study->topology->links[study->path->links[link]];

	return study->path->flipped[link] ? &l->b : &l->a;
}

const struct topology_end *study_far_end(const struct verdict_study *study, size_t link)
{
	const struct topology_link *l = &study->topology->links[study->path->links[link]];

	return study->path->flipped[link] ? &l->a : &l->b;
}

double study_margin(const struct verdict_study *study, size_t link)
{
	const struct topology_verdict *margins = &study->topology->verdict;
	const struct topology_link *l = &study->topology->links[study->path->links[link]];

	/* A radio changes between two trials more than a cable does. */
	if (!margins->end_to_end_given && l->medium == TOPOLOGY_WIFI)
		return .15;
	return margins->end_to_end;
}

double study_rate(const struct verdict_study *study, size_t segment)
{
	const struct verdict_sample *sample = &study->matched[segment];
	double sum = 0;
	size_t i;

	for (i = 0; i < sample->n; i++)
		sum += exp(sample->log[i]);
	/* exp(log(x)) is not quite x: 21.85 would be printed as 21.8 here and as 21.9 elsewhere. */
	return round(sum / (double)sample->n);
}

const struct verdict_sample *study_capacity(const struct verdict_study *study, size_t link)
{
	return &study->matched[study->limited[link] ? study_whole(study) : link];
}

static bool sample_allocate(struct verdict_sample *sample, size_t n)
{
	sample->log = calloc(n ? n : 1, sizeof(double));
	sample->round = calloc(n ? n : 1, sizeof(int));
	return sample->log && sample->round;
}

static void sample_add(struct verdict_sample *sample, double value, int round)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): collect() allocated it */
	sample->log[sample->n] = value;
	sample->round[sample->n++] = round;
}

static int compare_rounds(const void *a, const void *b)
{
	const struct run_trial *x = *(const struct run_trial *const *)a;
	const struct run_trial *y = *(const struct run_trial *const *)b;

	return (x->round > y->round) - (x->round < y->round);
}

/* One pass to count, one to fill: a study holds as many numbers as it has trials. */
static bool collect(struct verdict_study *study)
{
	size_t segments = 2 * study->links, i;
	size_t *counts = calloc(segments, sizeof(*counts));
	bool done = counts != NULL;

	study->verdict->paired = true;
	for (i = 0; done && i < study->trial_count; i++) {
		counts[study->trials[i]->segment_index]++;
		if (!study->trials[i]->round)
			study->verdict->paired = false;
	}
	/* A stable order is not needed: rounds are unique, and unpaired samples have no order. */
	if (done && study->verdict->paired && study->trial_count > 1)
		qsort(study->trials, study->trial_count, sizeof(struct run_trial *),
			compare_rounds);
	for (i = 0; done && i < segments; i++)
		done = sample_allocate(&study->all[i], counts[i]) &&
		       sample_allocate(&study->matched[i], counts[i]);
	for (i = 0; done && i < study->trial_count; i++) {
		const struct run_trial *trial = study->trials[i];

		if (trial->segment_index < study->links)
			study->measured[trial->segment_index] = true;
		if (run_trial_valid(trial))
			sample_add(&study->all[trial->segment_index], log(trial->throughput_bps),
				trial->round);
	}
	free(counts);
	return done;
}

static bool needed(const struct verdict_study *study, size_t segment)
{
	if (segment < study->links)
		return study->measured[segment];
	return segment == study_whole(study) && study->links > 1;
}

/* Keeps the rounds in which every needed segment has a valid trial. */
static bool match_rounds(struct verdict_study *study)
{
	size_t segments = 2 * study->links, whole = study_whole(study), i, j;
	const struct verdict_sample *lead = &study->all[study->links > 1 ? whole : 0];
	size_t *at = calloc(segments, sizeof(*at));

	if (!at)
		return false;
	for (i = 0; i < lead->n; i++) {
		bool everywhere = true;

		for (j = 0; j < segments; j++) {
			const struct verdict_sample *sample = &study->all[j];

			if (!needed(study, j))
				continue;
			while (at[j] < sample->n && sample->round[at[j]] < lead->round[i])
				at[j]++;
			everywhere = everywhere && at[j] < sample->n &&
				     sample->round[at[j]] == lead->round[i];
		}
		for (j = 0; everywhere && j < segments; j++)
			if (needed(study, j))
				sample_add(&study->matched[j], study->all[j].log[at[j]],
					lead->round[i]);
		study->rounds += everywhere;
	}
	free(at);
	return true;
}

static void match_all(struct verdict_study *study)
{
	size_t i, j;

	study->rounds = (size_t)-1;
	for (j = 0; j < 2 * study->links; j++) {
		if (!needed(study, j))
			continue;
		for (i = 0; i < study->all[j].n; i++)
			sample_add(&study->matched[j], study->all[j].log[i], 0);
		if (study->all[j].n < study->rounds)
			study->rounds = study->all[j].n;
	}
	if (study->rounds == (size_t)-1)
		study->rounds = 0;
}

bool study_prepare(struct verdict_study *study)
{
	size_t i;

	study->all = calloc(2 * study->links, sizeof(*study->all));
	study->matched = calloc(2 * study->links, sizeof(*study->matched));
	study->measured = calloc(study->links, sizeof(bool));
	study->limited = calloc(study->links, sizeof(bool));
	if (!study->all || !study->matched || !study->measured || !study->limited ||
		!collect(study))
		return false;
	for (i = 0; i < study->links; i++)
		study->measured_count += study->measured[i];
	study->alpha = VERDICT_ALPHA / (double)(study->measured_count ? study->measured_count : 1);
	if (!study->verdict->paired) {
		match_all(study);
		return true;
	}
	return match_rounds(study);
}

void study_finish(struct verdict_study *study)
{
	size_t i;

	for (i = 0; i < 2 * study->links; i++) {
		if (study->all) {
			free(study->all[i].log);
			free(study->all[i].round);
		}
		if (study->matched) {
			free(study->matched[i].log);
			free(study->matched[i].round);
		}
	}
	free(study->all);
	free(study->matched);
	free(study->measured);
	free(study->limited);
}
