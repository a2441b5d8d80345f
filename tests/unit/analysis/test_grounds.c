/* Verdicts with the evidence of hosts and interfaces for or against them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decided.h"

static void add_core(cJSON *trial, const char *host, double busy)
{
	cJSON *hosts = cJSON_GetObjectItem(trial, "hosts"), *entry, *core;

	if (!hosts)
		hosts = cJSON_AddObjectToObject(trial, "hosts");
	entry = cJSON_AddObjectToObject(hosts, host);
	core = cJSON_CreateObject();
	cJSON_AddNumberToObject(core, "busy", busy);
	cJSON_AddNumberToObject(core, "softirq", busy / 2);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(entry, "cores"), core);
}

static void add_interface(cJSON *trial, const char *name, double drops, double speed)
{
	cJSON *all = cJSON_GetObjectItem(trial, "interfaces"), *entry, *qdisc;

	if (!all)
		all = cJSON_AddObjectToObject(trial, "interfaces");
	entry = cJSON_AddObjectToObject(all, name);
	qdisc = cJSON_CreateObject();
	cJSON_AddNumberToObject(qdisc, "drops", drops);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(entry, "qdisc"), qdisc);
	if (speed > 0)
		cJSON_AddNumberToObject(entry, "speed_mbit", speed);
}

static void test_none_found(void **state)
{
	static const double sets[][3] = {{300, 350, 940}, {578, 578, 8986}};
	size_t i, j;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct decided d = decide(levels(sets[i][0], sets[i][1], sets[i][2]));

		assert_int_equal(d.first->kind, VERDICT_NONE_FOUND);
		assert_true(isnan(d.first->confidence));
		assert_int_equal(d.first->segment_count, 0);
		assert_true(says(d.first, i ? "8986 Mbit/s" : "940 Mbit/s"));
		assert_true(says(d.first, "router cannot source or sink this fast"));
		forget(&d);
	}
	/* With the router's core full in half of the trials it is the router; in fewer it is not.
	 */
	for (i = 4; i <= 5; i++) {
		cJSON *document = levels(578, 578, 8986);
		struct decided d;

		for (j = 0; j < 10; j++)
			add_core(made_trial(document, "path", j), "router", j < i ? .97 : .6);
		d = decide(document);
		assert_int_equal(d.first->kind, i == 5 ? VERDICT_FORWARDING : VERDICT_NONE_FOUND);
		if (i == 5) {
			assert_int_equal(d.first->grade, VERDICT_CONFIRMED);
			assert_string_equal(d.first->hosts[0], "router");
			assert_true(says(d.first, "95 % or more in 5 of 10 end to end trials"));
		}
		forget(&d);
	}
}

/* A core of a machine that router and pc2 share is no proof against the router. */
static void test_shared_machine(void **state)
{
	static const char *const other_boot[] = {"two", "one"};
	size_t i, j;

	(void)state;
	for (i = 0; i < 2; i++) {
		cJSON *document = levels(95, 95, 50), *hosts, *host;
		struct decided d;

		hosts = cJSON_AddObjectToObject(document, "hosts");
		host = cJSON_AddObjectToObject(hosts, "router");
		cJSON_AddStringToObject(host, "boot_id", "one");
		host = cJSON_AddObjectToObject(hosts, "pc2");
		cJSON_AddStringToObject(host, "boot_id", other_boot[i]);
		for (j = 0; j < 10; j++)
			add_core(made_trial(document, "path", j), "router", .99);
		d = decide(document);
		assert_int_equal(d.first->kind, VERDICT_FORWARDING);
		assert_int_equal(d.first->grade, i ? VERDICT_SUSPECTED : VERDICT_CONFIRMED);
		forget(&d);
	}
}

/* Drops that end to end adds confirm; the same drops in the link's own trials do not. */
static void test_forwarding_drops(void **state)
{
	int also_alone;
	size_t i;

	(void)state;
	for (also_alone = 0; also_alone <= 1; also_alone++) {
		cJSON *document = levels(95, 95, 60);
		struct decided d;

		for (i = 0; i < 10; i++) {
			add_interface(made_trial(document, "path", i), "router:wlan0", 41, 0);
			add_interface(made_trial(document, "wireless", i), "router:wlan0",
				also_alone ? 41 : 2, 0);
		}
		d = decide(document);
		assert_int_equal(d.first->kind, VERDICT_FORWARDING);
		assert_int_equal(
			d.first->grade, also_alone ? VERDICT_SUSPECTED : VERDICT_CONFIRMED);
		if (!also_alone)
			assert_true(says(d.first,
				"router:wlan0: 41.0 packets dropped by its queue a trial end to "
				"end, 2.0 in the trials of wireless alone"));
		forget(&d);
	}
}

