#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "load.h"

#define HEAD                                                                                       \
	"orch: 1\nname: t\nhosts: {a: {ssh: a}, b: {ssh: b}}\nlinks:\n"                            \
	"- {name: l, a: \"a:e\", b: \"b:e\"}\n"

static const char *const iperf3[] = {"iperf3"};
static const char *const both[] = {"native", "iperf3"};
static const char *const typing_error[] = {"ipref3"};

/* The document says what the data say: loading it again gives the same. */
static void check_source(const struct topology *topology)
{
	char *printed = cJSON_Print(topology->source);
	struct topology *again = load_text(printed, TOPOLOGY_FILE);

	assert_same_topology(topology, again);
	cJSON_free(printed);
	topology_free(again);
}

static void test_nothing(void **state)
{
	const struct topology_overrides overrides = {0};
	struct topology *topology = load_text(HEAD, TOPOLOGY_FILE);

	(void)state;
	assert_int_equal(topology_override(topology, &overrides, NULL), 0);
	assert_null(cJSON_GetObjectItemCaseSensitive(topology->source, "tests"));
	check_source(topology);
	topology_free(topology);
}

static void test_trials_and_duration(void **state)
{
	const struct topology_overrides overrides = {.trials = 3, .duration = 1500};
	struct topology *topology = load_text(
		HEAD "trials: 7\ntests: [tcp: , udp: {duration: 10s, omit: 1s}]\n", TOPOLOGY_FILE);

	(void)state;
	assert_int_equal(topology_override(topology, &overrides, NULL), 0);
	assert_int_equal(topology->trials, 3);
	assert_int_equal(topology->tests[0].duration, 1500);
	/* Defaults follow the new duration, what the file says stays. */
	assert_int_equal(topology->tests[0].omit, 300);
	assert_int_equal(topology->tests[0].interval, 100);
	assert_int_equal(topology->tests[1].omit, 1000);
	check_source(topology);
	topology_free(topology);
}

static void test_duration_without_tests(void **state)
{
	const struct topology_overrides overrides = {.duration = 2000};
	struct topology *topology = load_text(HEAD, TOPOLOGY_FILE);

	(void)state;
	assert_int_equal(topology_override(topology, &overrides, NULL), 0);
	assert_int_equal(topology->tests[0].duration, 2000);
	check_source(topology);
	topology_free(topology);
}

static void test_one_engine(void **state)
{
	const struct topology_overrides overrides = {.engines = iperf3, .engine_count = 1};
	struct topology *topology =
		load_text(HEAD "tests: [tcp: {congestion: reno}, tcp: {name: x, engine: nuttcp}]\n",
			TOPOLOGY_FILE);

	(void)state;
	assert_int_equal(topology_override(topology, &overrides, NULL), 0);
	assert_int_equal(topology->test_count, 2);
	assert_string_equal(topology->tests[0].id, "tcp-iperf3");
	assert_string_equal(topology->tests[0].congestion, "reno");
	assert_string_equal(topology->tests[1].id, "x");
	assert_string_equal(topology->tests[1].engine, "iperf3");
	check_source(topology);
	topology_free(topology);
}

static void test_two_engines(void **state)
{
	static const char *const ids[] = {"tcp", "tcp-iperf3", "x", "x-iperf3"};
	const struct topology_overrides overrides = {
		.duration = 1000, .engines = both, .engine_count = 2};
	struct topology *topology =
		load_text(HEAD "tests: [tcp: , tcp: {name: x, streams: 4}]\n", TOPOLOGY_FILE);
	size_t i;

	(void)state;
	assert_int_equal(topology_override(topology, &overrides, NULL), 0);
	assert_int_equal(topology->test_count, 4);
	for (i = 0; i < 4; i++) {
		assert_string_equal(topology->tests[i].id, ids[i]);
		assert_string_equal(topology->tests[i].engine, both[i % 2]);
		assert_int_equal(topology->tests[i].duration, 1000);
	}
	assert_int_equal(topology->tests[3].streams, 4);
	check_source(topology);
	topology_free(topology);
}

struct refusal {
	const char *tests;
	struct topology_overrides overrides;
	const char *message;
};

static const struct refusal refusals[] = {
	{"", {.trials = -1}, "--trials must be 1 to 100000"},
	{"", {.trials = 100001}, "--trials must be 1 to 100000"},
	{"", {.duration = 99}, "--duration must be 100ms to 1h"},
	{"", {.duration = 3600001}, "--duration must be 100ms to 1h"},
	{"tests: [tcp: {omit: 2s}]\n", {.duration = 1000},
		"--duration 1s: test \"tcp\" omits its first 2s, which leaves nothing of 1s"},
	{"tests: [tcp: {interval: 2s}]\n", {.duration = 1000},
		"--duration 1s: test \"tcp\" has an interval of 2s, longer than its 1s"},
	{"", {.engines = typing_error, .engine_count = 1},
		"unknown engine \"ipref3\"; did you mean \"iperf3\"?"},
	{"tests: [tcp: , tcp: {engine: nuttcp}]\n", {.engines = iperf3, .engine_count = 1},
		"--engine: two tests are called \"tcp-iperf3\"; give one a name: {name: ...}"},
};

static void test_refusals(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct error err = {0};
		char text[512];
		struct topology *topology;

		snprintf(text, sizeof(text), HEAD "%s", refusals[i].tests);
		topology = load_text(text, TOPOLOGY_FILE);
		assert_int_equal(topology_override(topology, &refusals[i].overrides, &err), -1);
		assert_string_equal(err.message, refusals[i].message);
		assert_int_equal(err.code, ERROR_USAGE);
		topology_free(topology);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_trials_and_duration),
		cmocka_unit_test(test_duration_without_tests),
		cmocka_unit_test(test_one_engine),
		cmocka_unit_test(test_two_engines),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
