/*
 * Which link, host or neither limits a path: the rules of docs/verdicts.md over a run. One verdict
 * per (path, test, engine, direction) of a capacity test. Pure.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include "run.h"

enum verdict_kind {
	VERDICT_LINK,
	VERDICT_TIE,
	VERDICT_FORWARDING,
	VERDICT_SHARED_MEDIUM,
	VERDICT_NONE_FOUND,
	VERDICT_HOST_CPU,
	VERDICT_WINDOW,
	VERDICT_APPLICATION,
	VERDICT_INCONCLUSIVE,
	VERDICT_CARRIED,
	VERDICT_LOSS,
};

enum verdict_grade { VERDICT_NO_GRADE, VERDICT_SUSPECTED, VERDICT_STATISTICAL, VERDICT_CONFIRMED };

enum verdict_qualifier {
	VERDICT_NO_QUALIFIER,
	VERDICT_ENDPOINT_LIMITED,
	VERDICT_AGREES,
	VERDICT_OPEN,
};

struct verdict {
	const char *path, *test, *engine;
	enum topology_direction direction;
	enum verdict_kind kind;
	char **segments; /* link: one; tie: all of them; else none */
	size_t segment_count;
	char **hosts; /* forwarding, host_cpu, endpoint_limited: who */
	size_t host_count;
	double confidence; /* 0..1; NaN when inconclusive or none_found */
	enum verdict_grade grade;
	enum verdict_qualifier qualifier;
	char *slowest_segment; /* named even when not blamed; NULL when unknown */
	bool paired;
	char **reasons; /* plain sentences with numbers */
	size_t reason_count;
	int rounds_needed; /* 0 = none or unknown; -1 = cannot be resolved at this margin */
};

struct verdicts {
	struct verdict *items;
	size_t count;
};

struct verdicts *verdict_decide(const struct run *run, struct error *err);

/* The run file's "verdicts" array. NULL: out of memory. */
struct cJSON *verdict_to_json(const struct verdicts *verdicts);

void verdict_free(struct verdicts *verdicts);

/* Names as in the run file. */
const char *verdict_kind_name(enum verdict_kind kind);
const char *verdict_grade_name(enum verdict_grade grade);
const char *verdict_qualifier_name(enum verdict_qualifier qualifier);

/*
 * "94.4 Mbit/s", as reasons and reports write it: at least three significant digits, whole from 100
 * on. Returns buffer.
 */
const char *verdict_rate(double bits_per_second, char *buffer, size_t size);

#endif
