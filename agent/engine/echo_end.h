/*
 * One end of a latency test while questions and answers go to and fro: a small thread, so that no
 * other work of the agent stands between an answer and its time. docs/wire.md, "Latency".
 */
#ifndef ECHO_END_H
#define ECHO_END_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "echo_count.h"
#include "trial_options.h"

enum {
	ECHO_HEADER = TRIAL_TOKEN_SIZE + 8, /* of a datagram: token, number (big endian) */
	ECHO_SIZE_MAX = 65507,
};

/* The number in a datagram that only tells where its sender is. */
#define ECHO_HELLO UINT64_MAX

enum echo_outcome { ECHO_FINE, ECHO_STALLED, ECHO_LOST };

struct echo_end {
	const struct trial_options *options;
	size_t size;
	int64_t pace_us;    /* 0: one question at a time */
	int fd;             /* connected socket; connect: the answerer's second listener, or -1 */
	int wake, event;    /* eventfds: to the thread, and from it when it ends */
	atomic_bool stop;   /* at once */
	atomic_bool ending; /* no further question */
	atomic_uint marks;  /* parts asked for */
	atomic_bool finished;
	enum echo_outcome outcome; /* the rest is to be read when finished */
	struct echo_count count;   /* asker's */
	int64_t answered;          /* answerer's */
	pthread_t thread;
	bool running;
};

/* What a thread runs until it is stopped, ended, or its peer is gone. */
typedef void echo_loop(struct echo_end *end);

echo_loop echo_ask_datagrams, echo_ask_stream, echo_ask_connections;
echo_loop echo_answer_datagrams, echo_answer_stream, echo_answer_connections;

/*
 * Starts loop on the socket, which the end owns from here on (also when it fails). Times count from
 * now. Returns 0 or -errno; echo_end_stop() is due in any case.
 */
int echo_end_start(struct echo_end *end, echo_loop *loop, int fd);

/* Wakes the thread to look at `ending` and `marks`. */
void echo_end_wake(struct echo_end *end);

/* Stops and joins the thread and closes what the end owns; harmless when it was never started. */
void echo_end_stop(struct echo_end *end);

/*
 * For the loops: waits for events (POLLIN, POLLOUT) of fd (-1: of none) until the time until_us, or
 * until the thread is woken. Returns the events that came.
 */
int echo_end_wait(struct echo_end *end, int fd, int events, int64_t until_us);

/* For the loops: has it been told to stop? */
bool echo_end_stopped(struct echo_end *end);

/* Puts a datagram's header at the start of bytes. */
void echo_put_header(unsigned char *bytes, const struct trial_options *options, uint64_t number);

/* The number of a datagram that shows the token; false for any other datagram. */
bool echo_get_header(const unsigned char *bytes, size_t size, const struct trial_options *options,
	uint64_t *ret_number);

#endif
