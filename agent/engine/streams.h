/*
 * The data threads of a trial, one a stream. They only move bytes and count them; clocks, samples
 * and decisions are the loop's. A thread never outlives streams_stop().
 */
#ifndef STREAMS_H
#define STREAMS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trial_options.h"

struct streams;

struct stream {
	struct streams *all;
	int fd;
	bool running;
	pthread_t thread;
	atomic_int task; /* its number in /proc/self/task; 0 until it runs */
	/* A machine word, because a 32-bit CPU adds no more at once; the loop reads it before it
	 * can wrap twice. */
	atomic_ulong bytes;
	unsigned long seen;
	/* What the scheduler said as the thread ended, when /proc forgets it. */
	int64_t run_us, wait_us;
	bool told;
	atomic_bool finished; /* the three above stand */
};

struct streams {
	bool sends;
	int count;
	int event; /* readable after the first byte, and after a thread's end */
	char *block;
	size_t block_size;
	int64_t total;                /* bytes as of the last streams_bytes() */
	int64_t first_us;             /* valid once started */
	atomic_bool claimed, started; /* the first byte came */
	atomic_bool stop;
	atomic_int ended;    /* threads that met the end of their connection */
	atomic_bool copying; /* MSG_TRUNC is not there, so bytes were copied */
	struct stream each[TRIAL_STREAMS_MAX];
};

/* Takes over the descriptors, also when it fails. Returns 0 or -errno. */
int streams_start(struct streams *streams, const struct trial_options *options, const int *fds);

/* Bytes moved so far, all streams. */
int64_t streams_bytes(struct streams *streams);

/* CPU time used and waited for by the threads so far (us). False where the kernel does not tell. */
bool streams_scheduling(const struct streams *streams, int64_t *ret_run_us, int64_t *ret_wait_us);

void streams_fds(const struct streams *streams, int *fds);

/* Forgets that the event was seen. */
void streams_acknowledge(const struct streams *streams);

const char *streams_method(const struct streams *streams);

/* Stops and joins the threads and closes (with a reset). The counters stay readable. */
void streams_stop(struct streams *streams);

#endif
