/* Verdicts against published and simulated runs of known truth. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decided.h"
#include "published.h"

static void test_published(void **state)
{
	struct decided d =
		decide(two_links(published_wired, published_wireless, published_end, 10, false));

	(void)state;
	assert_int_equal(d.verdicts->count, 1);
	assert_int_equal(d.first->kind, VERDICT_LINK);
	assert_int_equal(d.first->segment_count, 1);
	assert_string_equal(d.first->segments[0], "wireless");
	assert_string_equal(d.first->slowest_segment, "wireless");
	assert_int_equal(d.first->grade, VERDICT_STATISTICAL);
	assert_int_equal(d.first->qualifier, VERDICT_OPEN);
	assert_false(d.first->paired);
	assert_true(fabs(d.first->confidence - (1 - .004465)) < 5e-7);
	assert_true(says(d.first, "20.4 Mbit/s, the slowest of 2 links; next is wired with 94.4"));
	assert_true(says(d.first, "4.65 times"));
	assert_true(says(d.first, "not interleaved"));
	forget(&d);
}

static void test_published_wifi_margin(void **state)
{
	cJSON *document = two_links(published_wired, published_wireless, published_end, 10, false);
	cJSON *link = cJSON_GetArrayItem(
		cJSON_GetObjectItem(cJSON_GetObjectItem(document, "topology"), "links"), 1);
	struct decided d;

	(void)state;
	cJSON_AddStringToObject(link, "medium", "wifi");
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_LINK);
	assert_true(fabs(d.first->confidence - .9996) < 5e-5);
	forget(&d);
}

static void test_undecided(void **state)
{
	static const double a[] = {52, 38, 61, 45, 57, 40, 49, 66, 43, 55};
	static const double b[] = {47, 60, 30, 51, 36, 44, 39, 41, 52, 38};
	static const double e[] = {44, 50, 38, 47, 41, 53, 36, 45, 49, 40};
	struct decided d = decide(two_links(a, b, e, 10, true));

	(void)state;
	assert_int_equal(d.first->kind, VERDICT_INCONCLUSIVE);
	assert_true(d.first->paired);
	assert_true(isnan(d.first->confidence));
	assert_int_equal(d.first->grade, VERDICT_NO_GRADE);
	assert_string_equal(d.first->slowest_segment, "wireless");
	assert_true(d.first->rounds_needed > 10 || d.first->rounds_needed == -1);
	assert_true(says(d.first, "neither told apart nor equal at a margin of 5 %"));
	assert_true(says(d.first, "cannot be resolved") == (d.first->rounds_needed < 0));
	forget(&d);
}

/* N by hand for one open comparison: v (t(1-a) + t(.8))^2 / d^2 with v and d of these numbers. */
static void test_rounds_needed(void **state)
{
	static const double wired[] = {106, 100, 112, 104, 109};
	static const double wireless[] = {100, 100, 100, 100, 100};
	static const double whole[] = {100, 100.1, 99.9, 100, 100.2};
	struct decided d = decide(two_links(wired, wireless, whole, 5, true));
	double mean = 0, v = 0, t = 2.776445 + .940965, expected; /* t tables, df = 4 */
	int i;

	(void)state;
	for (i = 0; i < 5; i++)
		mean += log(wired[i] / 100) / 5;
	for (i = 0; i < 5; i++)
		v += pow(log(wired[i] / 100) - mean, 2) / 4;
	expected = ceil(v * t * t / pow(mean - log(1.05), 2));
	assert_int_equal(d.first->kind, VERDICT_INCONCLUSIVE);
	assert_int_equal(d.first->rounds_needed, expected > 200 ? -1 : (int)expected);
	forget(&d);
}

