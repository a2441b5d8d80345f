/* The native latency test's two requests and its parser, on answers as docs/wire.md has them. */
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
static const struct binding far_end = {.family = 4, .address = "10.0.0.2", .device = "br-lan"};

static const struct engine *echo(void)
{
	const struct engine *engine = engine_find("native", TOPOLOGY_LATENCY);

	assert_non_null(engine);
	return engine;
}

static void write_and_parse(const struct engine_trial *trial, bool listen, const char *ready_line,
	struct wire_writer *writer, struct wire_record *ret)
{
	static struct records ready;
	const char *const lines[] = {ready_line, NULL};

	records_parse(&ready, lines);
	wire_writer_begin(writer, 7, listen ? echo()->listen_type : echo()->connect_type);
	if (listen)
		echo()->listen(trial, writer);
	else
		echo()->connect(trial, ready.pointers[0], writer);
	assert_true(wire_writer_end(writer) > 0);
	writer->text[writer->length - 1] = '\0';
	assert_int_equal(wire_record_parse(writer->text, ret), 0);
}

static void test_requests(void **state)
{
	static struct wire_writer writer;
	static struct wire_record record;
	char transport[] = "connect";
	struct topology_test test = {
		.kind = TOPOLOGY_LATENCY, .streams = 4, .omit = 60, .interval = 100, .dscp = -1};
	struct engine_trial trial = {.test = &test,
		.listener = &near_end,
		.connector = &far_end,
		.duration_ms = 300,
		.setup_ms = 5000,
		.token = "00112233445566778899aabbccddeeff"};

	(void)state;
	write_and_parse(&trial, true, "5 listening port=4012", &writer, &record);
	assert_string_equal(wire_record_text(&record, "test"), "echo");
	assert_string_equal(wire_record_text(&record, "transport"), "udp");
	assert_string_equal(wire_record_text(&record, "size"), "64");
	assert_string_equal(wire_record_text(&record, "role"), "receive");
	assert_string_equal(wire_record_text(&record, "streams"), "1");
	assert_string_equal(wire_record_text(&record, "omit_ms"), "60");
	assert_null(wire_record_text(&record, "pace_ms"));
	trial.pace_ms = 20;
	trial.listener_sends = true;
	test.size = 1000;
	test.dscp = 46;
	write_and_parse(&trial, true, "5 listening port=4012", &writer, &record);
	assert_string_equal(wire_record_text(&record, "pace_ms"), "20");
	assert_string_equal(wire_record_text(&record, "role"), "send");
	assert_string_equal(wire_record_text(&record, "size"), "1000");
	assert_string_equal(wire_record_text(&record, "dscp"), "46");
	test.transport = transport;
	write_and_parse(&trial, false, "5 listening port=4012 port2=4013", &writer, &record);
	assert_string_equal(wire_record_text(&record, "transport"), "connect");
	assert_string_equal(wire_record_text(&record, "to"), "10.0.0.1");
	assert_string_equal(wire_record_text(&record, "to_port"), "4012");
	assert_string_equal(wire_record_text(&record, "to_port2"), "4013");
}

static int sample_from(const char *const *asker, const char *const *answerer, struct sample *sample,
	struct error *err)
{
	static struct records asked, answered;

	records_parse(&asked, asker);
	records_parse(&answered, answerer);
	return echo()->sample(&(struct engine_answer){asked.pointers, asked.count - 1,
				      asked.pointers[asked.count - 1]},
		&(struct engine_answer){answered.pointers, answered.count - 1,
			answered.pointers[answered.count - 1]},
		sample, err);
}

static void test_sample(void **state)
{
	const char *const asker[] = {"4 connected streams=1 device_bound=1 size=100",
		"4 ok count=500 lost=3 elapsed_us=240000 rate_milli=2083333 min_us=9 mean_us=14 "
		"p50_us=12 p90_us=20 p99_us=90 p999_us=700 max_us=712",
		NULL};
	const char *const answerer[] = {
		"3 connected streams=1 device_bound=1 size=100", "3 ok count=620", NULL};
	struct sample sample;

	(void)state;
	assert_int_equal(sample_from(asker, answerer, &sample, NULL), 0);
	assert_true(sample.is_latency && isnan(sample.throughput_bps));
	assert_true(sample.latency.count == 500 && sample.latency.lost == 3);
	assert_true(sample.latency.p50_us == 12 && sample.latency.p999_us == 700);
	assert_true(sample.latency.min_us == 9 && sample.latency.max_us == 712);
	assert_true(fabs(sample.latency.rate_per_second - 2083.333) < 1e-9);
	assert_true(sample.total_received == 62000 && sample.total_sent == 62000);
	assert_true(sample.device_bound);
	sample_finish(&sample);
}

static void test_no_sample(void **state)
{
	const char *const answerer[] = {"3 ok count=0", NULL};
	const char *const finals[] = {"4 ok count=0 lost=9", "4 ok", "4 ok count=5",
		"4 ok count=x p50_us=3", "4 ok count=-5 p50_us=3"};

	(void)state;
	for (size_t i = 0; i < sizeof(finals) / sizeof(finals[0]); i++) {
		const char *const asker[] = {finals[i], NULL};
		struct sample sample;
		struct error err = {0};

		assert_int_equal(sample_from(asker, answerer, &sample, &err), -1);
		assert_int_equal(err.code, ERROR_TRIAL);
	}
}

/* What a probe's part tells; a part without answers has no times. */
static void test_parts(void **state)
{
	static struct records records;
	const char *const lines[] = {"4 part index=0 count=10 lost=0 elapsed_us=200000 "
				     "rate_milli=50000 min_us=20 mean_us=30 p50_us=29 p90_us=40 "
				     "p99_us=41 p999_us=41 max_us=41",
		"4 part index=1 count=0 lost=10 elapsed_us=200000 rate_milli=0", NULL};
	struct sample_latency one, none, nothing = sample_read_latency(NULL);

	(void)state;
	records_parse(&records, lines);
	one = sample_read_latency(records.pointers[0]);
	none = sample_read_latency(records.pointers[1]);
	assert_true(one.p50_us == 29 && one.rate_per_second == 50);
	assert_true(none.lost == 10 && isnan(none.p50_us) && isnan(none.max_us));
	assert_true(isnan(nothing.count));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_no_sample),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
