/*
 * A path between two agents of a latency test that holds back or drops answers by a plan. The
 * control connection passes as it is.
 */
#ifndef ECHO_RELAY_H
#define ECHO_RELAY_H

#include <stddef.h>
#include <stdint.h>

#define RELAY_DROP (-1)

struct relay_plan {
	/* How long the answer to the question of a number is held, in ms, or RELAY_DROP: the
	 * entries in turn. */
	const int *hold_ms;
	size_t hold_count;
};

struct relay_counts {
	int64_t questions, answers, dropped;
};

struct relay {
	int port; /* whom the connecting end is to connect to */
	int listener, datagrams;
};

void relay_open(struct relay *relay);

/* Passes on to 127.0.0.1:port until an end closes the control connection. */
void relay_run(
	struct relay *relay, int port, const struct relay_plan *plan, struct relay_counts *ret);

void relay_close(struct relay *relay);

#endif
