/*
 * What one trial measured, whatever engine measured it: plain numbers under common names. NaN means
 * "not known", never 0. Rates are bit/s, times seconds or microseconds as named.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "wire.h"

struct sample_interval {
	double start, end; /* seconds since the receiver's first byte */
	bool omitted;
	double bytes; /* by the receiver */
	/* by the sender, on its own clock: the same index, not the same instant */
	double retransmits, rtt_us, min_rtt_us, cwnd, delivery_bps;
};

/* Round trips, of a latency test or of probes beside a trial; NaN = not known. */
struct sample_latency {
	double count, lost; /* answers; questions that got none */
	double min_us, mean_us, p50_us, p90_us, p99_us, p999_us, max_us;
	double rate_per_second; /* answers a second; of `connect`: connections */
};

struct sample {
	double throughput_bps;		   /* receiver's goodput over the measured window */
	double bytes, seconds;		   /* of the measured window */
	double total_sent, total_received; /* bytes, omitted time included */
	double retransmits, rtt_us, min_rtt_us, loss_percent, jitter_us;
	double busy_us, rwnd_limited_us, sndbuf_limited_us, app_limited, elapsed_us;
	double reordering, path_mtu;
	double mss, send_buffer, receive_buffer;
	double sender_wait_us, sender_run_us, receiver_wait_us, receiver_run_us;
	char congestion[32], send_method[16], receive_method[16]; /* empty = not known */
	bool device_bound;					  /* both ends */
	bool is_latency;
	struct sample_latency latency; /* means nothing unless is_latency */
	struct sample_interval *intervals;
	size_t interval_count;
};

/* Everything unknown, no intervals. */
void sample_init(struct sample *sample);
void sample_finish(struct sample *sample);

/* From an asker's `ok` or `part` record (docs/wire.md, "Latency"); NULL: nothing is known. */
struct sample_latency sample_read_latency(const struct wire_record *record);

/* A number of a record, or NaN when it is absent or no number. */
double sample_number(const struct wire_record *record, const char *key);

#endif
