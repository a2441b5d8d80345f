/*
 * Echo probes beside a trial of a whole path: round trips end to end and at the same time over
 * every link, before the trial (idle) and during it (loaded), so that the queue that grows is
 * pinned to a link. They ask from the trial's sending side, so that they stand in the queues that
 * it fills. A probe that fails never fails the trial: its entry is empty.
 */
#ifndef PROBES_H
#define PROBES_H

#include "trial.h"

struct probes;

/* Does this trial get any? A TCP test's over the whole path, unless it says `probes: false`. */
bool probes_wanted(const struct trial *trial);

/*
 * Starts them and measures the idle phase. Links without a settled listener are left out.
 * *ret_probes is NULL when there is nothing to probe. Fails with ERROR_INTERRUPTED or ERROR_SYSTEM
 * only.
 */
int probes_begin(struct fleet *fleet, const struct trial *trial, struct probes **ret_probes,
	struct error *err);

/* Ends them, and takes their answers. Fails as probes_begin(). Takes NULL. */
int probes_end(struct probes *probes, struct error *err);

/* Adds latency_under_load to a trial's record. Takes NULL. */
void probes_record(const struct probes *probes, struct cJSON *record);

/* Cancels those that still run. Takes NULL; to be called before the fleet's end. */
void probes_free(struct probes *probes);

#endif
