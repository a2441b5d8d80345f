#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load.h"
#include "plan.h"

static struct plan *build(const struct topology *topology, const struct plan_filter *filter)
{
	struct error err = {0};
	struct plan *plan = plan_build(topology, filter, &err);

	if (!plan)
		fail_msg("%s: %s", err.where, err.message);
	return plan;
}

#define HEAD                                                                                       \
	"orch: 1\nname: t\ntrials: 4\n"                                                            \
	"hosts: {a: {ssh: a}, b: {ssh: b}, c: {ssh: c}, d: {ssh: d}, e: {ssh: e}}\n"
#define AB "- {name: ab, a: \"a:e1\", b: \"b:e0\"}\n"
#define BC "- {name: bc, a: \"c:e0\", b: \"b:e1\", listen: c}\n" /* turned round */
#define CD "- {name: cd, a: \"c:e1\", b: \"d:e0\"}\n"
#define DE "- {name: de, a: \"d:e1\", b: \"e:e0\"}\n"

static void check_segments(const char *text, const char *const *names, size_t count)
{
	struct topology *topology = load_text(text, TOPOLOGY_FILE);
	struct plan *plan = build(topology, NULL);
	size_t i;

	assert_int_equal(plan->segment_count, count);
	for (i = 0; i < count; i++)
		assert_string_equal(plan->segments[i].name, names[i]);
	plan_free(plan);
	topology_free(topology);
}

static void test_segments(void **state)
{
	static const char *const one[] = {"ab"};
	static const char *const two[] = {"ab", "bc", "path"};
	static const char *const four[] = {"ab", "bc", "cd", "de", "path:c", "path:d", "path"};
	/* A link on two paths is measured for each. */
	static const char *const several[] = {"ab", "bc", "x", "bc"};

	(void)state;
	check_segments(HEAD "links:\n" AB, one, 1);
	check_segments(HEAD "links:\n" AB BC, two, 3);
	check_segments(HEAD "links:\n" AB BC CD DE, four, 7);
	check_segments(HEAD "links:\n" AB BC "paths: {x: [a, b, c], y: [c, b]}\n", several, 4);
}

static void test_prefix(void **state)
{
	struct topology *topology = load_text(HEAD "links:\n" AB BC CD DE, TOPOLOGY_FILE);
	struct plan *plan = build(topology, NULL);
	const struct plan_segment *prefix = &plan->segments[5];

	(void)state;
	assert_int_equal(prefix->kind, PLAN_PREFIX);
	assert_int_equal(prefix->first, 0);
	assert_int_equal(prefix->last, 2);
	assert_ptr_equal(plan_near_end(plan, prefix), &topology->links[0].a);
	assert_ptr_equal(plan_far_end(plan, prefix), &topology->links[2].b);
	assert_int_equal(plan->segments[6].kind, PLAN_PATH);
	assert_int_equal(plan->segments[6].last, 3);
	plan_free(plan);
	topology_free(topology);
}

static void test_ends_of_a_turned_link(void **state)
{
	struct topology *topology = load_text(HEAD "links:\n" AB BC, TOPOLOGY_FILE);
	struct plan *plan = build(topology, NULL);

	(void)state;
	assert_int_equal(plan->segments[1].kind, PLAN_LINK);
	assert_ptr_equal(plan_near_end(plan, &plan->segments[1]), &topology->links[1].b);
	assert_ptr_equal(plan_far_end(plan, &plan->segments[1]), &topology->links[1].a);
	assert_ptr_equal(plan_near_end(plan, &plan->segments[2]), &topology->links[0].a);
	assert_ptr_equal(plan_far_end(plan, &plan->segments[2]), &topology->links[1].a);
	plan_free(plan);
	topology_free(topology);
}

