/* The agents' own TCP test: docs/wire.md, "listen and connect". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_rows.h"
#include "native.h"

/* A probe is to connect whatever the options are: their failure is a trial's. */
static void write_options(const struct engine_trial *trial, struct wire_writer *writer)
{
	const struct topology_test *test = trial->test;
	const struct {
		const char *key;
		int64_t value;
	} numbers[] = {
		{"block", test->block},
		{"window", test->window},
		{"mss", test->mss},
		{"pacing", test->pacing},
		{"bytes", test->bytes},
		{"nodelay", test->nodelay},
	};

	if (trial->duration_ms == 0)
		return;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].value > 0)
			wire_writer_number(writer, numbers[i].key, numbers[i].value);
	}
	if (test->dscp >= 0)
		wire_writer_number(writer, "dscp", test->dscp);
	if (test->congestion)
		wire_writer_text(writer, "congestion", test->congestion);
}

static void native_listen(const struct engine_trial *trial, struct wire_writer *writer)
{
	native_write_end(trial, true, "tcp", writer);
	write_options(trial, writer);
}

static void native_connect(const struct engine_trial *trial, const struct wire_record *ready,
	struct wire_writer *writer)
{
	native_write_end(trial, false, "tcp", writer);
	write_options(trial, writer);
	native_write_target(trial, ready, writer);
}

static void read_sender_interval(const struct wire_record *record, struct sample *sample)
{
	double index = sample_number(record, "index");
	struct sample_interval *interval;

	if (!(index >= 0) || index >= (double)sample->interval_count)
		return;
	interval = &sample->intervals[(size_t)index];
	interval->retransmits = sample_number(record, "retransmits");
	interval->rtt_us = sample_number(record, "rtt_us");
	interval->min_rtt_us = sample_number(record, "min_rtt_us");
	interval->cwnd = sample_number(record, "cwnd");
	interval->delivery_bps = sample_number(record, "delivery_bps");
}

/* One direction of a trial: its two ends, and their final words about it. */
struct way {
	const struct engine_answer *sender, *receiver;
	const struct wire_record *sent, *received;
};

/* An interval of that side; a trial of one direction does not name sides. */
static bool is_interval(const struct wire_record *record, const char *side)
{
	const char *own = wire_record_text(record, "side");

	return !strcmp(record->type, "interval") && (!own || !strcmp(own, side));
}

static int read_intervals(const struct way *way, struct sample *sample, struct error *err)
{
	const struct engine_answer *sender = way->sender, *receiver = way->receiver;

	sample->intervals = calloc(receiver->count + 1, sizeof(*sample->intervals));
	if (!sample->intervals)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	for (size_t i = 0; i < receiver->count; i++) {
		if (is_interval(receiver->records[i], "receive"))
			sample->intervals[sample->interval_count++] =
				native_read_interval(receiver->records[i]);
	}
	for (size_t i = 0; i < sender->count; i++) {
		if (is_interval(sender->records[i], "send"))
			read_sender_interval(sender->records[i], sample);
	}
	return 0;
}

/* What TCP_INFO told the sender. */
static void read_finals(const struct way *way, struct sample *sample)
{
	const struct native_number numbers[] = {
		{&sample->retransmits, way->sent, "retransmits"},
		{&sample->rtt_us, way->sent, "rtt_us"},
		{&sample->min_rtt_us, way->sent, "min_rtt_us"},
		{&sample->busy_us, way->sent, "busy_us"},
		{&sample->rwnd_limited_us, way->sent, "rwnd_limited_us"},
		{&sample->sndbuf_limited_us, way->sent, "sndbuf_limited_us"},
		{&sample->app_limited, way->sent, "app_limited"},
		{&sample->reordering, way->sent, "reordering"},
		{&sample->path_mtu, way->sent, "path_mtu"},
	};

	native_read_finals(way->sent, way->received, sample);
	native_read_numbers(numbers, sizeof(numbers) / sizeof(numbers[0]));
}

static void read_connected(const struct way *way, struct sample *sample)
{
	const struct wire_record *sent = native_find_record(way->sender, "connected");

	native_read_ends(way->sender, way->receiver, sample);
	sample->mss = sample_number(sent, "mss");
	sample->streams = sample_number(sent, "streams");
	sample->dscp = sample_number(sent, "dscp");
	sample->pacing_bps = sample_number(sent, "pacing");
	sample->nodelay = sample_number(sent, "nodelay") > 0;
	native_read_text(sent, "congestion", sample->congestion, sizeof(sample->congestion));
}

/* The kernel's times are sums over the streams. */
static void set_shares(const struct way *way, struct sample *sample)
{
	double whole = sample_number(way->sent, "window_us") * sample->streams;

	if (!(whole > 0))
		return;
	sample->busy_share = sample->busy_us / whole;
	sample->rwnd_limited_share = sample->rwnd_limited_us / whole;
	sample->sndbuf_limited_share = sample->sndbuf_limited_us / whole;
}

static int sample_way(const struct way *way, struct sample *ret, struct error *err)
{
	struct sample sample;

	sample_init(&sample);
	read_finals(way, &sample);
	/* A path that moves nothing is a failure with a cause, never a sample of 0. */
	if (!(sample.bytes > 0) || !(sample.seconds > 0))
		return error_set(err, ERROR_TRIAL, NULL,
			"the receiver counted no bytes in the measured window");
	sample.throughput_bps = sample.bytes * 8 / sample.seconds;
	read_connected(way, &sample);
	set_shares(way, &sample);
	if (read_intervals(way, &sample, err) < 0)
		return -1;
	*ret = sample;
	return 0;
}

/* What an end says of its sending or receiving side; NULL when it ran one way. */
static const struct wire_record *find_side(const struct engine_answer *answer, const char *side)
{
	for (size_t i = 0; i < answer->count; i++) {
		const char *own = wire_record_text(answer->records[i], "side");

		if (!strcmp(answer->records[i]->type, "side") && own && !strcmp(own, side))
			return answer->records[i];
	}
	return NULL;
}

static int sample_both(const struct way ways[SAMPLE_WAYS], struct sample *ret, struct error *err)
{
	struct sample samples[SAMPLE_WAYS] = {0};
	int result = 0;

	for (size_t i = 0; i < SAMPLE_WAYS && result == 0; i++)
		result = sample_way(&ways[i], &samples[i], err);
	if (result == 0)
		result = sample_join(samples, ret, err);
	for (size_t i = 0; i < SAMPLE_WAYS && result < 0; i++)
		sample_finish(&samples[i]);
	return result;
}

static int native_sample(const struct engine_answer *sender, const struct engine_answer *receiver,
	struct sample *ret, struct error *err)
{
	const struct way ways[SAMPLE_WAYS] = {
		{sender, receiver, find_side(sender, "send"), find_side(receiver, "receive")},
		{receiver, sender, find_side(receiver, "send"), find_side(sender, "receive")},
	};
	const struct way only = {sender, receiver, sender->final, receiver->final};

	if (!ways[0].sent && !ways[1].sent)
		return sample_way(&only, ret, err);
	if (!ways[0].sent || !ways[0].received || !ways[1].sent || !ways[1].received)
		return error_set(err, ERROR_TRIAL, NULL, "an end told of one direction only");
	return sample_both(ways, ret, err);
}

const struct engine engine_native_tcp = {
	.name = "native",
	.kind = TOPOLOGY_TCP,
	.listen_type = "listen",
	.ready_type = "listening",
	.connect_type = "connect",
	.listen = native_listen,
	.connect = native_connect,
	.sample = native_sample,
};
