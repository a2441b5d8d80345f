#include "sample.h"

#include <math.h>
#include <stdlib.h>

void sample_init(struct sample *sample)
{
	*sample = (struct sample){
		.throughput_bps = NAN,
		.bytes = NAN,
		.seconds = NAN,
		.total_sent = NAN,
		.total_received = NAN,
		.retransmits = NAN,
		.rtt_us = NAN,
		.min_rtt_us = NAN,
		.loss_percent = NAN,
		.jitter_us = NAN,
		.busy_us = NAN,
		.rwnd_limited_us = NAN,
		.sndbuf_limited_us = NAN,
		.app_limited = NAN,
		.busy_share = NAN,
		.rwnd_limited_share = NAN,
		.sndbuf_limited_share = NAN,
		.elapsed_us = NAN,
		.reordering = NAN,
		.path_mtu = NAN,
		.mss = NAN,
		.send_buffer = NAN,
		.receive_buffer = NAN,
		.streams = NAN,
		.dscp = NAN,
		.pacing_bps = NAN,
		.sender_wait_us = NAN,
		.sender_run_us = NAN,
		.receiver_wait_us = NAN,
		.receiver_run_us = NAN,
		.udp = {.size = NAN,
			.packets = NAN,
			.lost = NAN,
			.duplicates = NAN,
			.reordered = NAN,
			.socket_drops = NAN,
			.packets_per_second = NAN,
			.jitter_p50_us = NAN,
			.jitter_p90_us = NAN,
			.jitter_p99_us = NAN,
			.jitter_max_us = NAN,
			.sent_packets = NAN,
			.sent_bps = NAN,
			.burst = NAN,
			.late = NAN,
			.refused = NAN},
	};
}

void sample_finish(struct sample *sample)
{
	for (size_t i = 0; sample->ways && i < SAMPLE_WAYS; i++)
		sample_finish(&sample->ways[i]);
	free(sample->ways);
	sample->ways = NULL;
	free(sample->intervals);
	sample->intervals = NULL;
	sample->interval_count = 0;
	free(sample->probes);
	sample->probes = NULL;
	sample->probe_count = 0;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

int sample_join(struct sample *ways, struct sample *ret, struct error *err)
{
	const struct sample *forward = &ways[SAMPLE_FORWARD], *reverse = &ways[SAMPLE_REVERSE];
	struct sample sample;

	sample_init(&sample);
	sample.ways = calloc(SAMPLE_WAYS, sizeof(*sample.ways));
	if (!sample.ways)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	sample.throughput_bps = forward->throughput_bps + reverse->throughput_bps;
	sample.bytes = forward->bytes + reverse->bytes;
	sample.seconds = larger(forward->seconds, reverse->seconds);
	sample.total_sent = forward->total_sent + reverse->total_sent;
	sample.total_received = forward->total_received + reverse->total_received;
	sample.retransmits = forward->retransmits + reverse->retransmits;
	sample.rtt_us = (forward->rtt_us + reverse->rtt_us) / 2;
	sample.min_rtt_us = -larger(-forward->min_rtt_us, -reverse->min_rtt_us);
	sample.sender_wait_us = forward->sender_wait_us + reverse->receiver_wait_us;
	sample.sender_run_us = forward->sender_run_us + reverse->receiver_run_us;
	sample.receiver_wait_us = forward->receiver_wait_us + reverse->sender_wait_us;
	sample.receiver_run_us = forward->receiver_run_us + reverse->sender_run_us;
	sample.device_bound = forward->device_bound && reverse->device_bound;
	for (size_t i = 0; i < SAMPLE_WAYS; i++)
		sample.ways[i] = ways[i];
	*ret = sample;
	return 0;
}

double sample_number(const struct wire_record *record, const char *key)
{
	int64_t value;

	if (!record || wire_record_number(record, key, &value) < 0)
		return NAN;
	return (double)value;
}

struct sample_latency sample_read_latency(const struct wire_record *record)
{
	return (struct sample_latency){
		.count = sample_number(record, "count"),
		.lost = sample_number(record, "lost"),
		.min_us = sample_number(record, "min_us"),
		.mean_us = sample_number(record, "mean_us"),
		.p50_us = sample_number(record, "p50_us"),
		.p90_us = sample_number(record, "p90_us"),
		.p99_us = sample_number(record, "p99_us"),
		.p999_us = sample_number(record, "p999_us"),
		.max_us = sample_number(record, "max_us"),
		.rate_per_second = sample_number(record, "rate_milli") / 1000,
	};
}
