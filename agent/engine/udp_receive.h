/*
 * The receiving thread of a UDP test: it reads, drops what is not a datagram of the test, and
 * tallies the rest. Clocks and decisions are the loop's.
 */
#ifndef UDP_RECEIVE_H
#define UDP_RECEIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "data_thread.h"
#include "meter.h"
#include "udp_options.h"
#include "udp_tally.h"

struct udp_method_in;

struct udp_received {
	int64_t packets, bytes;    /* different datagrams so far */
	int64_t lost;              /* among the numbers seen so far */
	int64_t first_us, last_us; /* arrivals; 0 = none yet */
};

struct udp_receiver {
	const struct udp_options *options;
	int fd;
	int event; /* readable when as many datagrams are there as are awaited */
	const struct udp_method_in *method;
	char fallbacks[64];
	struct data_thread thread;
	atomic_bool stop;
	pthread_mutex_t lock;
	/* Under the lock: */
	int64_t wanted;
	struct meter *meter;
	struct udp_tally tally;
	int64_t first_us, last_us;
	int64_t messages, datagrams; /* what the socket gave, and what was in it: GRO bundles */
	int64_t drops;               /* of the socket, as told with the datagrams */
	int64_t drops_before;        /* ... when the window began */
};

bool udp_receiver_knows(const char *method);

/*
 * Reads fd (not its own) from now on. Returns 0 or -errno. The meter is the thread's until it is
 * stopped: its samples are taken by the datagrams' own times of arrival, so that a reader who waits
 * for a CPU counts nothing into a wrong interval.
 */
int udp_receiver_start(struct udp_receiver *receiver, const struct udp_options *options, int fd,
	struct meter *meter);

/* Makes the event unreadable until so many different datagrams came; at the start it is one. */
void udp_receiver_await(struct udp_receiver *receiver, int64_t packets);

void udp_receiver_look(struct udp_receiver *receiver, struct udp_received *ret);

/* Datagrams of the window that found the socket's buffer full. */
int64_t udp_receiver_drops(struct udp_receiver *receiver);

/* No datagram counts after this. The tally stays readable, and the meter is complete. */
void udp_receiver_stop(struct udp_receiver *receiver);

const char *udp_receiver_method(const struct udp_receiver *receiver);

/* Frees what is left; on a stopped receiver. */
void udp_receiver_finish(struct udp_receiver *receiver);

#endif
