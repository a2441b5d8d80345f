/*
 * The records of an `evidence read` answer (docs/wire.md) as the JSON of docs/run-file.md, and the
 * counters path proof needs. The records stay the truth; nothing is copied but into JSON.
 */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include <stddef.h>

#include "wire.h"

struct cJSON;

struct evidence {
	const struct wire_record *const *records;
	size_t count;
};

/* hosts.NAME of a trial: cores, softnet, protocol, conntrack, thermal, clock. NULL = no memory. */
struct cJSON *evidence_host_json(const struct evidence *evidence);

/* interfaces."HOST:NAME" of a trial: counters, qdiscs, link facts. */
struct cJSON *evidence_interface_json(const struct evidence *evidence, const char *interface);

/* A counter's delta (bytes, packets) of an interface, or NaN when the host does not tell. */
double evidence_counter(const struct evidence *evidence, const char *interface, const char *key);

#endif