static void test_simple_kinds(void **state)
{
	struct decided d = decide(levels(95.7, 24.1, 24.0));

	(void)state;
	assert_int_equal(d.first->kind, VERDICT_LINK);
	assert_int_equal(d.first->qualifier, VERDICT_AGREES);
	assert_int_equal(d.first->host_count, 0);
	assert_true(says(d.first, "24.0 Mbit/s is 0.4 % below wireless alone"));
	assert_true(says(d.first, "next is wired with 95.7 Mbit/s (3.97 times as much)"));
	forget(&d);

	d = decide(levels(100, 101, 100));
	assert_int_equal(d.first->kind, VERDICT_TIE);
	assert_int_equal(d.first->segment_count, 2);
	assert_string_equal(d.first->segments[0], "wired");
	assert_true(d.first->confidence > .99);
	forget(&d);

	d = decide(levels(100, 100, 50));
	assert_int_equal(d.first->kind, VERDICT_FORWARDING);
	assert_int_equal(d.first->grade, VERDICT_SUSPECTED);
	assert_string_equal(d.first->hosts[0], "router");
	assert_true(says(d.first, "50.0 % below"));
	forget(&d);

	d = decide(levels(400, 100, 130));
	assert_int_equal(d.first->kind, VERDICT_LINK);
	assert_int_equal(d.first->qualifier, VERDICT_ENDPOINT_LIMITED);
	assert_string_equal(d.first->segments[0], "wireless");
	assert_string_equal(d.first->hosts[0], "router");
	assert_true(says(d.first, "router, which ended that test, limited it"));
	forget(&d);
}

/* The link is slower than the other beyond doubt; whether forwarding adds a loss is not settled. */
static void test_suspected(void **state)
{
	struct decided d = decide(levels(400, 100, 90));

	(void)state;
	assert_int_equal(d.first->kind, VERDICT_LINK);
	assert_int_equal(d.first->grade, VERDICT_SUSPECTED);
	assert_int_equal(d.first->qualifier, VERDICT_OPEN);
	assert_true(d.first->rounds_needed != 0);
	assert_true(says(d.first, "an extra loss of up to 10 % in forwarding is not excluded"));
	forget(&d);
}

static void test_few_rounds(void **state)
{
	double a[6], b[6], e[6];
	struct decided d;
	cJSON *document;

	(void)state;
	around(100, a, 6);
	around(50, b, 6);
	around(50, e, 6);
	d = decide(two_links(a, b, e, 4, true));
	assert_int_equal(d.first->kind, VERDICT_INCONCLUSIVE);
	assert_int_equal(d.first->rounds_needed, 5);
	assert_true(says(d.first, "fewer than 5"));
	forget(&d);

	/* Six rounds, two of which failed in different series: four are left. */
	document = two_links(a, b, e, 6, true);
	cJSON_AddFalseToObject(made_trial(document, "wired", 2), "ok");
	cJSON_AddFalseToObject(made_trial(document, "path", 4), "ok");
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_INCONCLUSIVE);
	assert_true(says(d.first, "4 rounds can be compared, and fewer than 5"));
	forget(&d);

	document = two_links(a, b, e, 6, true);
	cJSON_AddFalseToObject(made_trial(document, "path", 4), "ok");
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_LINK);
	assert_true(says(d.first, "5 rounds, compared round by round"));
	forget(&d);
}

/* Directions are judged apart; a failed reverse does not touch forward. */
static void test_directions(void **state)
{
	cJSON *document = levels(100, 50, 50), *trial;
	struct decided d;
	double a[10];
	size_t before = 30, i = 0;

	(void)state;
	around(20, a, 10);
	made_add(document, "wired", a, 10, true);
	around(90, a, 10);
	made_add(document, "wireless", a, 10, true);
	around(20, a, 10);
	made_add(document, "path", a, 10, true);
	cJSON_ArrayForEach (trial, cJSON_GetObjectItem(document, "trials"))
		if (i++ >= before)
			cJSON_AddStringToObject(trial, "direction", "reverse");
	d = decide(document);
	assert_int_equal(d.verdicts->count, 2);
	assert_int_equal(d.verdicts->items[0].direction, TOPOLOGY_FORWARD);
	assert_string_equal(d.verdicts->items[0].segments[0], "wireless");
	assert_int_equal(d.verdicts->items[1].direction, TOPOLOGY_REVERSE);
	assert_string_equal(d.verdicts->items[1].segments[0], "wired");
	forget(&d);
}

static void test_one_link(void **state)
{
	cJSON *document =
		made_document("{\"links\":[{\"name\":\"cable\",\"a\":\"a:eth0\",\"b\":\"b:eth0\"}],"
			      "\"path\":[\"a\",\"b\"]}");
	struct decided d;
	double values[6];

	(void)state;
	around(94, values, 6);
	made_add(document, "cable", values, 6, true);
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_LINK);
	assert_int_equal(d.first->grade, VERDICT_STATISTICAL);
	assert_string_equal(d.first->segments[0], "cable");
	assert_true(says(d.first, "the only link"));
	forget(&d);
}

