/*
 * Latency under load: whose round trips grew while the whole path was loaded, over the trials of
 * one series. A queue that grows stands in front of the link whose round trips grow. Pure.
 */
#ifndef LOAD_H
#define LOAD_H

#include "run.h"

struct load {
	const char *segment;
	size_t trials;                            /* that tell of it, idle and loaded */
	double idle_us, loaded_us, loaded_p99_us; /* medians over the trials of p50, p50, p99 */
	size_t grew;                              /* trials in which its queue grew */
};

/*
 * A queue grew when the median round trip under load is above twice the idle one and LOAD_GROWTH_US
 * longer: less may be a busy CPU.
 */
#define LOAD_GROWTH_US 2000.

/*
 * trials: of any segments of one path; those of the whole path tell. False when no valid one tells
 * of this segment (run_find_segment()'s number), or there is no memory.
 */
bool load_summarize(
	const struct run_trial *const *trials, size_t count, size_t segment, struct load *ret);

#endif
