/* Drives the real agent over pipes, as the orchestrator does. Every wait has a deadline. */
#ifndef DRIVEN_H
#define DRIVEN_H

#include "child.h"
#include "wire.h"

#define DRIVEN_PATIENCE_MS 10000

struct driven {
	struct child child;
	struct wire_reader reader;
	char line[WIRE_LINE_MAX]; /* what record points into */
	struct wire_record record;
};

/* Starts the agent named by the environment variable AGENT with two more arguments (or NULL), and
 * takes its greeting. */
void driven_start(struct driven *agent, const char *option, const char *value);

/* The same on a kernel that lacks something: see without.c. Skips the test where that cannot be. */
void driven_start_without(struct driven *agent, const char *what);

void driven_stop(struct driven *agent);

/* Sends a line; the newline is added. */
void driven_say(struct driven *agent, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reads the next record into agent->record. False at the end of its output. */
bool driven_read(struct driven *agent);

/* Reads until a record of that id and type; fails the test at the output's end. */
void driven_await(struct driven *agent, uint32_t id, const char *type);

int64_t driven_number(const struct driven *agent, const char *key);
const char *driven_text(const struct driven *agent, const char *key);

/* Waits for the agent's own end. Returns its exit status, or -1 for a signal. */
int driven_exit(struct driven *agent);

#endif
