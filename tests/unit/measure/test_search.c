/* The search for the highest rate, on links whose capacity is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "search.h"

/* Carries so much, loses what is beyond; a sender that can do so much. */
struct model {
	double capacity, sender, base_loss;
	int error_from;       /* probes from this rate on fail; 0 = none */
	unsigned int starved; /* bit n: in probe n the sender gets a fifth of its time */
	int probes;
};

static int run_probe(
	void *context, const struct topology_test *probe, struct sample *ret, struct error *err)
{
	struct model *model = context;
	double sent = fmin((double)probe->rate, model->sender);
	double arrived;

	assert_false(probe->rate_search);
	assert_true(probe->omit < probe->duration);
	if (model->starved >> model->probes & 1)
		sent /= 5;
	arrived = fmin(sent * (1 - model->base_loss / 100), model->capacity);
	model->probes++;
	if (model->error_from && probe->rate >= model->error_from)
		return error_set(err, ERROR_TRIAL, NULL, "nothing came");
	sample_init(ret);
	ret->udp.given = true;
	ret->udp.sent_bps = sent;
	ret->throughput_bps = arrived;
	ret->loss_percent = 100 * (1 - arrived / sent);
	ret->total_sent = 100;
	ret->total_received = 90;
	return 0;
}

static struct topology_test a_test(void)
{
	return (struct topology_test){.kind = TOPOLOGY_UDP,
		.rate_search = true,
		.duration = 8000,
		.loss_limit = .1,
		.size = 1000};
}

/* Within a per cent, whatever the capacity, in fewer probes than the bound. */
static void test_finds_the_capacity(void **state)
{
	(void)state;
	for (double capacity = 200e3; capacity < 40e9; capacity *= 1.7) {
		struct model model = {.capacity = capacity, .sender = 1e12};
		struct topology_test test = a_test();
		struct sample sample;

		assert_int_equal(search_run(&test, run_probe, &model, &sample, NULL), 0);
		assert_true(fabs(sample.throughput_bps / capacity - 1) < .011);
		assert_int_equal(sample.probe_count, model.probes);
		assert_in_range(model.probes, 2, PLAN_PROBES_MAX - 1);
		assert_true(sample.loss_percent <= .1);
		/* Path proof compares counters with the bytes of all probes. */
		assert_true(fabs(sample.total_sent - 100 * model.probes) < 1e-9);
		assert_true(fabs(sample.total_received - 90 * model.probes) < 1e-9);
		sample_finish(&sample);
	}
}

/* A sender that does no more when more is asked for ends it: it is no loss of the path. */
static void test_ends_with_the_sender(void **state)
{
	struct model model = {.capacity = 1e12, .sender = 300e6};
	struct topology_test test = a_test();
	struct sample sample;

	(void)state;
	assert_int_equal(search_run(&test, run_probe, &model, &sample, NULL), 0);
	assert_true(fabs(sample.throughput_bps - 300e6) < 1);
	assert_in_range(model.probes, 4, 6);
	sample_finish(&sample);
}

/* Without loss, but with less than was asked for: that a rate was carried is not shown by it. */
static void test_asks_a_starved_sender_again(void **state)
{
	(void)state;
	for (unsigned int first = 3; first < 8; first++) {
		struct model model = {.capacity = 48.6e6, .sender = 1e12, .starved = 3u << first};
		struct topology_test test = a_test();
		struct sample sample;

		assert_int_equal(search_run(&test, run_probe, &model, &sample, NULL), 0);
		assert_true(fabs(sample.throughput_bps / 48.6e6 - 1) < .011);
		sample_finish(&sample);
	}
}

/* At a rate at which nothing comes through any more all is lost; that is a bound, no failure. */
static void test_survives_a_dead_probe(void **state)
{
	struct model model = {.capacity = 90e6, .sender = 1e12, .error_from = 100000000};
	struct topology_test test = a_test();
	struct sample sample;

	(void)state;
	assert_int_equal(search_run(&test, run_probe, &model, &sample, NULL), 0);
	assert_true(fabs(sample.throughput_bps / 90e6 - 1) < .011);
	sample_finish(&sample);
}

static void test_fails_with_a_cause(void **state)
{
	struct model lossy = {.capacity = 1e9, .sender = 1e12, .base_loss = 1};
	struct model dead = {.capacity = 1e9, .sender = 1e12, .error_from = 1};
	struct topology_test test = a_test();
	struct sample sample;
	struct error err = {0};

	(void)state;
	assert_int_equal(search_run(&test, run_probe, &lossy, &sample, &err), -1);
	assert_int_equal(err.code, ERROR_TRIAL);
	assert_non_null(strstr(err.message, "no rate loses at most 0.1 %"));
	assert_in_range(lossy.probes, 2, PLAN_PROBES_MAX);
	assert_int_equal(search_run(&test, run_probe, &dead, &sample, &err), -1);
	assert_string_equal(err.message, "nothing came");
	assert_int_equal(dead.probes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_the_capacity),
		cmocka_unit_test(test_ends_with_the_sender),
		cmocka_unit_test(test_asks_a_starved_sender_again),
		cmocka_unit_test(test_survives_a_dead_probe),
		cmocka_unit_test(test_fails_with_a_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
