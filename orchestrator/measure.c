#include "measure.h"

#include <stdlib.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "json.h"
#include "lab.h"
#include "record.h"

struct measure {
	const struct plan *plan;
	struct run *run;
	struct storage *storage;
	const struct measure_observer *observer;
	struct fleet *fleet;
};

static void on_started(void *context, const struct plan *plan, int round,
	const struct plan_series *series, size_t number, size_t total)
{
	const struct measure *measure = context;

	measure->observer->trial_started(
		measure->observer->context, plan, round, series, number, total);
}

/* To disk first: what is there survives whatever comes after. */
static int on_finished(void *context, struct cJSON *record, struct error *err)
{
	struct measure *measure = context;
	char *line = json_line(record);
	int result;

	if (!line) {
		cJSON_Delete(record);
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	}
	result = storage_append(measure->storage, line, err);
	free(line);
	if (result < 0) {
		cJSON_Delete(record);
		return -1;
	}
	return run_add_trial(measure->run, record, err);
}

static int write_header(const struct measure *measure, struct error *err)
{
	char *line = run_header_line(measure->run);
	int result;

	if (!line)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	result = storage_append(measure->storage, line, err);
	free(line);
	return result;
}

/* Hosts on the paths that the plan's series measure: evidence is taken on all of them. */
static bool *wanted_hosts(const struct plan *plan)
{
	bool *wanted = calloc(plan->topology->host_count, sizeof(*wanted));

	for (size_t i = 0; wanted && i < plan->series_count; i++) {
		size_t path = plan->segments[plan->series[i].segment].path;

		for (size_t j = 0; j <= plan->topology->paths[path].link_count; j++)
			wanted[plan->topology->paths[path].hosts[j]] = true;
	}
	return wanted;
}

static int record_hosts(const struct measure *measure, const bool *wanted, struct error *err)
{
	const struct topology *topology = measure->plan->topology;

	for (size_t i = 0; i < topology->host_count; i++) {
		if (!wanted[i])
			continue;
		if (!fleet_host_ready(measure->fleet, i)) {
			measure->observer->host_failed(
				measure->observer->context, fleet_host_error(measure->fleet, i));
		} else if (run_set_host(measure->run, topology->hosts[i].name,
				   record_host(fleet_host_facts(measure->fleet, i)), err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int reach_hosts(struct measure *measure, struct error *err)
{
	bool *wanted = wanted_hosts(measure->plan);
	struct fleet_settings settings = {.wanted = wanted};
	int result = -1;

	if (!wanted)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	measure->fleet = fleet_create(measure->plan->topology, &settings, err);
	if (measure->fleet && fleet_catch_signals(measure->fleet, err) == 0 &&
		fleet_start(measure->fleet, err) == 0)
		result = record_hosts(measure, wanted, err);
	free(wanted);
	return result;
}

static bool any_segment_ready(const struct plan *plan, const struct segments *segments)
{
	for (size_t i = 0; i < plan->series_count; i++) {
		if (segments_find(segments, &plan->series[i])->state == SEGMENT_READY)
			return true;
	}
	return false;
}

static int run_segments(struct measure *measure, struct error *err)
{
	const struct scheduler_observer observer = {
		.context = measure,
		.started = on_started,
		.finished = on_finished,
	};
	struct segments *segments = segments_resolve(measure->plan, measure->fleet, err);
	int result = -1;

	if (!segments)
		return -1;
	if (!any_segment_ready(measure->plan, segments)) {
		error_set(err, ERROR_HOST, NULL, "no segment can be measured without these hosts");
	} else if (segments_settle(segments, measure->fleet, err) == 0 &&
		   write_header(measure, err) == 0) {
		result = scheduler_run(measure->fleet, measure->plan, segments, &observer, err);
	}
	segments_free(segments);
	return result;
}

/* Brings up a lab that is not up; *ret_owned tells whether it is ours to take down. */
static int prepare_lab(struct topology *topology, bool *ret_owned, struct error *err)
{
	int owner;

	*ret_owned = false;
	if (!topology->lab)
		return 0;
	if (lab_status(topology, &owner) != LAB_KEPT) {
		if (lab_up(topology, getpid(), err) < 0)
			return -1;
		*ret_owned = true;
	}
	return lab_attach(topology, err);
}

int measure_run(struct topology *topology, const struct plan *plan, struct run *run,
	struct storage *storage, const struct measure_observer *observer, struct error *err)
{
	struct measure measure = {
		.plan = plan,
		.run = run,
		.storage = storage,
		.observer = observer,
	};
	bool lab_owned;
	int result = prepare_lab(topology, &lab_owned, err);

	if (result == 0)
		result = reach_hosts(&measure, err);
	if (result == 0)
		result = run_segments(&measure, err);
	fleet_free(measure.fleet);
	fleet_hold_signals(NULL);
	if (lab_owned) {
		struct error down = {0};

		/* A lab that will not go is worth a word, but not the run. */
		if (lab_down(topology, &down) < 0)
			observer->host_failed(observer->context, &down);
	}
	return result;
}