static void test_listener(void **state)
{
	struct topology *topology =
		load_text(HEAD "links:\n" AB BC CD DE "listen: a\n", TOPOLOGY_FILE);
	struct plan *plan = build(topology, NULL);
	static const size_t wanted[] = {
		TOPOLOGY_NO_HOST, 2, TOPOLOGY_NO_HOST, TOPOLOGY_NO_HOST, 0, 0, 0};
	size_t i;

	(void)state;
	for (i = 0; i < plan->segment_count; i++)
		assert_int_equal(plan_listener(plan, &plan->segments[i]), wanted[i]);
	plan_free(plan);
	topology_free(topology);
	topology = load_text(HEAD "links:\n" AB "listen: b\n", TOPOLOGY_FILE);
	plan = build(topology, NULL);
	assert_int_equal(plan_listener(plan, &plan->segments[0]), 1);
	plan_free(plan);
	topology_free(topology);
}

static void test_series(void **state)
{
	struct topology *topology = load_text(HEAD
		"links:\n" AB
		"tests: [tcp: {duration: 1s, gap: 200ms}, tcp: {name: x, direction: reverse, "
		"duration: 2s}]\n",
		TOPOLOGY_FILE);
	struct plan *plan = build(topology, NULL);

	(void)state;
	assert_int_equal(plan->series_count, 3);
	assert_int_equal(plan->series[0].direction, TOPOLOGY_FORWARD);
	assert_int_equal(plan->series[1].direction, TOPOLOGY_REVERSE);
	assert_int_equal(plan->series[1].test, 0);
	assert_int_equal(plan->series[2].test, 1);
	assert_int_equal(plan->series[2].direction, TOPOLOGY_REVERSE);
	assert_int_equal(plan->rounds, 4);
	assert_int_equal(plan->duration_ms, 4 * (1200 + 1200 + 2000));
	plan_free(plan);
	topology_free(topology);
}

/* Every round holds every series once; rounds differ; the seed decides. */
static void test_order(void **state)
{
	struct topology *topology = load_text(HEAD "links:\n" AB BC CD DE, TOPOLOGY_FILE);
	const struct plan_filter seven = {.seed = 7}, eight = {.seed = 8};
	struct plan *plan = build(topology, &seven), *same = build(topology, &seven);
	struct plan *other = build(topology, &eight);
	size_t count = plan->series_count, size = count * sizeof(*plan->order), round, i;

	(void)state;
	assert_int_equal(count, 14);
	for (round = 0; round < 4; round++) {
		unsigned seen = 0;

		for (i = 0; i < count; i++)
			seen |= 1u << plan->order[round * count + i];
		assert_int_equal(seen, (1u << count) - 1);
	}
	assert_memory_not_equal(plan->order, plan->order + count, size);
	assert_memory_equal(plan->order, same->order, 4 * size);
	assert_memory_not_equal(plan->order, other->order, size);
	plan_free(plan);
	plan_free(same);
	plan_free(other);
	topology_free(topology);
}

/* Computed from the published generator (its first draws are checked in test_generator). */
static void test_known_order(void **state)
{
	static const size_t known[] = {0, 2, 1, 4, 5, 3, 3, 4, 5, 1, 2, 0, 1, 0, 5, 4, 3, 2};
	struct topology *topology = load_text(HEAD "links:\n" AB BC, TOPOLOGY_FILE);
	const struct plan_filter filter = {.seed = 1234567};
	struct plan *plan = build(topology, &filter);

	(void)state;
	assert_int_equal(plan->series_count, 6);
	assert_memory_equal(plan->order, known, sizeof(known));
	plan_free(plan);
	topology_free(topology);
}

/*
 * Each series comes first equally often: 6 series in 6000 rounds, expected 1000 each; chi-squared
 * with 5 degrees of freedom is below 20.5 with probability .999.
 */
static void test_fair_order(void **state)
{
	struct topology *topology = load_text(HEAD "links:\n" AB BC, TOPOLOGY_FILE);
	const struct plan_filter filter = {.seed = 1};
	double chi = 0;
	size_t first[6] = {0}, i;
	struct plan *plan;

	(void)state;
	topology->trials = 6000;
	plan = build(topology, &filter);
	for (i = 0; i < 6000; i++)
		first[plan->order[i * 6]]++;
	for (i = 0; i < 6; i++)
		chi += ((double)first[i] - 1000) * ((double)first[i] - 1000) / 1000;
	assert_true(chi < 20.5);
	plan_free(plan);
	topology_free(topology);
}

