/* The native engine's two requests and its parser, on answers as docs/wire.md has them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine.h"
#include "records.h"

static struct topology_test test_options(void)
{
	return (struct topology_test){
		.streams = 2, .omit = 200, .interval = 100, .dscp = 40, .window = 1 << 20};
}

static const struct binding near_end = {.family = 4, .address = "10.0.0.1", .device = "eth0"};
static const struct binding far_end = {.family = 4, .address = "10.0.0.2", .device = "br-lan"};

static void write_and_parse(const struct engine_trial *trial, bool listen,
	struct wire_writer *writer, struct wire_record *ret)
{
	static struct records ready;
	const char *const lines[] = {"5 listening port=40123", NULL};
	const struct engine *engine = engine_find("native", TOPOLOGY_TCP);

	records_parse(&ready, lines);
	wire_writer_begin(writer, 7, listen ? engine->listen_type : engine->connect_type);
	if (listen)
		engine->listen(trial, writer);
	else
		engine->connect(trial, ready.pointers[0], writer);
	assert_true(wire_writer_end(writer) > 0);
	writer->text[writer->length - 1] = '\0';
	assert_int_equal(wire_record_parse(writer->text, ret), 0);
}

static void test_requests(void **state)
{
	static struct wire_writer writer;
	static struct wire_record record;
	struct topology_test test = test_options();
	struct engine_trial trial = {.test = &test,
		.listener = &near_end,
		.connector = &far_end,
		.listener_sends = true,
		.duration_ms = 1000,
		.setup_ms = 5000,
		.token = "00112233445566778899aabbccddeeff"};

	(void)state;
	write_and_parse(&trial, true, &writer, &record);
	assert_string_equal(wire_record_text(&record, "role"), "send");
	assert_string_equal(wire_record_text(&record, "interface"), "eth0");
	assert_string_equal(wire_record_text(&record, "streams"), "2");
	assert_string_equal(wire_record_text(&record, "window"), "1048576");
	assert_string_equal(wire_record_text(&record, "dscp"), "40");
	assert_null(wire_record_text(&record, "mss"));
	write_and_parse(&trial, false, &writer, &record);
	assert_string_equal(wire_record_text(&record, "role"), "receive");
	assert_string_equal(wire_record_text(&record, "address"), "10.0.0.2");
	assert_string_equal(wire_record_text(&record, "to"), "10.0.0.1");
	assert_string_equal(wire_record_text(&record, "to_port"), "40123");
	assert_string_equal(wire_record_text(&record, "token"), trial.token);
	assert_null(wire_record_text(&record, "bytes"));
	assert_null(wire_record_text(&record, "nodelay"));
}

static void test_requests_of_both_ways(void **state)
{
	static struct wire_writer writer;
	static struct wire_record record;
	struct topology_test test = test_options();
	struct engine_trial trial = {.test = &test,
		.direction = TOPOLOGY_BIDIR,
		.listener = &near_end,
		.connector = &far_end,
		.duration_ms = 1000,
		.setup_ms = 5000,
		.token = "00112233445566778899aabbccddeeff"};

	(void)state;
	test.omit = 0;
	test.bytes = 5000000;
	test.nodelay = true;
	for (int listens = 0; listens < 2; listens++) {
		write_and_parse(&trial, listens, &writer, &record);
		assert_string_equal(wire_record_text(&record, "role"), "both");
		assert_string_equal(wire_record_text(&record, "bytes"), "5000000");
		assert_string_equal(wire_record_text(&record, "nodelay"), "1");
		assert_string_equal(wire_record_text(&record, "omit_ms"), "0");
	}
	/* A probe only connects. */
	trial.duration_ms = 0;
	write_and_parse(&trial, true, &writer, &record);
	assert_string_equal(wire_record_text(&record, "role"), "receive");
	assert_null(wire_record_text(&record, "bytes"));
}

/* Who listens is settled for all tests of a segment, so one test's options have no part in it. */
static void test_probe(void **state)
{
	static struct wire_writer writer;
	static struct wire_record record;
	static char nonsense[] = "nonsense";
	struct topology_test test = test_options();
	struct engine_trial trial = {.test = &test,
		.listener = &near_end,
		.connector = &far_end,
		.setup_ms = 5000,
		.token = "00112233445566778899aabbccddeeff"};

	(void)state;
	test.congestion = nonsense;
	test.mss = 1000;
	write_and_parse(&trial, true, &writer, &record);
	assert_string_equal(wire_record_text(&record, "duration_ms"), "0");
	assert_string_equal(wire_record_text(&record, "streams"), "1");
	assert_null(wire_record_text(&record, "congestion"));
	assert_null(wire_record_text(&record, "mss"));
	assert_null(wire_record_text(&record, "window"));
}

