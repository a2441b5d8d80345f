/* Round trips as grids: of latency tests, and beside the trials of a whole path. Times in ms. */
#ifndef TABLE_LATENCY_H
#define TABLE_LATENCY_H

#include "report.h"

/* Is this what a latency test measured? */
bool table_is_latency(const struct view_group *group);

/* ", round trips in ms": what a group's title says of its numbers. */
const char *table_latency_title(const struct view *view, const struct view_group *group);

/* groups[0..count - 1] differ in their direction alone. */
int table_latency(const struct view *view, const struct view_group *groups, size_t count,
	const struct report_options *options, FILE *out, struct error *err);

/* The block "latency under load"; prints nothing when none of the groups has any. */
int table_load(const struct view_group *groups, size_t count, const struct report_options *options,
	FILE *out, struct error *err);

#endif
