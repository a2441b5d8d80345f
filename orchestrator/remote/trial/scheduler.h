/*
 * The rounds: one trial at a time in the plan's order, every record handed on at once. A failed
 * trial is recorded and the run goes on; a lost host ends the segments that need it.
 */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include "fleet.h"
#include "plan.h"
#include "segment.h"

struct cJSON;

struct scheduler_observer {
	void *context;
	/* Before each trial; number counts from 1 to total. */
	void (*started)(void *context, const struct plan *plan, int round,
		const struct plan_series *series, size_t number, size_t total);
	/*
	 * Takes ownership of the record: adds it to the run and to the disk. A failure ends the
	 * run.
	 */
	int (*finished)(void *context, struct cJSON *record, struct error *err);
};

/*
 * Returns 0 when all rounds are through. -1 with ERROR_INTERRUPTED (what is finished was handed
 * over), or with the observer's or the system's error.
 */
int scheduler_run(struct fleet *fleet, const struct plan *plan, const struct segments *segments,
	const struct scheduler_observer *observer, struct error *err);

#endif
