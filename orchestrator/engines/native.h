/* What the native engine's rows share: docs/wire.md, "listen and connect". */
#ifndef NATIVE_H
#define NATIVE_H

#include "engine.h"

/*
 * Writes what every native test asks of one end: who it is, how long, and for the listener the port
 * range. A probe gets a single stream and no intervals.
 */
void native_write_end(const struct engine_trial *trial, bool listens, const char *test,
	struct wire_writer *writer);

/* Writes whom the connecting end connects to. */
void native_write_target(const struct engine_trial *trial, const struct wire_record *ready,
	struct wire_writer *writer);

/* The first record of this type, or NULL. */
const struct wire_record *native_find_record(const struct engine_answer *answer, const char *type);

/* Copies a value, cut to size; empty when the record (which may be NULL) does not have it. */
void native_read_text(const struct wire_record *record, const char *key, char *buffer, size_t size);

#endif
