#include "trial_side.h"

#include <string.h>

#include "clock.h"
#include "rendezvous.h"

enum {
	LOOK_US = 500000, /* how often the counters are looked at, for stalls and wrapping words */
	LOOKS_A_TRIAL = 10,  /* at least: a short trial's silence has to be seen, too */
	SILENCE_US = 500000, /* of a dead path; a live one is silent for 200 ms after a loss */
};

static bool counts_bytes(const struct trial_side *side)
{
	return side->options->bytes != TRIAL_UNSET;
}

/* The sender's own end, should it never see the receiver's. */
static int64_t run_limit(const struct trial_side *side)
{
	return side->begun_us + (side->options->duration_ms + side->options->stall_ms) * 1000;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t look_interval(const struct trial_side *side)
{
	return least(LOOK_US, side->options->duration_ms * 1000 / LOOKS_A_TRIAL);
}

int64_t side_deadline(const struct trial_side *side)
{
	int64_t next = least(run_limit(side), side->looked_us + look_interval(side));

	next = least(next, side->moved_us + side->options->stall_ms * 1000);
	/* A sender goes on until the reset; its boundaries end with the duration. */
	if (side->zero_us && !(side->sends && side->meter.count &&
				     meter_last(&side->meter)->at_us >= side->meter.duration_us))
		next = least(next, side->zero_us + meter_next_us(&side->meter));
	return next;
}

/*
 * What the sender put on its way. What was written is more by a full socket buffer (megabytes),
 * which the reset throws away: neither a rate nor the path proof may count it. Kernels before 4.19
 * do not tell; there it is what was written.
 */
static int64_t sent_bytes(const struct trial_side *side, const struct stream_info *info)
{
	int64_t greeting = side->options->listens ? RENDEZVOUS_ANSWER_SIZE : RENDEZVOUS_HELLO_SIZE;

	if (info->items[INFO_BYTES_SENT] == INFO_UNKNOWN ||
		info->items[INFO_BYTES_RETRANSMITTED] == INFO_UNKNOWN)
		return side->bytes;
	return info->items[INFO_BYTES_SENT] - info->items[INFO_BYTES_RETRANSMITTED] -
	       greeting * side->options->streams;
}

static void ask_kernel(const struct trial_side *side, struct stream_info *ret)
{
	int fds[TRIAL_STREAMS_MAX];

	streams_fds(&side->streams, fds);
	stream_info_read(fds, side->streams.count, ret);
}

static void take_sample(struct trial_side *side, int64_t now)
{
	struct meter_sample sample = {.at_us = now - side->zero_us, .bytes = side->bytes};

	if (side->sends) {
		ask_kernel(side, &sample.info);
		/* The threads may have begun before the first sample was taken. */
		sample.bytes = side->meter.count > 0 ? sent_bytes(side, &sample.info) : 0;
		if (sample.info.items[INFO_APP_LIMITED] > 0)
			side->app_limited++;
	}
	if (meter_add(&side->meter, &sample))
		side->scheduled = streams_scheduling(&side->streams, &side->run_us, &side->wait_us);
}

int side_start(
	struct trial_side *side, const struct trial_options *options, bool sends, const int *fds)
{
	memset(side, 0, sizeof(*side));
	side->options = options;
	side->sends = sends;
	/* Before the threads': a short count may be through before they have all been started. */
	side->begun_us = clock_now_us();
	int result = streams_start(&side->streams, options, sends, fds);

	if (result < 0)
		return result;
	side->running = true;
	result = meter_init(&side->meter, options->duration_ms * 1000, options->omit_ms * 1000,
		options->interval_ms * 1000);
	if (result < 0)
		return result;
	side->moved_us = side->begun_us;
	side->looked_us = side->begun_us;
	if (sends) {
		side->zero_us = side->begun_us;
		take_sample(side, side->zero_us);
	}
	return 0;
}

/* Ends the counting, then the threads. */
static enum side_state end_at(struct trial_side *side, int64_t now)
{
	int64_t run_us = 0, wait_us = 0;

	if (now - side->zero_us > meter_last(&side->meter)->at_us)
		take_sample(side, now);
	side->scheduled = streams_scheduling(&side->streams, &run_us, &wait_us) && side->scheduled;
	side->run_us = side->scheduled ? run_us - side->run_us : 0;
	side->wait_us = side->scheduled ? wait_us - side->wait_us : 0;
	side_stop(side);
	side->over = true;
	return SIDE_OVER;
}

static bool is_stalled(struct trial_side *side, int64_t now)
{
	struct stream_info info;

	if (now < side->moved_us + side->options->stall_ms * 1000)
		return false;
	if (!side->sends)
		return true;
	/* On a slow link one write may take longer than that: what counts is what arrives. */
	ask_kernel(side, &info);
	int64_t acked = info.items[INFO_BYTES_ACKED];
	bool moved = acked == INFO_UNKNOWN || acked != side->acked;

	side->acked = acked;
	if (moved)
		side->moved_us = now;
	return !moved;
}

static void look_at_counters(struct trial_side *side, int64_t now)
{
	int64_t bytes = streams_bytes(&side->streams);

	if (!side->zero_us && atomic_load(&side->streams.started)) {
		int64_t counted = side->bytes;

		side->zero_us = side->streams.first_us;
		side->bytes = 0;
		take_sample(side, side->zero_us);
		side->bytes = counted;
	}
	if (bytes != side->bytes)
		side->moved_us = now;
	side->bytes = bytes;
	side->silent_us = now - side->moved_us;
	side->looked_us = now;
}

/*
 * A path that died in the middle still has the bytes from before; their mean over the whole window
 * would be a low rate that was never there. Half of the window, and more than two retransmission
 * timers: leaving out the silences of a path that lives would flatter it.
 */
static bool died_before_the_end(const struct trial_side *side)
{
	int64_t window_us = (side->options->duration_ms - side->options->omit_ms) * 1000;

	return !side->sends && side->silent_us >= SILENCE_US && 2 * side->silent_us >= window_us;
}

/* The peer has closed. Too early it is a loss; else what was measured until then counts. */
static enum side_state meet_the_end(struct trial_side *side, int64_t now)
{
	int64_t elapsed = side->zero_us ? now - side->zero_us : 0;

	if (elapsed < side->options->duration_ms * 1000 / 2 ||
		elapsed <= side->options->omit_ms * 1000)
		return SIDE_LOST;
	return end_at(side, now);
}

/* The threads' word for when, which the loop's lateness is no part of. No count takes no time. */
static enum side_state end_with_threads(struct trial_side *side)
{
	int64_t ended_us = streams_ended_us(&side->streams);

	return end_at(side, ended_us > side->zero_us ? ended_us : side->zero_us + 1);
}

/* Every thread is at an orderly end, or one is at another. */
static enum side_state meet_the_count(struct trial_side *side, int ended, int64_t now)
{
	if (atomic_load(&side->streams.broken) > 0)
		return side->sends ? meet_the_end(side, now) : SIDE_LOST;
	if (ended < side->streams.count)
		return SIDE_RUNS;
	if (!side->sends && (side->bytes < side->options->bytes || !side->zero_us))
		return SIDE_TOO_LITTLE;
	return end_with_threads(side);
}

enum side_state side_advance(struct trial_side *side)
{
	streams_acknowledge(&side->streams);
	/* Asked before the bytes are: an end seen has all its bytes counted. */
	int ended = atomic_load(&side->streams.ended);
	int64_t now = clock_now_us();
	enum side_state state = SIDE_RUNS;

	look_at_counters(side, now);
	int64_t elapsed = side->zero_us ? now - side->zero_us : -1;

	if (counts_bytes(side) && !side->sends && side->bytes > side->options->bytes)
		return SIDE_TOO_MUCH;
	if (ended > 0 && counts_bytes(side))
		state = meet_the_count(side, ended, now);
	if (state != SIDE_RUNS)
		return state;
	if (side->sends ? now >= run_limit(side) : elapsed >= side->meter.duration_us)
		return died_before_the_end(side) ? SIDE_STALLED : end_at(side, now);
	if (ended > 0 && !counts_bytes(side))
		return meet_the_end(side, now);
	if (is_stalled(side, now))
		return SIDE_STALLED;
	if (elapsed >= 0 && meter_last(&side->meter)->at_us < side->meter.duration_us &&
		elapsed >= meter_next_us(&side->meter))
		take_sample(side, now);
	return SIDE_RUNS;
}

void side_stop(struct trial_side *side)
{
	if (side->running)
		streams_stop(&side->streams);
	side->running = false;
	side->lacks = atomic_load(&side->streams.lacks);
}

void side_finish(struct trial_side *side)
{
	side_stop(side);
	meter_finish(&side->meter);
}
