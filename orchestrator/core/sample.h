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
	double packets, lost; /* udp, by the receiver */
};

/* Round trips, of a latency test or of probes beside a trial; NaN = not known. */
struct sample_latency {
	double count, lost; /* answers; questions that got none */
	double min_us, mean_us, p50_us, p90_us, p99_us, p999_us, max_us;
	double rate_per_second; /* answers a second; of `connect`: connections */
};

/* What a UDP test tells beyond throughput, loss and jitter: docs/wire.md, "UDP". */
struct sample_udp {
	bool given;
	double size;                                 /* payload bytes of a datagram */
	double packets, lost, duplicates, reordered; /* of the measured window, by number */
	double socket_drops; /* of lost: they found the receiver's buffer full */
	double packets_per_second;
	double jitter_p50_us, jitter_p90_us, jitter_p99_us, jitter_max_us;
	double sent_packets, sent_bps, burst, late, refused; /* by the sender */
};

/* One step of a search for the highest rate. */
struct sample_probe {
	double rate_bps; /* asked for */
	double throughput_bps, loss_percent;
	bool passed;
};

/* By topology_direction's order: forward, then reverse. */
enum { SAMPLE_FORWARD, SAMPLE_REVERSE, SAMPLE_WAYS };

struct sample {
	double throughput_bps;             /* receiver's goodput over the measured window */
	double bytes, seconds;             /* of the measured window */
	double total_sent, total_received; /* bytes, omitted time included */
	double retransmits, rtt_us, min_rtt_us, loss_percent, jitter_us;
	double busy_us, rwnd_limited_us, sndbuf_limited_us, app_limited, elapsed_us;
	/* of the sender's measured window, mean of its streams, 0..1 */
	double busy_share, rwnd_limited_share, sndbuf_limited_share;
	double reordering, path_mtu;
	double mss, send_buffer, receive_buffer, streams;
	double dscp, pacing_bps; /* as the sender's kernel took them */
	double sender_wait_us, sender_run_us, receiver_wait_us, receiver_run_us;
	char congestion[32], send_method[16], receive_method[16]; /* empty = not known */
	char send_fallbacks[64], receive_fallbacks[64];           /* what a kernel would not do */
	bool device_bound;                                        /* both ends */
	bool nodelay;
	bool is_latency;
	struct sample_latency latency; /* means nothing unless is_latency */
	struct sample_interval *intervals;
	size_t interval_count;
	/* Both directions at once: SAMPLE_WAYS samples of one way each, and the figures above are
	 * their sums (times: of the longer; rtt_us: of the two, the mean). NULL one way. */
	struct sample *ways;
	struct sample_udp udp;
	struct sample_probe *probes; /* NULL unless rates were searched */
	size_t probe_count;
};

/* Everything unknown, no intervals. */
void sample_init(struct sample *sample);
void sample_finish(struct sample *sample);

/* From an asker's `ok` or `part` record (docs/wire.md, "Latency"); NULL: nothing is known. */
struct sample_latency sample_read_latency(const struct wire_record *record);

/*
 * Joins the two ways of a trial, SAMPLE_FORWARD and SAMPLE_REVERSE. Takes their intervals over on
 * success. The hosts' figures: "sender" is the segment's near end.
 */
int sample_join(struct sample *ways, struct sample *ret, struct error *err);

/* A number of a record, or NaN when it is absent or no number. */
double sample_number(const struct wire_record *record, const char *key);

#endif