static int sample_from(const char *const *sender_lines, const char *const *receiver_lines,
	struct sample *sample, struct error *err)
{
	static struct records sender, receiver;

	records_parse(&sender, sender_lines);
	records_parse(&receiver, receiver_lines);
	return engine_find("native", TOPOLOGY_TCP)
		->sample(&(struct engine_answer){sender.pointers, sender.count - 1,
				 sender.pointers[sender.count - 1]},
			&(struct engine_answer){receiver.pointers, receiver.count - 1,
				receiver.pointers[receiver.count - 1]},
			sample, err);
}

static void test_sample(void **state)
{
	const char *const sender[] = {"3 connected mss=1448 congestion=cubic send_buffer=87040 "
				      "receive_buffer=131072 device_bound=1",
		"3 interval index=0 start_us=0 end_us=100000 omitted=1 bytes=9 retransmits=2 "
		"rtt_us=900",
		"3 interval index=7 start_us=0 end_us=100000 omitted=1 bytes=9 retransmits=2",
		"3 ok bytes=9 total_bytes=1300000 elapsed_us=1000500 retransmits=5 rtt_us=800 "
		"busy_us=990000 method=write",
		NULL};
	const char *const receiver[] = {"4 connected mss=1448 congestion=cubic send_buffer=1 "
					"receive_buffer=131072 device_bound=0",
		"4 interval index=0 start_us=0 end_us=100000 omitted=1 bytes=120000",
		"4 interval index=1 start_us=100000 end_us=1000000 omitted=0 bytes=1000000",
		"4 ok bytes=1000000 window_us=800000 total_bytes=1120000 elapsed_us=1000000 "
		"method=recv_trunc",
		NULL};
	struct sample sample;

	(void)state;
	assert_int_equal(sample_from(sender, receiver, &sample, NULL), 0);
	assert_true(fabs(sample.throughput_bps - 1e6 * 8 / .8) < 1e-6);
	assert_true(sample.total_sent == 1300000 && sample.total_received == 1120000);
	assert_true(sample.retransmits == 5 && isnan(sample.min_rtt_us));
	assert_int_equal(sample.interval_count, 2);
	assert_true(sample.intervals[0].omitted && !sample.intervals[1].omitted);
	assert_true(sample.intervals[0].retransmits == 2 && isnan(sample.intervals[1].retransmits));
	assert_false(sample.device_bound);
	assert_string_equal(sample.receive_method, "recv_trunc");
	assert_string_equal(sample.congestion, "cubic");
	sample_finish(&sample);
}

/* Two streams, 1 s measured: 500 of 2000 ms busy is a quarter. */
static void test_shares_and_grants(void **state)
{
	const char *const sender[] = {
		"3 connected streams=2 mss=988 nodelay=1 dscp=46 pacing=80000000",
		"3 ok bytes=9 window_us=1000000 total_bytes=1300000 busy_us=500000 "
		"rwnd_limited_us=200000 sndbuf_limited_us=0 method=write fallbacks=memfd,sendfile",
		NULL};
	const char *const receiver[] = {
		"4 ok bytes=1000000 window_us=900000 total_bytes=1000000 method=recv "
		"fallbacks=recv_trunc",
		NULL};
	struct sample sample;

	(void)state;
	assert_int_equal(sample_from(sender, receiver, &sample, NULL), 0);
	assert_true(fabs(sample.busy_share - .25) < 1e-9);
	assert_true(fabs(sample.rwnd_limited_share - .1) < 1e-9);
	assert_true(sample.sndbuf_limited_share == 0);
	assert_true(sample.dscp == 46 && sample.pacing_bps == 80e6 && sample.nodelay);
	assert_string_equal(sample.send_fallbacks, "memfd,sendfile");
	assert_string_equal(sample.receive_fallbacks, "recv_trunc");
	assert_null(sample.ways);
	sample_finish(&sample);
}