#define TWO_TESTS "tests: [tcp: {}, tcp: {name: fast, direction: forward}]\n"

static void test_filter(void **state)
{
	static const char *const fast[] = {"fast"};
	struct topology *topology = load_text(HEAD "links:\n" AB BC TWO_TESTS, TOPOLOGY_FILE);
	struct plan_filter filter = {.tests = fast, .test_count = 1};
	struct plan *plan = build(topology, &filter);

	(void)state;
	assert_int_equal(plan->series_count, 3);
	plan_free(plan);
	filter = (struct plan_filter){.segment = "bc"};
	plan = build(topology, &filter);
	assert_int_equal(plan->series_count, 3);
	assert_int_equal(plan->series[0].segment, 1);
	plan_free(plan);
	filter = (struct plan_filter){.direction = TOPOLOGY_REVERSE};
	plan = build(topology, &filter);
	assert_int_equal(plan->series_count, 3);
	assert_int_equal(plan->series[0].direction, TOPOLOGY_REVERSE);
	plan_free(plan);
	/* Asked for, "both" is at once; a test of one direction stays out. */
	filter = (struct plan_filter){.direction = TOPOLOGY_BIDIR};
	plan = build(topology, &filter);
	assert_int_equal(plan->series_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(plan->series[i].direction, TOPOLOGY_BIDIR);
		assert_int_equal(plan->series[i].test, 0);
	}
	plan_free(plan);
	topology_free(topology);
}

static void check_refused(const char *text, const struct plan_filter *filter, enum error_code code,
	const char *where, const char *message)
{
	struct topology *topology = load_text(text, TOPOLOGY_FILE);
	struct error err = {0};

	assert_null(plan_build(topology, filter, &err));
	assert_string_equal(err.message, message);
	assert_string_equal(err.where, where);
	assert_int_equal(err.code, code);
	topology_free(topology);
}

static void test_filter_refusals(void **state)
{
	static const char text[] = HEAD "links:\n" AB BC TWO_TESTS;
	static const char *const fats[] = {"fats"}, *const fast[] = {"fast"};
	struct plan_filter filter = {.tests = fats, .test_count = 1};

	(void)state;
	check_refused(text, &filter, ERROR_USAGE, "",
		"no test is called \"fats\"; did you mean \"fast\"?");
	filter = (struct plan_filter){.segment = "pth"};
	check_refused(text, &filter, ERROR_USAGE, "",
		"no segment is called \"pth\"; did you mean \"path\"?");
	filter =
		(struct plan_filter){.tests = fast, .test_count = 1, .direction = TOPOLOGY_REVERSE};
	check_refused(text, &filter, ERROR_USAGE, "",
		"nothing is left to measure; drop --test, --segment or --direction");
}

/* A run file holds a hundred thousand trials: 7142 rounds of 14 series fit, one more does not. */
static void test_too_many_trials(void **state)
{
	static const char text[] =
		HEAD "links:\n" AB BC CD DE "tests: [tcp: , tcp: {name: x}, tcp: {name: y}]\n";
	struct topology *topology = load_text(text, TOPOLOGY_FILE);
	static const char *const tcp[] = {"tcp"};
	const struct plan_filter filter = {.tests = tcp, .test_count = 1};
	struct error err = {0};
	struct plan *plan;

	(void)state;
	topology->trials = 7142;
	plan = build(topology, &filter);
	assert_int_equal(plan->duration_ms, INT64_C(7142) * 14 * 10000);
	plan_free(plan);
	topology->trials++;
	assert_null(plan_build(topology, &filter, &err));
	assert_string_equal(
		err.message, "14 trials a round and 7143 rounds are too many; a run holds 100000");
	topology_free(topology);
}

