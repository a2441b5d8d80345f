/* The native engine's UDP row: its requests and its parser, on answers as docs/wire.md has them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine.h"
#include "records.h"

static const struct binding near_end = {.family = 4, .address = "10.0.0.1", .device = "eth0"};
static const struct binding near_end_6 = {.family = 6, .address = "fd00::1", .device = "eth0"};

static const char *listen_value(const struct topology_test *test, const struct binding *end,
	const char *key, struct wire_writer *writer)
{
	static struct wire_record record;
	const struct engine *engine = engine_find("native", TOPOLOGY_UDP);
	struct engine_trial trial = {.test = test,
		.listener = end,
		.connector = end,
		.duration_ms = 1000,
		.setup_ms = 5000,
		.token = "00112233445566778899aabbccddeeff"};

	assert_non_null(engine);
	wire_writer_begin(writer, 7, engine->listen_type);
	engine->listen(&trial, writer);
	assert_true(wire_writer_end(writer) > 0);
	writer->text[writer->length - 1] = '\0';
	assert_int_equal(wire_record_parse(writer->text, &record), 0);
	return wire_record_text(&record, key);
}

static void test_requests(void **state)
{
	static struct wire_writer writer;
	struct topology_test test = {.streams = 1, .dscp = -1, .rate = 20000000};

	(void)state;
	assert_string_equal(listen_value(&test, &near_end, "test", &writer), "udp");
	assert_string_equal(listen_value(&test, &near_end, "rate", &writer), "20000000");
	assert_null(listen_value(&test, &near_end, "dscp", &writer));
	/* An MTU of 1500 less 20 or 40 bytes of IP and 8 of UDP. */
	assert_string_equal(listen_value(&test, &near_end, "size", &writer), "1472");
	assert_string_equal(listen_value(&test, &near_end_6, "size", &writer), "1452");
	test.size = 64;
	test.dscp = 46;
	assert_string_equal(listen_value(&test, &near_end_6, "size", &writer), "64");
	assert_string_equal(listen_value(&test, &near_end, "dscp", &writer), "46");
}

static int sample_from(const char *const *sender_lines, const char *const *receiver_lines,
	struct sample *sample, struct error *err)
{
	static struct records sender, receiver;

	records_parse(&sender, sender_lines);
	records_parse(&receiver, receiver_lines);
	return engine_find("native", TOPOLOGY_UDP)
		->sample(&(struct engine_answer){sender.pointers, sender.count - 1,
				 sender.pointers[sender.count - 1]},
			&(struct engine_answer){receiver.pointers, receiver.count - 1,
				receiver.pointers[receiver.count - 1]},
			sample, err);
}

static void test_sample(void **state)
{
	const char *const sender[] = {"3 connected send_buffer=212992 receive_buffer=425984 "
				      "device_bound=1",
		"3 ok bytes=800000 window_us=800000 total_bytes=1000000 elapsed_us=1000000 "
		"packets=1000 burst=2 late=3 method=sendmmsg fallbacks=gso",
		NULL};
	const char *const receiver[] = {"4 connected send_buffer=1 receive_buffer=425984 "
					"device_bound=1",
		"4 interval index=0 start_us=0 end_us=200000 omitted=1 bytes=200000 packets=200 "
		"lost=0",
		"4 interval index=1 start_us=200000 end_us=1000000 omitted=0 bytes=760000 "
		"packets=760 lost=40",
		"4 ok bytes=760000 window_us=800000 total_bytes=960000 elapsed_us=1000000 "
		"packets=760 lost=40 duplicates=2 reordered=5 jitter_us=12 jitter_p50_us=4 "
		"jitter_p90_us=20 jitter_p99_us=90 jitter_max_us=400 socket_drops=10 method=gro",
		NULL};
	struct sample sample;

	(void)state;
	assert_int_equal(sample_from(sender, receiver, &sample, NULL), 0);
	assert_true(sample.udp.given);
	assert_true(fabs(sample.throughput_bps - 7600000) < 1e-6);
	assert_true(fabs(sample.loss_percent - 5) < 1e-9);
	assert_true(fabs(sample.udp.size - 1000) < 1e-9);
	assert_true(fabs(sample.udp.packets_per_second - 950) < 1e-6);
	assert_true(fabs(sample.udp.sent_bps - 8000000) < 1e-6);
	assert_true(fabs(sample.udp.socket_drops - 10) < 1e-9);
	assert_true(fabs(sample.udp.jitter_p99_us - 90) < 1e-9);
	assert_string_equal(sample.send_method, "sendmmsg");
	assert_string_equal(sample.send_fallbacks, "gso");
	assert_string_equal(sample.receive_fallbacks, "");
	assert_int_equal(sample.interval_count, 2);
	assert_true(fabs(sample.intervals[1].lost - 40) < 1e-9);
	sample_finish(&sample);
}

/* Nothing received is a failure with a cause; numbers that cannot be give no loss. */
static void test_no_sample(void **state)
{
	const char *const sender[] = {"3 ok bytes=9 total_bytes=9 packets=0", NULL};
	const char *const nothing[] = {"4 ok bytes=0 window_us=800000 packets=0 lost=10", NULL};
	const char *const negative[] = {
		"4 ok bytes=10 window_us=800000 packets=5 lost=-10 total_bytes=10", NULL};
	struct sample sample;
	struct error err = {0};

	(void)state;
	assert_int_equal(sample_from(sender, nothing, &sample, &err), -1);
	assert_int_equal(err.code, ERROR_TRIAL);
	assert_int_equal(sample_from(sender, negative, &sample, NULL), 0);
	assert_true(isnan(sample.loss_percent));
	sample_finish(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_no_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