static void test_link_evidence(void **state)
{
	cJSON *document = levels(940, 94.1, 94.0);
	struct decided d;
	size_t i;

	(void)state;
	for (i = 0; i < 10; i++)
		add_interface(made_trial(document, "wireless", i), "pc2:wlan0", 0, 100);
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_LINK);
	assert_int_equal(d.first->grade, VERDICT_CONFIRMED);
	assert_true(says(d.first, "negotiated 100 Mbit/s at pc2:wlan0"));
	forget(&d);
}

/* The queue that feeds the slow link is at its near end forwards and at its far end in reverse. */
static void test_queue_in_front(void **state)
{
	static const char *const rows[][2] = {{"forward", "router:wlan0"}, {"reverse", "pc2:wlan0"},
		{"reverse", "router:wlan0"}, {"forward", "router:eth0"}};
	size_t i, j;

	(void)state;
	for (i = 0; i < 4; i++) {
		cJSON *document = levels(95, 24, 24), *trial;
		struct decided d;

		for (j = 0; j < 10; j++)
			add_interface(made_trial(document, "path", j), rows[i][1], 12, 0);
		cJSON_ArrayForEach (trial, cJSON_GetObjectItem(document, "trials"))
			cJSON_AddStringToObject(trial, "direction", rows[i][0]);
		d = decide(document);
		assert_int_equal(d.first->kind, VERDICT_LINK);
		assert_int_equal(d.first->grade, i < 2 ? VERDICT_CONFIRMED : VERDICT_STATISTICAL);
		forget(&d);
	}
}

static void test_limited_by_core(void **state)
{
	cJSON *document = levels(400, 100, 130);
	struct decided d;
	size_t i;

	(void)state;
	for (i = 0; i < 10; i++)
		add_core(made_trial(document, "wireless", i), "router", .92);
	d = decide(document);
	assert_int_equal(d.first->qualifier, VERDICT_ENDPOINT_LIMITED);
	assert_int_equal(d.first->grade, VERDICT_CONFIRMED);
	assert_true(says(d.first, "a core of router was at 90 % or more in 10 of 10 wireless"));
	forget(&d);
}

static void test_above_wire_speed(void **state)
{
	cJSON *document = levels(95, 120, 95);
	struct decided d;
	size_t i;

	(void)state;
	for (i = 0; i < 10; i++)
		add_interface(made_trial(document, "wireless", i), "router:wlan0", 0, 100);
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_INCONCLUSIVE);
	assert_true(says(d.first, "above the 100 Mbit/s negotiated at router:wlan0"));
	forget(&d);
}

static void test_loss_rtt(void **state)
{
	static const struct {
		double path_rtt;
		enum verdict_kind kind;
	} rows[] = {{40000, VERDICT_INCONCLUSIVE}, {300, VERDICT_FORWARDING}};
	size_t i, j;

	(void)state;
	for (i = 0; i < 2; i++) {
		cJSON *document = levels(100, 100, 20);
		struct decided d;

		for (j = 0; j < 10; j++) {
			cJSON *trial = made_trial(document, "path", j);

			cJSON_AddNumberToObject(trial, "retransmits", 20);
			cJSON_AddNumberToObject(trial, "bytes", 25e6);
			cJSON_AddNumberToObject(trial, "min_rtt_us", rows[i].path_rtt);
			cJSON_AddNumberToObject(made_trial(document, "wired", j), "min_rtt_us",
				rows[i].path_rtt / 3);
			cJSON_AddNumberToObject(made_trial(document, "wireless", j), "min_rtt_us",
				rows[i].path_rtt / 4);
		}
		d = decide(document);
		assert_int_equal(d.first->kind, rows[i].kind);
		forget(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none_found),
		cmocka_unit_test(test_shared_machine),
		cmocka_unit_test(test_forwarding_drops),
		cmocka_unit_test(test_link_evidence),
		cmocka_unit_test(test_queue_in_front),
		cmocka_unit_test(test_limited_by_core),
		cmocka_unit_test(test_above_wire_speed),
		cmocka_unit_test(test_loss_rtt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