struct unbuilt {
	const char *text;
	const char *where;
	const char *message;
};

#define LINES(hosts, rest) "orch: 1\nname: t\nhosts:\n" hosts "links:\n" AB rest
#define USUAL              "  a: {ssh: a}\n  b: {ssh: b}\n"
#define TESTS(text)        LINES(USUAL, "tests:\n- " text "\n")

static const struct unbuilt unbuilt[] = {
	{TESTS("copy: {}"), "test.yaml:9:3", "a copy test is not built yet (\"copy\")"},
	{TESTS("tcp: {engine: iperf3}"), "test.yaml:9:3",
		"an engine other than native is not built yet (\"tcp-iperf3\")"},
	{LINES("  a: {ssh: a}\n  b: {passive: true}\n", ""), "test.yaml:5:3",
		"a passive host is not built yet (\"b\")"},
	{LINES("  a: {ssh: a}\n  b: {ssh: {host: b, via: a}}\n", ""), "test.yaml:5:3",
		"ssh via another host is not built yet (\"b\")"},
	{LINES("  a: {ssh: a}\n  b: {ssh: {host: b, client: openssh}}\n", ""), "test.yaml:5:3",
		"ssh with client: openssh is not built yet (\"b\")"},
	{LINES("  a: {ssh: {host: b, password_env: X}}\n  b: {ssh: b}\n", ""), "test.yaml:4:3",
		"ssh with password_env is not built yet (\"a\")"},
	{LINES("  a: {ssh: a, sudo: true}\n  b: {ssh: b}\n", ""), "test.yaml:4:3",
		"sudo is not built yet (\"a\")"},
	{LINES("  a: {ssh: a, firmware: {command: x}}\n  b: {ssh: b}\n", ""), "test.yaml:4:3",
		"firmware: {command: ...} is not built yet (\"a\")"},
	{"lab: {}\n" LINES("  a: {lab: {control: inband}}\n  b: {}\n", ""), "test.yaml:5:3",
		"control: inband is not built yet (\"a\")"},
	{LINES(USUAL, "expect: {min: {ab: 1Mbit}}\n"), "test.yaml:8:1", "expect is not built yet"},
};

static void test_unbuilt(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(unbuilt) / sizeof(unbuilt[0]); i++)
		check_refused(
			unbuilt[i].text, NULL, ERROR_UNBUILT, unbuilt[i].where, unbuilt[i].message);
}

