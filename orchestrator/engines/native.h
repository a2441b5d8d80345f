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

/* One number of an end's final record, and where it goes. */
struct native_number {
	double *value;
	const struct wire_record *record;
	const char *key;
};

void native_read_numbers(const struct native_number *numbers, size_t count);

/* What both ends' final records say in every test that moves data: bytes, times, methods. */
void native_read_finals(
	const struct wire_record *sent, const struct wire_record *received, struct sample *sample);

/* What both ends' `connected` records say in every such test: buffers and device. */
void native_read_ends(const struct engine_answer *sender, const struct engine_answer *receiver,
	struct sample *sample);

/* A receiver's interval; the sender's figures of it are not known yet. */
struct sample_interval native_read_interval(const struct wire_record *record);

#endif
