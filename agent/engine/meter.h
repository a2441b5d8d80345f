/*
 * The time of a trial: samples of the cumulative counters at the interval boundaries, at the end of
 * the omitted time and at the end. Intervals are differences of neighbouring samples, so they add
 * up to the whole whatever the loop's delays were. Pure; the caller brings clock and counters.
 */
#ifndef METER_H
#define METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream_info.h"

struct meter_sample {
	int64_t at_us;           /* since the trial's time 0 */
	int64_t bytes;           /* since the trial's time 0 */
	struct stream_info info; /* tcp */
	int64_t packets, lost;   /* udp, since the trial's time 0 */
};

struct meter {
	int64_t omit_us, duration_us, interval_us; /* interval 0: only omit and end */
	struct meter_sample *samples;              /* the first is of time 0 */
	size_t count, capacity;
	size_t omit_sample; /* where the measured window begins */
};

/* Returns 0 or -ENOMEM. */
int meter_init(struct meter *meter, int64_t duration_us, int64_t omit_us, int64_t interval_us);
void meter_finish(struct meter *meter);

/* When the next sample is due; duration_us at the latest. */
int64_t meter_next_us(const struct meter *meter);

/* Adds a sample. Returns whether the measured window begins with it. */
bool meter_add(struct meter *meter, const struct meter_sample *sample);

const struct meter_sample *meter_last(const struct meter *meter);

/* The measured window so far, in us and bytes; 0 while time is still omitted. */
int64_t meter_window_us(const struct meter *meter);
int64_t meter_window_bytes(const struct meter *meter);

#endif
