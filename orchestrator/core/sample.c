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
	free(sample->intervals);
	sample->intervals = NULL;
	sample->interval_count = 0;
	free(sample->probes);
	sample->probes = NULL;
	sample->probe_count = 0;
}

double sample_number(const struct wire_record *record, const char *key)
{
	int64_t value;

	if (!record || wire_record_number(record, key, &value) < 0)
		return NAN;
	return (double)value;
}
