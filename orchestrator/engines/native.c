#include "native.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *role_of(const struct engine_trial *trial, bool listens)
{
	if (trial->direction == TOPOLOGY_BIDIR && trial->duration_ms > 0)
		return "both";
	return listens == trial->listener_sends ? "send" : "receive";
}

void native_write_end(const struct engine_trial *trial, bool listens, const char *test,
	struct wire_writer *writer)
{
	const struct binding *end = listens ? trial->listener : trial->connector;
	bool probe = trial->duration_ms == 0;

	wire_writer_text(writer, "test", test);
	wire_writer_text(writer, "role", role_of(trial, listens));
	wire_writer_text(writer, "token", trial->token);
	wire_writer_number(writer, "family", end->family);
	wire_writer_text(writer, "address", end->address);
	wire_writer_text(writer, "interface", end->device);
	wire_writer_number(writer, "streams", probe ? 1 : trial->test->streams);
	wire_writer_number(writer, "duration_ms", trial->duration_ms);
	wire_writer_number(writer, "omit_ms", probe || trial->test->bytes ? 0 : trial->test->omit);
	wire_writer_number(writer, "interval_ms", probe ? 0 : trial->test->interval);
	wire_writer_number(writer, "setup_ms", trial->setup_ms);
	wire_writer_number(writer, "stall_ms", ENGINE_STALL_MS);
	if (listens) {
		wire_writer_number(writer, "port", trial->test->port_first);
		wire_writer_number(writer, "port_last", trial->test->port_last);
	}
}

void native_write_target(const struct engine_trial *trial, const struct wire_record *ready,
	struct wire_writer *writer)
{
	const char *port = wire_record_text(ready, "port");
	char to[FACTS_ADDRESS_MAX];

	wire_writer_text(writer, "to", binding_address_from(trial->listener, trial->connector, to));
	wire_writer_text(writer, "to_port", port ? port : "0");
}

const struct wire_record *native_find_record(const struct engine_answer *answer, const char *type)
{
	for (size_t i = 0; i < answer->count; i++) {
		if (!strcmp(answer->records[i]->type, type))
			return answer->records[i];
	}
	return NULL;
}

void native_read_text(const struct wire_record *record, const char *key, char *buffer, size_t size)
{
	const char *text = record ? wire_record_text(record, key) : NULL;

	snprintf(buffer, size, "%s", text ? text : "");
}

void native_read_numbers(const struct native_number *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*numbers[i].value = sample_number(numbers[i].record, numbers[i].key);
}

void native_read_finals(
	const struct wire_record *sent, const struct wire_record *received, struct sample *sample)
{
	const struct native_number numbers[] = {
		{&sample->bytes, received, "bytes"},
		{&sample->total_received, received, "total_bytes"},
		{&sample->total_sent, sent, "total_bytes"},
		{&sample->elapsed_us, sent, "elapsed_us"},
		{&sample->sender_wait_us, sent, "wait_us"},
		{&sample->sender_run_us, sent, "run_us"},
		{&sample->receiver_wait_us, received, "wait_us"},
		{&sample->receiver_run_us, received, "run_us"},
	};

	native_read_numbers(numbers, sizeof(numbers) / sizeof(numbers[0]));
	sample->seconds = sample_number(received, "window_us") / 1e6;
	native_read_text(sent, "method", sample->send_method, sizeof(sample->send_method));
	native_read_text(
		received, "method", sample->receive_method, sizeof(sample->receive_method));
	native_read_text(sent, "fallbacks", sample->send_fallbacks, sizeof(sample->send_fallbacks));
	native_read_text(received, "fallbacks", sample->receive_fallbacks,
		sizeof(sample->receive_fallbacks));
}

void native_read_ends(const struct engine_answer *sender, const struct engine_answer *receiver,
	struct sample *sample)
{
	const struct wire_record *sent = native_find_record(sender, "connected");
	const struct wire_record *received = native_find_record(receiver, "connected");

	sample->send_buffer = sample_number(sent, "send_buffer");
	sample->receive_buffer = sample_number(received, "receive_buffer");
	sample->device_bound = sample_number(sent, "device_bound") > 0 &&
			       sample_number(received, "device_bound") > 0;
}

struct sample_interval native_read_interval(const struct wire_record *record)
{
	return (struct sample_interval){
		.start = sample_number(record, "start_us") / 1e6,
		.end = sample_number(record, "end_us") / 1e6,
		.omitted = sample_number(record, "omitted") > 0,
		.bytes = sample_number(record, "bytes"),
		.retransmits = NAN,
		.rtt_us = NAN,
		.min_rtt_us = NAN,
		.cwnd = NAN,
		.delivery_bps = NAN,
		.packets = sample_number(record, "packets"),
		.lost = sample_number(record, "lost"),
	};
}
