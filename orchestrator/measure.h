/*
 * What `orch run` does between a plan and a finished run: the lab, the fleet, segments, rounds.
 * Owns everything it makes; says what happens through the observer and prints nothing itself.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "fleet.h"
#include "plan.h"
#include "run.h"
#include "scheduler.h"
#include "segment.h"
#include "storage.h"

struct measure_observer {
	void *context;
	void (*host_failed)(void *context, const struct error *err);
	void (*trial_started)(void *context, const struct plan *plan, int round,
		const struct plan_series *series, size_t number, size_t total);
};

/*
 * Runs the plan: brings the lab up when the topology has one and it is not up (and takes it down
 * again), reaches the hosts, settles the segments, and adds every record to run and storage. run
 * and storage were made by the caller. topology is the plan's own; the lab fills its transports.
 * Returns 0 when all rounds are through (also with failed trials), -1 with the cause otherwise;
 * what was measured until then is in run. ERROR_HOST: not one segment could be measured.
 * Afterwards the signals of fleet_hold_signals() are held.
 */
int measure_run(struct topology *topology, const struct plan *plan, struct run *run,
	struct storage *storage, const struct measure_observer *observer, struct error *err);

#endif