/* Combinations that no engine can do. */
static void test_impossible(void **state)
{
	static const struct unbuilt refused[] = {
		{TESTS("udp: {}"), "test.yaml:9:3",
			"test \"udp\" has no rate: give rate: 20Mbit (payload), or rate: search "
			"for "
			"the highest"},
		{TESTS("udp: {rate: search, size: 65508}"), "test.yaml:9:3",
			"test \"udp\" has a size of 65508: a datagram carries 24 to 65507 bytes"},
		{TESTS("udp: {rate: 1Mbit, size: 23}"), "test.yaml:9:3",
			"test \"udp\" has a size of 23: a datagram carries 24 to 65507 bytes"},
		{TESTS("udp: {rate: 1Mbit, streams: 2}"), "test.yaml:9:3",
			"test \"udp\" has 2 streams: a rate is one stream's, give it all"},
		{TESTS("udp: {rate: 1Mbit, mss: 1000}"), "test.yaml:9:3",
			"test \"udp\" has \"mss\", an option of tcp"},
		{TESTS("udp: {rate: 1Mbit, pacing: 1Mbit}"), "test.yaml:9:3",
			"test \"udp\" has \"pacing\", an option of tcp; udp has rate"},
		{TESTS("udp: {rate: 10Gbit, size: 64}"), "test.yaml:9:3",
			"test \"udp\" needs 19531250 datagrams a second, more than 10000000: a "
			"lower "
			"rate or a larger size"},
		{TESTS("latency: {size: 23}"), "test.yaml:9:3",
			"test \"latency\" has a size of 23: a question and its answer have 24 to "
			"65507 bytes each"},
		{TESTS("latency: {transport: tcp, size: 65508}"), "test.yaml:9:3",
			"test \"latency\" has a size of 65508: a question and its answer have 1 to "
			"65507 bytes each"},
		{TESTS("latency: {streams: 2}"), "test.yaml:9:3",
			"test \"latency\" has 2 streams: it asks one question at a time"},
		{TESTS("latency: {congestion: bbr}"), "test.yaml:9:3",
			"test \"latency\" has \"congestion\", which is for tests of throughput"},
		{TESTS("latency: {transport: connect, ports: 5201}"), "test.yaml:9:3",
			"test \"latency\" needs two ports, one besides that of the connections"},
		/* 9 s x 10 kbit/s are 11,250 bytes: 7 datagrams of 1472. */
		{TESTS("udp: {rate: 10kbit}"), "test.yaml:9:3",
			"test \"udp\" sends only 7 datagrams in the time that counts: too few to "
			"tell "
			"a loss"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		check_refused(refused[i].text, NULL, ERROR_TOPOLOGY, refused[i].where,
			refused[i].message);
}

/* A search takes at most its probes' time: 16 of an eighth of the duration, 200 ms at least. */
static void test_search_takes_its_probes(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} searches[] = {
		{TESTS("udp: {rate: search, duration: 8s, direction: forward}"), 10 * 16 * 1000},
		{TESTS("udp: {rate: search, duration: 1s, direction: forward}"), 10 * 16 * 200},
		{TESTS("udp: {rate: 1Mbit, duration: 8s, direction: forward}"), 10 * 8000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++) {
		struct topology *topology = load_text(searches[i].text, TOPOLOGY_FILE);
		struct plan *plan = build(topology, NULL);

		assert_int_equal(plan->duration_ms, searches[i].ms);
		plan_free(plan);
		topology_free(topology);
	}
}

/* What the series do not use may stand in the file; socket options are built. */
static void test_unused_is_not_refused(void **state)
{
	static const char *const tcp[] = {"tcp"};
	struct topology *topology = load_text(HEAD "links:\n" AB BC "path: [a, b]\n"
						   "tests:\n- udp: {rate: 1Mbit}\n"
						   "- tcp: {streams: 4, block: 64k, window: 1MiB, "
						   "congestion: reno, mss: 1400, dscp: 8, "
						   "pacing: 5Mbit, family: 6, interval: 100ms, "
						   "omit: 100ms, gap: 1s, ports: 5000-5010}\n",
		TOPOLOGY_FILE);
	const struct plan_filter filter = {.tests = tcp, .test_count = 1};
	struct plan *plan;

	(void)state;
	topology->hosts[2].sudo = true; /* c is not on the path */
	plan = build(topology, &filter);
	assert_int_equal(plan->series_count, 2);
	plan_free(plan);
	topology_free(topology);
}

static void test_generator(void **state)
{
	/* Of two series the order shows the draw's lowest bit: draws of splitmix64 from 1234567 are
	 * 6457827717110365317, 3203168211198807973, 9817491932198370423: odd, odd, odd; the swap
	 * of the last with place 1 (odd) leaves both where they are. */
	struct topology *topology = load_text(HEAD "links:\n" AB, TOPOLOGY_FILE);
	static const size_t known[] = {0, 1, 0, 1, 0, 1};
	const struct plan_filter filter = {.seed = 1234567};
	struct plan *plan = build(topology, &filter);

	(void)state;
	assert_int_equal(plan->series_count, 2);
	assert_memory_equal(plan->order, known, sizeof(known));
	plan_free(plan);
	topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_ends_of_a_turned_link),
		cmocka_unit_test(test_listener),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_generator),
		cmocka_unit_test(test_known_order),
		cmocka_unit_test(test_fair_order),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_filter_refusals),
		cmocka_unit_test(test_too_many_trials),
		cmocka_unit_test(test_unbuilt),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_search_takes_its_probes),
		cmocka_unit_test(test_unused_is_not_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
