/* A finished trial as the JSON object of docs/run-file.md. Pure. */
#ifndef RECORD_H
#define RECORD_H

#include "plan.h"
#include "proof.h"
#include "sample.h"

struct cJSON;

/* Who took part, and when. Strings are copied. */
struct record_trial {
	const struct plan *plan;
	const struct plan_series *series;
	int round;
	const char *started;                      /* UTC */
	const char *sender, *receiver, *listener; /* host names; listener may be NULL */
};

/* One host's or interface's evidence to be kept. */
struct record_evidence {
	const char *host;
	const char *interface; /* NULL = the host's own */
	struct evidence evidence;
	double wait_us, run_us; /* of the host's data threads; NaN for none */
};

/* The part every trial has; a failed one (error not NULL) is whole with it. NULL = no memory. */
struct cJSON *record_create(const struct record_trial *trial, const char *error);

/* Adds what was measured. */
void record_add_sample(struct cJSON *record, const struct sample *sample);

/* Adds path_proof, its sentence and flags; a contradicted trial becomes not ok. */
void record_add_proof(struct cJSON *record, const struct proof *proof);

/*
 * One segment's round trips before (idle) and during (loaded) a trial; answered is false when there
 * are none to tell of.
 */
struct record_load {
	const char *segment;
	bool answered;
	struct sample_latency idle, loaded;
};

/* Adds latency_under_load. */
void record_add_load(struct cJSON *record, const struct record_load *loads, size_t count);

void record_add_evidence(
	struct cJSON *record, const struct record_evidence *evidence, size_t count);

/* hosts.NAME of the run's document: what the host says of itself. */
struct cJSON *record_host(const struct facts *facts);

#endif
