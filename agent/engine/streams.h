/*
 * The data threads of one direction of a trial, one a stream. They only move bytes and count them;
 * clocks, samples and decisions are the loop's. A thread never outlives streams_stop().
 */
#ifndef STREAMS_H
#define STREAMS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "payload.h"
#include "trial_options.h"

struct streams;

struct stream {
	struct streams *all;
	int fd;
	int pipe[2];   /* of splice; -1 without */
	int64_t quota; /* bytes to send; 0 = until the end */
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
	int64_t ended_us;
	atomic_bool finished; /* the four above stand */
};

/* What the kernel would not do, as bits of streams.lacks. */
enum streams_lack {
	STREAMS_LACK_MEMFD = 1,
	STREAMS_LACK_SENDFILE = 2,
	STREAMS_LACK_RECV_TRUNC = 4,
	STREAMS_LACK_PIPE = 8, /* of STREAMS_PIPE_SIZE */
	STREAMS_LACK_SPLICE = 16,
};

enum {
	/* What an unprivileged process may have; a page fills a slot of 4 KiB. */
	STREAMS_PIPE_SIZE = 1 << 20,
	STREAMS_PIECES_MAX = 256, /* of PAYLOAD_PIECE a call */
};

struct streams {
	bool sends;
	bool at_once;             /* nodelay: no segment waits for the next call's bytes */
	enum trial_method method; /* to be tried; lacks says whether it worked */
	int count;
	int event;         /* readable after the first byte, and after a thread's end */
	char *bytes;       /* a sender's, see payload_map() */
	int file;          /* of sendfile; -1 without */
	size_t block_size; /* of a call; write_size: of one that copies from memory */
	size_t write_size;
	int64_t bytes_wanted;         /* of all streams together; 0 = no bound */
	int64_t total;                /* bytes as of the last streams_bytes() */
	int64_t first_us;             /* valid once started */
	atomic_bool claimed, started; /* the first byte came */
	atomic_bool stop;
	atomic_int ended;  /* threads that met the end of their connection */
	atomic_int broken; /* those of them that did not come to an orderly end */
	atomic_uint lacks;
	struct stream each[TRIAL_STREAMS_MAX];
};

/* Takes over the descriptors, also when it fails. Returns 0 or -errno. */
int streams_start(
	struct streams *streams, const struct trial_options *options, bool sends, const int *fds);

/* Bytes moved so far, all streams. */
int64_t streams_bytes(struct streams *streams);

/* When the last thread ended; only when all have. */
int64_t streams_ended_us(const struct streams *streams);

/* CPU time used and waited for by the threads so far (us). False where the kernel does not tell. */
bool streams_scheduling(const struct streams *streams, int64_t *ret_run_us, int64_t *ret_wait_us);

void streams_fds(const struct streams *streams, int *fds);

/* Forgets that the event was seen. */
void streams_acknowledge(const struct streams *streams);

/* How the bytes were moved: splice, sendfile, write, recv_trunc or recv. */
const char *streams_method(const struct streams *streams);

/* Stops and joins the threads and closes (with a reset). The counters stay readable. */
void streams_stop(struct streams *streams);

/* A thread's work, in stream_send.c and stream_receive.c. True after an orderly end, which only a
 * trial by bytes has. */
bool stream_send(struct stream *stream);
bool stream_receive(struct stream *stream);

static inline void stream_count(struct stream *stream, size_t size)
{
	atomic_fetch_add_explicit(&stream->bytes, size, memory_order_relaxed);
}

static inline bool stream_stopped(struct stream *stream)
{
	return atomic_load_explicit(&stream->all->stop, memory_order_relaxed);
}

/* Wakes the loop. */
void streams_announce(const struct streams *streams);

#endif
