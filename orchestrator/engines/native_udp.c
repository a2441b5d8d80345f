/* The agents' own UDP test: docs/wire.md, "UDP". */
#include <stdlib.h>
#include <string.h>

#include "engine_rows.h"
#include "native.h"

/* The largest payload that fits an MTU of 1500: 20 or 40 bytes of IP, 8 of UDP. */
#define SIZE_4 1472
#define SIZE_6 1452

static int64_t datagram_size(const struct engine_trial *trial)
{
	if (trial->test->size)
		return trial->test->size;
	return trial->listener->family == 6 ? SIZE_6 : SIZE_4;
}

static void write_options(const struct engine_trial *trial, struct wire_writer *writer)
{
	const struct topology_test *test = trial->test;

	wire_writer_number(writer, "size", datagram_size(trial));
	wire_writer_number(writer, "rate", test->rate);
	if (trial->duration_ms == 0)
		return;
	if (test->window > 0)
		wire_writer_number(writer, "window", test->window);
	if (test->dscp >= 0)
		wire_writer_number(writer, "dscp", test->dscp);
}

static void udp_listen(const struct engine_trial *trial, struct wire_writer *writer)
{
	native_write_end(trial, true, "udp", writer);
	write_options(trial, writer);
}

static void udp_connect(const struct engine_trial *trial, const struct wire_record *ready,
	struct wire_writer *writer)
{
	native_write_end(trial, false, "udp", writer);
	write_options(trial, writer);
	native_write_target(trial, ready, writer);
}

static int read_intervals(
	const struct engine_answer *receiver, struct sample *sample, struct error *err)
{
	sample->intervals = calloc(receiver->count + 1, sizeof(*sample->intervals));
	if (!sample->intervals)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	for (size_t i = 0; i < receiver->count; i++) {
		const struct wire_record *record = receiver->records[i];

		if (strcmp(record->type, "interval") != 0)
			continue;
		sample->intervals[sample->interval_count++] = native_read_interval(record);
	}
	return 0;
}

static void read_finals(
	const struct wire_record *sent, const struct wire_record *received, struct sample *sample)
{
	struct sample_udp *udp = &sample->udp;
	const struct native_number numbers[] = {
		{&sample->jitter_us, received, "jitter_us"},
		{&udp->packets, received, "packets"},
		{&udp->lost, received, "lost"},
		{&udp->duplicates, received, "duplicates"},
		{&udp->reordered, received, "reordered"},
		{&udp->socket_drops, received, "socket_drops"},
		{&udp->jitter_p50_us, received, "jitter_p50_us"},
		{&udp->jitter_p90_us, received, "jitter_p90_us"},
		{&udp->jitter_p99_us, received, "jitter_p99_us"},
		{&udp->jitter_max_us, received, "jitter_max_us"},
		{&udp->sent_packets, sent, "packets"},
		{&udp->burst, sent, "burst"},
		{&udp->late, sent, "late"},
		{&udp->refused, sent, "refused"},
	};

	native_read_finals(sent, received, sample);
	native_read_numbers(numbers, sizeof(numbers) / sizeof(numbers[0]));
}

/* What follows from the numbers that were told. */
static void derive(const struct wire_record *sent, struct sample *sample)
{
	struct sample_udp *udp = &sample->udp;
	double window_us = sample_number(sent, "window_us");

	sample->throughput_bps = sample->bytes * 8 / sample->seconds;
	if (udp->packets >= 0 && udp->lost >= 0 && udp->packets + udp->lost > 0)
		sample->loss_percent = 100 * udp->lost / (udp->packets + udp->lost);
	if (udp->sent_packets > 0)
		udp->size = sample->total_sent / udp->sent_packets;
	udp->packets_per_second = sample->throughput_bps / 8 / udp->size;
	if (window_us > 0)
		udp->sent_bps = sample_number(sent, "bytes") * 8 / (window_us / 1e6);
}

static int udp_sample(const struct engine_answer *sender, const struct engine_answer *receiver,
	struct sample *ret, struct error *err)
{
	struct sample sample;

	sample_init(&sample);
	sample.udp.given = true;
	read_finals(sender->final, receiver->final, &sample);
	/* A path that moves nothing is a failure with a cause, never a sample of 0. */
	if (!(sample.bytes > 0) || !(sample.seconds > 0))
		return error_set(err, ERROR_TRIAL, NULL,
			"the receiver counted no datagram in the measured window");
	derive(sender->final, &sample);
	native_read_ends(sender, receiver, &sample);
	if (read_intervals(receiver, &sample, err) < 0)
		return -1;
	*ret = sample;
	return 0;
}

const struct engine engine_native_udp = {
	.name = "native",
	.kind = TOPOLOGY_UDP,
	.listen_type = "listen",
	.ready_type = "listening",
	.connect_type = "connect",
	.listen = udp_listen,
	.connect = udp_connect,
	.sample = udp_sample,
};