static void test_shared_medium(void **state)
{
	static const char topology[] =
		"{\"links\":[{\"name\":\"one\",\"a\":\"a:w0\",\"b\":\"r:w0\",\"shares\":\"air\"},"
		"{\"name\":\"two\",\"a\":\"r:w1\",\"b\":\"b:w0\",\"shares\":\"air\"}],"
		"\"path\":[\"a\",\"r\",\"b\"]}";
	static const double ends[] = {50, 20};
	double values[10];
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		cJSON *document = made_document(topology);
		struct decided d;

		around(100, values, 10);
		made_add(document, "one", values, 10, true);
		made_add(document, "two", values, 10, true);
		around(ends[i], values, 10);
		made_add(document, "path", values, 10, true);
		d = decide(document);
		assert_int_equal(d.first->kind, i ? VERDICT_INCONCLUSIVE : VERDICT_SHARED_MEDIUM);
		forget(&d);
	}
}

/* The first prefix that falls names the host before its last link. */
static void test_chain(void **state)
{
	static const char topology[] =
		"{\"links\":[{\"name\":\"l1\",\"a\":\"a:e1\",\"b\":\"r1:e0\"},"
		"{\"name\":\"l2\",\"a\":\"r1:e1\",\"b\":\"r2:e0\"},"
		"{\"name\":\"l3\",\"a\":\"r2:e1\",\"b\":\"r3:e0\"},"
		"{\"name\":\"l4\",\"a\":\"r3:e1\",\"b\":\"b:e0\"}],"
		"\"path\":[\"a\",\"r1\",\"r2\",\"r3\",\"b\"]}";
	static const struct {
		double to_r2, to_r3, whole;
		const char *host;
	} rows[] = {{50, 50, 50, "r1"}, {100, 50, 50, "r2"}, {100, 100, 50, "r3"}};
	static const char *const links[] = {"l1", "l2", "l3", "l4"};
	double values[10];
	size_t i, j;

	(void)state;
	for (i = 0; i < 3; i++) {
		cJSON *document = made_document(topology);
		struct decided d;

		around(100, values, 10);
		for (j = 0; j < 4; j++)
			made_add(document, links[j], values, 10, true);
		around(rows[i].to_r2, values, 10);
		made_add(document, "path:r2", values, 10, true);
		around(rows[i].to_r3, values, 10);
		made_add(document, "path:r3", values, 10, true);
		around(rows[i].whole, values, 10);
		made_add(document, "path", values, 10, true);
		d = decide(document);
		assert_int_equal(d.first->kind, VERDICT_FORWARDING);
		assert_int_equal(d.first->host_count, 1);
		assert_string_equal(d.first->hosts[0], rows[i].host);
		forget(&d);
	}
}

static cJSON *long_chain(char *topology, size_t size, int links)
{
	int used = snprintf(topology, size, "{\"links\":["), i;

	for (i = 0; i < links; i++)
		used += snprintf(topology + used, size - (size_t)used,
			"%s{\"name\":\"l%d\",\"a\":\"h%d:e1\",\"b\":\"h%d:e0\"}", i ? "," : "", i,
			i, i + 1);
	used += snprintf(topology + used, size - (size_t)used, "],\"path\":[\"h0\"");
	for (i = 1; i <= links; i++)
		used += snprintf(topology + used, size - (size_t)used, ",\"h%d\"", i);
	snprintf(topology + used, size - (size_t)used, "]}");
	return made_document(topology);
}

/* 16 links share the level out to .0031: 8 signs cannot reach it, Student's t can. */
static void test_many_links_few_rounds(void **state)
{
	char topology[4000], name[16];
	cJSON *document = long_chain(topology, sizeof(topology), 16);
	struct decided d;
	double values[8];
	int i;

	(void)state;
	for (i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		around(i == 9 ? 50 : 100 + 10 * i, values, 8);
		made_add(document, name, values, 8, true);
	}
	around(49.9, values, 8);
	made_add(document, "path", values, 8, true);
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_LINK);
	assert_string_equal(d.first->segments[0], "l9");
	assert_true(d.first->confidence > 1 - .05 / 16);
	forget(&d);
}

