#include "scheduler.h"

#include <stdlib.h>

#include "trial.h"

struct scheduler {
	struct fleet *fleet;
	const struct plan *plan;
	const struct segments *segments;
	const struct scheduler_observer *observer;
	bool *ended; /* by series: its failure was recorded once and will not go away */
	size_t number;
};

/* Why this trial cannot be started, or NULL. */
static const struct error *obstacle(
	const struct scheduler *scheduler, const struct segment *segment)
{
	const size_t hosts[] = {segment->near.host, segment->far.host};

	if (segment->state == SEGMENT_FAILED)
		return &segment->error;
	for (size_t i = 0; i < 2; i++) {
		if (!fleet_host_ready(scheduler->fleet, hosts[i]))
			return fleet_host_error(scheduler->fleet, hosts[i]);
	}
	return NULL;
}

static int run_one(struct scheduler *scheduler, int round, size_t index, struct error *err)
{
	const struct plan *plan = scheduler->plan;
	const struct plan_series *series = &plan->series[index];
	const struct topology_test *test = &plan->topology->tests[series->test];
	struct trial trial = {
		.plan = plan,
		.series = series,
		.segment = segments_find(scheduler->segments, series),
		.segments = scheduler->segments,
		.round = round,
	};
	const struct error *cause = obstacle(scheduler, trial.segment);
	struct cJSON *record = NULL;

	scheduler->number++;
	if (scheduler->ended[index])
		return 0;
	scheduler->observer->started(scheduler->observer->context, plan, round, series,
		scheduler->number, (size_t)plan->rounds * plan->series_count);
	if (cause) {
		scheduler->ended[index] = true;
		record = trial_refuse(&trial, cause);
		if (!record)
			return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	} else if ((test->gap > 0 &&
			   fleet_idle(scheduler->fleet, fleet_now() + test->gap, err) < 0) ||
		   trial_run(scheduler->fleet, &trial, &record, err) < 0) {
		return -1;
	}
	return scheduler->observer->finished(scheduler->observer->context, record, err);
}

int scheduler_run(struct fleet *fleet, const struct plan *plan, const struct segments *segments,
	const struct scheduler_observer *observer, struct error *err)
{
	struct scheduler scheduler = {
		.fleet = fleet,
		.plan = plan,
		.segments = segments,
		.observer = observer,
		.ended = calloc(plan->series_count, sizeof(bool)),
	};
	int result = scheduler.ended ? 0 : error_set(err, ERROR_SYSTEM, NULL, "out of memory");

	for (int round = 0; result == 0 && round < plan->rounds; round++) {
		const size_t *order = plan->order + (size_t)round * plan->series_count;

		for (size_t i = 0; result == 0 && i < plan->series_count; i++)
			result = run_one(&scheduler, round + 1, order[i], err);
	}
	free(scheduler.ended);
	return result;
}
