/* The agents' own latency test: docs/wire.md, "Latency". */
#include <math.h>
#include <string.h>

#include "engine_rows.h"
#include "native.h"

#define DEFAULT_SIZE 64 /* bytes of a question and of its answer */
#define PACKET_BYTES 40 /* the least that a new connection's packet holds */

/* What the shared keys say of it: one connection, and no series within a trial. */
static void write_end(const struct engine_trial *trial, bool listens, struct wire_writer *writer)
{
	struct topology_test test = *trial->test;
	struct engine_trial one = *trial;

	test.streams = 1;
	test.interval = 0;
	one.test = &test;
	native_write_end(&one, listens, "echo", writer);
	wire_writer_text(writer, "transport", test.transport ? test.transport : "udp");
	wire_writer_number(writer, "size", test.size > 0 ? test.size : DEFAULT_SIZE);
	if (trial->pace_ms > 0)
		wire_writer_number(writer, "pace_ms", trial->pace_ms);
	if (test.dscp >= 0)
		wire_writer_number(writer, "dscp", test.dscp);
}

static void echo_listen(const struct engine_trial *trial, struct wire_writer *writer)
{
	write_end(trial, true, writer);
}

static void echo_connect(const struct engine_trial *trial, const struct wire_record *ready,
	struct wire_writer *writer)
{
	const char *second = wire_record_text(ready, "port2");

	write_end(trial, false, writer);
	native_write_target(trial, ready, writer);
	if (second)
		wire_writer_text(writer, "to_port2", second);
}

static int echo_sample(const struct engine_answer *asker, const struct engine_answer *answerer,
	struct sample *ret, struct error *err)
{
	const struct wire_record *connected = native_find_record(asker, "connected");
	double size = sample_number(connected, "size"), answered;
	struct sample sample;

	sample_init(&sample);
	sample.is_latency = true;
	sample.latency = sample_read_latency(asker->final);
	if (!(sample.latency.count > 0) || isnan(sample.latency.p50_us))
		return error_set(err, ERROR_TRIAL, NULL, "no question was answered");
	/* For the path proof. What was asked in the omitted time is known to the answerer only. */
	answered = sample_number(answerer->final, "count");
	if (isnan(size))
		size = PACKET_BYTES;
	sample.total_received = answered * size;
	sample.total_sent = sample.total_received;
	sample.elapsed_us = sample_number(asker->final, "elapsed_us");
	sample.seconds = sample.elapsed_us / 1e6;
	sample.device_bound =
		sample_number(connected, "device_bound") > 0 &&
		sample_number(native_find_record(answerer, "connected"), "device_bound") > 0;
	*ret = sample;
	return 0;
}

const struct engine engine_native_echo = {
	.name = "native",
	.kind = TOPOLOGY_LATENCY,
	.listen_type = "listen",
	.ready_type = "listening",
	.connect_type = "connect",
	.listen = echo_listen,
	.connect = echo_connect,
	.sample = echo_sample,
};
