/*
 * One direction of a trial at one of its ends: the threads, the clock and the samples. A trial has
 * one, or with role=both one of each kind.
 */
#ifndef TRIAL_SIDE_H
#define TRIAL_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "meter.h"
#include "streams.h"
#include "trial_options.h"

struct trial_side {
	const struct trial_options *options;
	bool sends;
	bool running; /* its threads are */
	bool over;    /* measured; the figures stand */
	struct streams streams;
	struct meter meter;
	int64_t begun_us; /* all streams stood */
	int64_t zero_us;  /* time 0; 0 until the receiver has the first byte */
	int64_t moved_us; /* when bytes were last seen to move */
	int64_t looked_us;
	int64_t silent_us; /* how long no byte has moved, as of the last look */
	int64_t bytes, acked;
	int64_t app_limited; /* samples in which the sender was limited by us */
	bool scheduled;      /* the two below are known */
	int64_t run_us, wait_us;
	unsigned int lacks;
};

enum side_state {
	SIDE_RUNS,
	SIDE_OVER,
	SIDE_LOST,      /* the peer closed before half of the time */
	SIDE_STALLED,   /* no byte moved for stall_ms, or in the end of the trial */
	SIDE_TOO_MUCH,  /* more bytes came than bytes= */
	SIDE_TOO_LITTLE /* the peer ended before bytes= */
};

/* Takes over the descriptors, also when it fails. Returns 0 or -errno. */
int side_start(
	struct trial_side *side, const struct trial_options *options, bool sends, const int *fds);

/* Whether it is to be waited for, when it wants to be advanced at the latest (monotonic us). */
int64_t side_deadline(const struct trial_side *side);

/* Looks at the counters, takes the samples that are due. Not to be called when over. */
enum side_state side_advance(struct trial_side *side);

/* Stops its threads and closes its connections. */
void side_stop(struct trial_side *side);

/* Takes a side that was never started, too. */
void side_finish(struct trial_side *side);

#endif
