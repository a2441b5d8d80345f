/*
 * What every report format shows, as data: built once from a run (summary and verdicts computed
 * afresh), so that formats cannot disagree. Numbers stay numbers here; view_format_*() turn them
 * into the text that all formats share.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stddef.h>

#include "run.h"
#include "summary.h"
#include "verdict.h"

struct view {
	const struct run *run;
	struct summary *summary;
	struct verdicts *verdicts;
};

struct view *view_create(const struct run *run, struct error *err);
void view_free(struct view *view);

/* "94.4 Mbit/s": three significant digits, at least one decimal below 100. Returns buffer. */
const char *view_format_rate(double bits_per_second, char *buffer, size_t size);

#endif
