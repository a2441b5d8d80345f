/*
 * The table of measuring engines. An engine turns a trial into one request for the listening end
 * and one for the connecting end, and their answers into a sample; a new tool is one file and one
 * row, and needs no new agent. Pure: no I/O here.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdint.h>

#include "binding.h"
#include "sample.h"
#include "topology.h"
#include "wire.h"

#define ENGINE_TOKEN_SIZE 33 /* 32 hex digits and NUL */

/* Bounds on a trial's phases, ms. */
#define ENGINE_SETUP_MS 5000
#define ENGINE_STALL_MS 5000

struct engine_trial {
	const struct topology_test *test;
	enum topology_direction direction;
	const struct binding *listener, *connector;
	bool listener_sends;
	int64_t duration_ms; /* 0 = a probe: connect, show the token, close */
	int64_t setup_ms;
	int64_t pace_ms; /* latency: between questions; 0 = one at a time */
	char token[ENGINE_TOKEN_SIZE];
};

/* All that one end answered. */
struct engine_answer {
	const struct wire_record *const *records;
	size_t count;
	const struct wire_record *final;
};

struct engine {
	const char *name;
	enum topology_test_kind kind; /* a tool that does more has a row for each */
	const char *listen_type;      /* request type for the listening end */
	const char *ready_type;       /* its record that says "connect now" */
	const char *connect_type;     /* request type for the connecting end */
	void (*listen)(const struct engine_trial *trial, struct wire_writer *writer);
	void (*connect)(const struct engine_trial *trial, const struct wire_record *ready,
		struct wire_writer *writer);
	/* Both directions at once: sender is the segment's near end, and ret has both ways.
	 * Fails with ERROR_TRIAL when the answers hold no usable figure. ret: sample_finish() it.
	 */
	int (*sample)(const struct engine_answer *sender, const struct engine_answer *receiver,
		struct sample *ret, struct error *err);
};

/* The row of this name for this kind of test, or NULL. */
const struct engine *engine_find(const char *name, enum topology_test_kind kind);

#endif
