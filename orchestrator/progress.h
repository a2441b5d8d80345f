/* The line of progress on a terminal: which trial runs, how many are left. Standard error only. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "plan.h"

struct progress {
	bool shown; /* a terminal is there and nobody asked for quiet */
	bool dirty; /* the line holds text */
};

void progress_init(struct progress *progress, bool quiet);

void progress_trial(struct progress *progress, const struct plan *plan, int round,
	const struct plan_series *series, size_t number, size_t total);

/* Empties the line, before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
