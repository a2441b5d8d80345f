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
		.elapsed_us = NAN,
		.reordering = NAN,
		.path_mtu = NAN,
		.mss = NAN,
		.send_buffer = NAN,
		.receive_buffer = NAN,
		.sender_wait_us = NAN,
		.sender_run_us = NAN,
		.receiver_wait_us = NAN,
		.receiver_run_us = NAN,
	};
}

void sample_finish(struct sample *sample)
{
	free(sample->intervals);
	sample->intervals = NULL;
	sample->interval_count = 0;
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