static const char *const near_both[] = {"3 connected streams=1 congestion=reno",
	"3 interval side=send index=0 start_us=0 end_us=500000 omitted=0 bytes=1 rtt_us=70",
	"3 interval side=receive index=0 start_us=0 end_us=250000 omitted=1 bytes=20",
	"3 interval side=receive index=1 start_us=250000 end_us=500000 omitted=0 bytes=2000000",
	"3 side side=send bytes=9 window_us=500000 total_bytes=1100000 retransmits=3 rtt_us=400 "
	"min_rtt_us=50 run_us=1",
	"3 side side=receive bytes=2000000 window_us=250000 total_bytes=2000020 run_us=20",
	"3 ok bytes=2000000 window_us=250000", NULL};
static const char *const far_both[] = {"4 connected streams=1 congestion=cubic",
	"4 interval side=send index=1 start_us=0 end_us=1 omitted=0 bytes=7 rtt_us=90",
	"4 interval side=receive index=0 start_us=0 end_us=500000 omitted=0 bytes=1000000",
	"4 side side=send bytes=9 window_us=500000 total_bytes=2200000 retransmits=4 rtt_us=600 "
	"min_rtt_us=40 run_us=300",
	"4 side side=receive bytes=1000000 window_us=500000 total_bytes=1000000 run_us=4000",
	"4 ok bytes=1000000 window_us=500000", NULL};

/* Each way is what its own receiver counted, and the whole their sum. */
static void test_both_ways(void **state)
{
	const struct sample *forward, *reverse;
	struct sample sample;

	(void)state;
	assert_int_equal(sample_from(near_both, far_both, &sample, NULL), 0);
	assert_non_null(sample.ways);
	forward = &sample.ways[SAMPLE_FORWARD];
	reverse = &sample.ways[SAMPLE_REVERSE];
	assert_true(fabs(forward->throughput_bps - 1e6 * 8 / .5) < 1e-6);
	assert_true(fabs(reverse->throughput_bps - 2e6 * 8 / .25) < 1e-6);
	assert_true(fabs(sample.throughput_bps - 16e6 - 64e6) < 1e-6);
	assert_true(sample.bytes == 3000000 && sample.seconds == .5);
	assert_true(sample.total_sent == 3300000 && sample.total_received == 3000020);
	assert_true(sample.retransmits == 7 && sample.rtt_us == 500 && sample.min_rtt_us == 40);
	/* The near host's threads sent forward and received in reverse. */
	assert_true(sample.sender_run_us == 21 && sample.receiver_run_us == 4300);
	assert_int_equal(forward->interval_count, 1);
	assert_true(forward->intervals[0].rtt_us == 70);
	assert_int_equal(reverse->interval_count, 2);
	assert_true(reverse->intervals[0].omitted && reverse->intervals[1].rtt_us == 90);
	assert_string_equal(forward->congestion, "reno");
	assert_string_equal(reverse->congestion, "cubic");
	sample_finish(&sample);
}

/* One direction without a figure, or without a word, is no sample. */
static void test_half_of_both(void **state)
{
	const char *lines[8];
	struct sample sample;
	struct error err = {0};

	(void)state;
	memcpy(lines, near_both, sizeof(near_both));
	lines[5] = "3 side side=receive bytes=0 window_us=250000 total_bytes=0";
	assert_int_equal(sample_from(lines, far_both, &sample, &err), -1);
	assert_int_equal(err.code, ERROR_TRIAL);
	lines[5] = "3 progress bytes=1";
	assert_int_equal(sample_from(lines, far_both, &sample, &err), -1);
	assert_int_equal(err.code, ERROR_TRIAL);
}

/* Nothing received is a failure with a cause, never a sample of 0; nor is a hostile number one. */
static void test_no_sample(void **state)
{
	const char *const sender[] = {"3 ok bytes=9 total_bytes=9", NULL};
	const char *const finals[] = {"4 ok bytes=0 window_us=800000",
		"4 ok bytes=1000 window_us=0", "4 ok bytes=-5 window_us=800000",
		"4 ok bytes=1e3 window_us=800000", "4 ok"};

	(void)state;
	for (size_t i = 0; i < sizeof(finals) / sizeof(finals[0]); i++) {
		const char *const receiver[] = {finals[i], NULL};
		struct sample sample;
		struct error err = {0};

		assert_int_equal(sample_from(sender, receiver, &sample, &err), -1);
		assert_int_equal(err.code, ERROR_TRIAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_requests_of_both_ways),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_shares_and_grants),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_half_of_both),
		cmocka_unit_test(test_no_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
