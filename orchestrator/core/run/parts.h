/* What the files of run/ share; nobody else includes it. */
#ifndef RUN_PARTS_H
#define RUN_PARTS_H

#include <cjson/cJSON.h>

#include "json.h"
#include "run.h"

#define RUN_DEPTH_MAX 64

/* Builds the typed view; where names the trial in messages. NULL with *err set. Takes ownership. */
struct run_trial *run_view_create(
	const struct run *run, struct cJSON *json, const char *where, struct error *err);
void run_view_free(struct run_trial *trial);

/* latency and latency_under_load of a trial that knows its path. */
int run_view_read_latency(struct run_trial *trial, const struct topology *topology,
	const char *where, struct error *err);

/* Adds without looking for duplicates. Takes ownership of trial, also on failure. */
int run_append(struct run *run, struct cJSON *trial, const char *where, struct error *err);

/* Order of (round, series); 0 = the same place in the run. */
int run_compare_place(const struct run_trial *a, const struct run_trial *b);

/* The run's topology from its document. */
int run_load_topology(struct run *run, const char *file, struct error *err);

#endif
