/* One row per (path, segment, test, engine, direction): the numbers of docs/verdicts.md over a run.
 * Pure. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "run.h"
#include "stats.h"

struct summary_row {
	const char *path, *segment, *test, *engine;
	enum topology_direction direction;
	const char *metric, *unit; /* "throughput", "bit/s"; "latency", "us" */
	size_t valid, failed;      /* trials by outcome; valid == stats.n */
	struct stats_summary stats;
	double retransmits; /* mean a trial; NaN when no trial tells */
	double rtt_us;      /* mean; NaN when no trial tells */
	/* UDP, means; NaN when no trial tells */
	double loss_percent, jitter_us, packets_per_second;
	bool stalls; /* some trial had an interval at 0 */
	bool is_latency;
	/* Percentiles, mean and rate: means over the trials; min, max: of all; count, lost: sums */
	struct run_latency latency;
	double *values; /* valid trials in order of measurement */
};

struct summary {
	struct summary_row *rows; /* in the plan's order: path, links, prefixes, whole path; tests;
				     directions */
	size_t row_count;
};

struct summary *summary_build(const struct run *run, struct error *err);

/* The run file's "summary" array; flags are drift, two_modes and stalls. NULL: out of memory. */
struct cJSON *summary_to_json(const struct summary *summary);

void summary_free(struct summary *summary);

#endif
