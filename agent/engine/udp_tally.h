/*
 * What a receiver knows of numbered datagrams: which came, twice or out of order, and how evenly.
 * Numbers count from 0; the measured window is a range of numbers, from the first that was not yet
 * reached when the window began. Pure, integer only.
 */
#ifndef UDP_TALLY_H
#define UDP_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "histogram.h"

enum { UDP_TALLY_MEMORY = 1 << 18 }; /* how far back a duplicate is known from a straggler */

struct udp_tally {
	uint64_t next;        /* one beyond the highest number seen */
	uint64_t window_from; /* the window's first number */
	int64_t packets;      /* different ones, all; the others are of the window */
	int64_t window_packets, duplicates, reordered;
	bool timed; /* the two below are of the datagram before */
	int64_t sent_ns, arrived_ns;
	int64_t jitter; /* ns x 16 */
	struct histogram spread;
	uint64_t seen[UDP_TALLY_MEMORY / 64]; /* of the numbers below next, a ring */
};

/* Everything zero is a fresh tally. */
void udp_tally_init(struct udp_tally *tally);

/*
 * One datagram. sent_ns is of the sender's clock, arrived_ns of this host's; only differences of
 * either are used. Returns whether it is the first of its number.
 */
bool udp_tally_add(struct udp_tally *tally, uint64_t number, int64_t sent_ns, int64_t arrived_ns);

void udp_tally_begin_window(struct udp_tally *tally);

/* Of the window, when this many datagrams were sent in all. */
int64_t udp_tally_lost(const struct udp_tally *tally, uint64_t sent);

/* The smoothed jitter of RFC 3550, section 6.4.1, in ns. */
int64_t udp_tally_jitter(const struct udp_tally *tally);

#endif
