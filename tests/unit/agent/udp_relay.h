/*
 * A path between two agents that does what its plan says to each numbered datagram: loses, doubles,
 * swaps, and forges others among them. The control connection passes as it is.
 */
#ifndef UDP_RELAY_H
#define UDP_RELAY_H

#include <stdbool.h>
#include <stdint.h>

struct relay_plan {
	/* Of every ten datagrams those whose last digit is this; -1 = none. */
	int lose, twice, swap, forge;
	bool deaf; /* no datagram passes at all */
};

struct relay_counts {
	int64_t seen, lost, doubled, swapped, forged;
};

struct relay {
	int port; /* whom the connecting end is to connect to */
	int listener, in;
};

void relay_open(struct relay *relay);

/* Passes on to 127.0.0.1:port until both ends have closed the control connection. */
void relay_run(
	struct relay *relay, int port, const struct relay_plan *plan, struct relay_counts *ret);

void relay_close(struct relay *relay);

#endif
