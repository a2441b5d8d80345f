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
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_no_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