/* Without prefix trials any of the hosts between may be the one, and that is said. */
static void test_chain_without_prefixes(void **state)
{
	char topology[4000], name[16];
	cJSON *document = long_chain(topology, sizeof(topology), 4);
	struct decided d;
	double values[10];
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		around(100, values, 10);
		made_add(document, name, values, 10, true);
	}
	around(30, values, 10);
	made_add(document, "path", values, 10, true);
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_FORWARDING);
	assert_int_equal(d.first->host_count, 3);
	assert_true(says(d.first, "which of 3 hosts it is stays open"));
	forget(&d);
}

/* Paced TCP gets no verdict. */
static void test_no_capacity_test(void **state)
{
	cJSON *document = made_document(
		"{" MADE_LINKS_AND_PATH ",\"tests\":[{\"tcp\":{\"name\":\"slow\",\"pacing\":"
		"\"5Mbit\"}}]}");
	static const double values[] = {5, 5, 5, 5, 5, 5};
	struct verdicts *verdicts;
	struct run *run;
	cJSON *trial;

	(void)state;
	made_add(document, "wired", values, 6, true);
	made_add(document, "path", values, 6, true);
	cJSON_ArrayForEach (trial, cJSON_GetObjectItem(document, "trials"))
		cJSON_AddStringToObject(trial, "test", "slow");
	run = made_run(document);
	verdicts = verdict_decide(run, NULL);
	assert_int_equal(verdicts->count, 0);
	verdict_free(verdicts);
	run_free(run);
}

static void test_unmeasured_link(void **state)
{
	cJSON *document = made_document(MADE_TWO_LINKS);
	struct decided d;
	double values[10];

	(void)state;
	around(100, values, 10);
	made_add(document, "wired", values, 10, true);
	around(50, values, 10);
	made_add(document, "path", values, 10, true);
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_INCONCLUSIVE);
	assert_true(says(d.first, "wireless was not measured"));
	forget(&d);
}

/* Truths of known answer, 10 interleaved rounds of 5 % noise: nearly all must come out right. */
static void test_simulated(void **state)
{
	static const struct {
		double wired, wireless, whole;
		enum verdict_kind kind;
		enum verdict_qualifier qualifier;
	} truths[] = {
		{460, 100, 100, VERDICT_LINK, VERDICT_NO_QUALIFIER},
		{100, 100, 70, VERDICT_FORWARDING, VERDICT_NO_QUALIFIER},
		{460, 100, 130, VERDICT_LINK, VERDICT_ENDPOINT_LIMITED},
	};
	uint64_t seed = 20260101;
	size_t t;

	(void)state;
	for (t = 0; t < sizeof(truths) / sizeof(truths[0]); t++) {
		int right = 0, runs = 200, r, i;

		for (r = 0; r < runs; r++) {
			double a[10], b[10], e[10];
			struct decided d;

			for (i = 0; i < 10; i++) {
				a[i] = truths[t].wired * exp(.05 * made_normal(&seed));
				b[i] = truths[t].wireless * exp(.05 * made_normal(&seed));
				e[i] = truths[t].whole * exp(.05 * made_normal(&seed));
			}
			d = decide(two_links(a, b, e, 10, true));
			right += d.first->kind == truths[t].kind &&
				 (truths[t].qualifier == VERDICT_NO_QUALIFIER ||
					 d.first->qualifier == truths[t].qualifier) &&
				 (d.first->kind != VERDICT_LINK ||
					 (d.first->grade >= VERDICT_STATISTICAL &&
						 !strcmp(d.first->segments[0], "wireless")));
			forget(&d);
		}
		print_message("truth %zu: %d of %d right\n", t, right, runs);
		assert_true(right >= runs * 95 / 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_published_wifi_margin),
		cmocka_unit_test(test_undecided),
		cmocka_unit_test(test_rounds_needed),
		cmocka_unit_test(test_simple_kinds),
		cmocka_unit_test(test_suspected),
		cmocka_unit_test(test_few_rounds),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_one_link),
		cmocka_unit_test(test_shared_medium),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_many_links_few_rounds),
		cmocka_unit_test(test_chain_without_prefixes),
		cmocka_unit_test(test_no_capacity_test),
		cmocka_unit_test(test_unmeasured_link),
		cmocka_unit_test(test_simulated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
