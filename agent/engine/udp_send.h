/*
 * The sending thread of a UDP test. Paced, datagrams leave in bursts of at most 250 us of the rate,
 * so that no router's queue meets more than one at a low rate; unpaced, as the socket takes them.
 */
#ifndef UDP_SEND_H
#define UDP_SEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "data_thread.h"
#include "udp_options.h"

struct udp_method;

struct udp_sent {
	int64_t packets, bytes; /* so far; at a fixed rate those that were due */
	int64_t refused;        /* of packets: this host's own queue had no room */
	int64_t burst;          /* largest, datagrams */
	int64_t late;           /* sent over a millisecond (and a burst's time) after their time */
};

struct udp_sender {
	const struct udp_options *options;
	int fd, flags;
	unsigned int burst;       /* datagrams at once at most */
	int64_t gap_ns, gap_rest; /* one datagram's time, and its fraction of a ns in 1/rate */
	unsigned char *block;     /* the datagrams of a burst, side by side */
	const struct udp_method *method;
	char fallbacks[64];
	struct data_thread thread;
	atomic_bool stop;
	pthread_mutex_t lock;
	struct udp_sent sent; /* under the lock */
};

bool udp_sender_knows(const char *method);

/* Sends on fd (not its own) from now on. Returns 0 or -errno. */
int udp_sender_start(struct udp_sender *sender, const struct udp_options *options, int fd);

void udp_sender_look(struct udp_sender *sender, struct udp_sent *ret);

/* No datagram leaves after this. */
void udp_sender_stop(struct udp_sender *sender);

const char *udp_sender_method(const struct udp_sender *sender);

/* Frees what is left; on a stopped sender, or one that never started (all zero). */
void udp_sender_finish(struct udp_sender *sender);

#endif
