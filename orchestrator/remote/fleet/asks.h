/*
 * The requests of one host that are not answered yet, and the copies of what came for each. Knows
 * the language of requests and answers, not how they travel.
 */
#ifndef ASKS_H
#define ASKS_H

#include "fleet.h"

#define ASKS_RECORDS_MAX 100000
#define ASKS_BYTES_MAX   (32u << 20)

struct asks {
	struct ask *head; /* unanswered ones, also those nobody waits for any more */
	uint32_t last_id;
	size_t waiting; /* how many somebody waits for */
};

/* A new ask with an id that no unanswered one has; NULL when out of memory. */
struct ask *asks_add(struct asks *asks, const char *type);

/* Says that the request is on its way: only then will an answer come. */
void asks_sent(struct ask *ask);
bool asks_was_sent(const struct ask *ask);

/*
 * Nobody waits any more: frees the ask when it is answered or was never sent, else keeps a stub
 * until its answer has come.
 */
void asks_release(struct asks *asks, struct ask *ask);

/* Keeps a record, or answers its ask with it. -1: no such id, or too much for one ask. */
int asks_take(
	struct asks *asks, const struct wire_record *record, const char *host, struct error *err);

/* The host is lost: every ask is done with this error, stubs are freed. */
void asks_fail(struct asks *asks, const struct error *cause);

#endif
