/*
 * How the two ends of a trial meet: the connecting end opens every connection and shows the token
 * and the stream's number on each; the listening end drops what does not, and answers one byte on
 * each stream when all are there. Nothing here blocks, so no stranger can hold up the others.
 */
#ifndef RENDEZVOUS_H
#define RENDEZVOUS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "trial_options.h"

enum {
	RENDEZVOUS_HELLO_SIZE = TRIAL_TOKEN_SIZE + 1,
	RENDEZVOUS_ANSWER_SIZE = 1,
	RENDEZVOUS_WAITING_MAX = TRIAL_CONNECTIONS_MAX + 16,
};

struct rendezvous_guest {
	int fd;
	unsigned char hello[RENDEZVOUS_HELLO_SIZE];
	size_t length;
};

struct rendezvous {
	const struct trial_options *options;
	bool device_bound;
	int listener; /* -1 when connecting */
	int port;
	struct rendezvous_guest waiting[RENDEZVOUS_WAITING_MAX]; /* accepted, token incomplete */
	size_t waiting_count;
	int streams[TRIAL_CONNECTIONS_MAX];     /* by number; -1 while missing */
	bool introduced[TRIAL_CONNECTIONS_MAX]; /* connecting: the hello is sent */
	bool welcome[TRIAL_CONNECTIONS_MAX];    /* connecting: the answer came */
};

/* Returns 0, or -errno with *ret_what saying what failed. options must outlive it. */
int rendezvous_init(
	struct rendezvous *meeting, const struct trial_options *options, const char **ret_what);

size_t rendezvous_watch(const struct rendezvous *meeting, struct pollfd *fds, size_t max);

/*
 * Does what can be done. Returns 1 when all streams stand, 0 to go on, -ECONNABORTED when the other
 * end dropped a stream, or another -errno with *ret_what.
 */
int rendezvous_advance(struct rendezvous *meeting, const char **ret_what);

/* Closes the listener and whoever waits; the streams too when close_streams. */
void rendezvous_finish(struct rendezvous *meeting, bool close_streams);

/* Compares TRIAL_TOKEN_SIZE bytes, in the same time wherever they differ. */
bool rendezvous_token_is_right(const unsigned char *shown, const unsigned char *token);

#endif
