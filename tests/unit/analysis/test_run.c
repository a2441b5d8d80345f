/* Run files: what is read, refused, kept and written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "made.h"
#include "summary.h"
#include "verdict.h"

#define HEAD           "{\"format\":\"orch-run\",\"version\":1,\"name\":\"made\",\"topology\":" MADE_TWO_LINKS
#define TRIALS(trials) HEAD ",\"trials\":[" trials "]}"

static struct run *parse(const char *text)
{
	struct error err = {0};
	struct run *run = run_parse(text, strlen(text), "f.json", &err);

	if (!run)
		fail_msg("%s: %s", err.where, err.message);
	return run;
}

static void refuse(const char *text, const char *where, const char *message)
{
	struct error err = {0};
	struct run *run = run_parse(text, strlen(text), "f.json", &err);

	if (run) {
		run_free(run);
		fail_msg("not refused: %.200s", text);
	}
	assert_int_equal(err.code, ERROR_FORMAT);
	if (!strstr(err.where, where) || !strstr(err.message, message))
		fail_msg("'%s': '%s' lacks '%s': '%s'", err.where, err.message, where, message);
}

static void test_minimal(void **state)
{
	struct run *run = parse(TRIALS("{\"segment\":\"wired\",\"throughput_bps\":1e6},"
				       "{\"segment\":\"path\",\"throughput_bps\":2e6,"
				       "\"round\":null,\"direction\":\"reverse\","
				       "\"test\":\"tcp-iperf3\",\"engine\":\"iperf3\"}"));
	const struct run_trial *trial = run->trials[0];

	(void)state;
	assert_int_equal(run->trial_count, 2);
	assert_string_equal(trial->path, "path");
	assert_string_equal(trial->test, "tcp");
	assert_string_equal(trial->engine, "native");
	assert_int_equal(trial->direction, TOPOLOGY_FORWARD);
	assert_true(trial->ok && run_trial_valid(trial));
	assert_int_equal(trial->round, 0);
	assert_int_equal(trial->segment_index, 0);
	assert_true(trial->throughput_bps == 1e6);
	assert_true(isnan(trial->loss_percent) && isnan(trial->retransmits));
	assert_null(trial->path_proof);
	trial = run->trials[1];
	assert_string_equal(trial->engine, "iperf3");
	assert_int_equal(trial->direction, TOPOLOGY_REVERSE);
	assert_int_equal(trial->segment_index, 3);
	run_free(run);
}

static void test_foreign_and_broken(void **state)
{
	char *deep = malloc(20001);

	(void)state;
	refuse("", "f.json", "empty");
	refuse(" \n\t", "f.json", "empty");
	refuse("{\"start\":{\"connected\":[]}}", "f.json", "a foreign file");
	refuse("[1,2]", "f.json", "a foreign file");
	refuse("{\"format\":\"other\",\"version\":1}", "f.json", "a foreign file");
	refuse("{\"Format\":\"orch-run\",\"version\":1}", "f.json", "a foreign file");
	refuse("{\"format\":\"orch-run\",\"version\":2,\"name\":\"x\"}", "f.json", "version 2");
	refuse("{\"format\":\"orch-run\",\"name\":\"x\"}", "f.json", "no 'version'");
	refuse("{\"format\":\"orch-run\",\"version\":1}", "f.json", "no 'name'");
	refuse("{\"format\":\"orch-run\",\"version\":1,\"name\":\"x\"}", "f.json", "no 'topology'");
	refuse("{\"format\":\"orch-run\",\"version\":1,\"name\":\"x\",\"topology\":{}}", "f.json",
		"its topology:");
	refuse("{\n\"format\":\"orch-run\",\n\"version\":1,\n \"na", "f.json:4:", "");
	refuse("{\"format\":\"orch-run\",\n", "f.json:2:1", "cut short");
	refuse("{\n\"format\" \"orch-run\"}", "f.json:2:10", "not valid JSON");
	refuse(TRIALS("") "\n x", "f.json:2:2", "after the end");
	refuse(TRIALS("") "{}", "f.json:1:", "after the end");
	refuse(HEAD ",\"trials\":[],\"trials\":[]}", "f.json", "there twice");
	refuse(HEAD ",\"trials\":{}}", "f.json", "must be a list");
	memset(deep, '[', 10000);
	memset(deep + 10000, ']', 10000);
	deep[20000] = '\0';
	refuse(deep, "f.json", "nested deeper than 64");
	free(deep);
}

static void test_bad_trials(void **state)
{
	static const struct {
		const char *trial, *message;
	} rows[] = {
		{"7", "must be an object"},
		{"{\"throughput_bps\":1}", "no 'segment'"},
		{"{\"segment\":\"wirless\",\"throughput_bps\":1}", "no segment 'wirless'"},
		{"{\"segment\":\"path:router\",\"throughput_bps\":1}", "no segment 'path:router'"},
		{"{\"segment\":7}", "'segment' must be a text"},
		{"{\"segment\":\"wired\",\"path\":\"way\"}", "no path 'way'"},
		{"{\"segment\":\"wired\",\"test\":\"voice\"}", "no test 'voice'"},
		{"{\"segment\":\"wired\",\"test\":\"tcp-\"}", "no test 'tcp-'"},
		{"{\"segment\":\"wired\",\"direction\":\"both\"}", "unknown direction 'both'"},
		{"{\"segment\":\"wired\",\"throughput_bps\":1e30}", "'throughput_bps' is not a"},
		{"{\"segment\":\"wired\",\"throughput_bps\":1e999}", "'throughput_bps' is not a"},
		{"{\"segment\":\"wired\",\"throughput_bps\":1e16}", "between 0 and 1e+15"},
		{"{\"segment\":\"wired\",\"throughput_bps\":-5}", "'throughput_bps' is -5"},
		{"{\"segment\":\"wired\",\"throughput_bps\":\"fast\"}", "is not a number"},
		{"{\"segment\":\"wired\",\"throughput_bps\":true}", "is not a number"},
		{"{\"segment\":\"wired\",\"loss_percent\":101}", "between 0 and 100"},
		{"{\"segment\":\"wired\",\"hosts\":{\"pc1\":{\"x\":[1,-1e40]}}}", "not a finite"},
		{"{\"segment\":\"wired\",\"round\":0}", "'round' must be"},
		{"{\"segment\":\"wired\",\"round\":1.5}", "'round' must be"},
		{"{\"segment\":\"wired\",\"round\":\"1\"}", "'round' must be"},
		{"{\"segment\":\"wired\",\"ok\":1}", "'ok' must be"},
		{"{\"segment\":\"wired\",\"error\":1}", "'error' must be"},
	};
	char text[2000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text),
			TRIALS("{\"segment\":\"wired\",\"throughput_bps\":1},%s"), rows[i].trial);
		refuse(text, "f.json: trial 2", rows[i].message);
	}
	refuse(TRIALS("{\"segment\":\"wired\",\"throughput_bps\":NaN}"), "f.json:1:", "not valid");
	refuse(TRIALS("{\"segment\":\"wired\",\"throughput_bps\":Infinity}"),
		"f.json:1:", "not valid");
	refuse(TRIALS("{\"segment\":\"wired\",\"round\":3},{\"segment\":\"path\",\"round\":3},"
		      "{\"segment\":\"wired\",\"round\":3}"),
		"f.json", "two trials of segment 'wired', test 'tcp' in round 3");
}

static void test_outcomes(void **state)
{
	struct run *run = parse(TRIALS(
		"{\"segment\":\"wired\",\"throughput_bps\":0},"
		"{\"segment\":\"wired\",\"throughput_bps\":5,\"ok\":false,\"error\":\"lost\"},"
		"{\"segment\":\"wired\",\"throughput_bps\":5,\"path_proof\":\"contradicted\"},"
		"{\"segment\":\"wired\"},"
		"{\"segment\":\"wired\",\"ok\":false},"
		"{\"segment\":\"wired\",\"throughput_bps\":5,\"path_proof\":\"not_observable\"}"));
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++)
		assert_false(run_trial_valid(run->trials[i]));
	assert_true(run_trial_valid(run->trials[5]));
	assert_false(run->trials[0]->ok);
	assert_non_null(strstr(run->trials[0]->error, "no data arrived"));
	assert_string_equal(run->trials[1]->error, "lost");
	assert_non_null(run->trials[4]->error);
	run_free(run);
}

static void test_part(void **state)
{
	const char *trial = "{\"round\":1,\"segment\":\"wired\",\"throughput_bps\":1}";
	char text[3000];
	struct run *run;
	size_t cut;

	(void)state;
	run = parse(HEAD ",\"complete\":true}\n");
	assert_int_equal(run->trial_count, 0);
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(run->document, "complete")));
	run_free(run);
	/* Cut anywhere in the second trial: the first stays, the torn one is dropped. */
	for (cut = 1; cut < strlen(trial); cut++) {
		snprintf(text, sizeof(text), "%s}\n%s\n%.*s", HEAD, trial, (int)cut, trial);
		run = parse(text);
		assert_int_equal(run->trial_count, 1);
		run_free(run);
	}
	/* Whole but for its newline it counts; torn in the middle of the file it is an error. */
	snprintf(text, sizeof(text), "%s}\n%s", HEAD, trial);
	run = parse(text);
	assert_int_equal(run->trial_count, 1);
	run_free(run);
	snprintf(text, sizeof(text), "%s}\n%.20s\n%s\n", HEAD, trial, trial);
	refuse(text, "f.json:2:", "not a trial");
	snprintf(text, sizeof(text), "%s}\n%s\n%s\n", HEAD, trial, trial);
	refuse(text, "f.json", "in round 1");
	snprintf(text, sizeof(text), "%s}\n%s %s\n%s\n", HEAD, trial, trial, trial);
	refuse(text, "f.json:2:", "not a trial");
}

static void test_evidence(void **state)
{
	struct run *run = parse(TRIALS(
		"{\"segment\":\"path\",\"throughput_bps\":5,\"intervals\":["
		"{\"omitted\":true,\"bytes\":0},{\"omitted\":false,\"bytes\":9}],"
		"\"hosts\":{\"router\":{\"cores\":["
		"{\"user\":0.1,\"system\":0.2,\"irq\":0,\"softirq\":0.1,\"steal\":0,\"busy\":0.4},"
		"{\"user\":0.1,\"system\":0.1,\"irq\":0.05,\"softirq\":0.7,\"steal\":0.02}],"
		"\"wait_us\":12,\"softnet_dropped\":\"9007199254740993\"}},"
		"\"interfaces\":{\"router:wlan0\":{\"rx_bytes\":77,\"tx_dropped\":3,"
		"\"speed_mbit\":null,\"qdisc\":[{\"drops\":4},{\"drops\":3}]},"
		"\"stranger:eth0\":{\"rx_bytes\":1},\"nocolon\":{}}},"
		"{\"segment\":\"path\",\"throughput_bps\":5,\"intervals\":[{\"bytes\":0}]}"));
	const struct run_trial *trial = run->trials[0];

	(void)state;
	assert_int_equal(trial->host_count, 1);
	assert_string_equal(trial->hosts[0].host, "router");
	assert_true(fabs(trial->hosts[0].busiest - .97) < 1e-12);
	assert_true(fabs(trial->hosts[0].busiest_softirq - .75) < 1e-12);
	assert_true(fabs(trial->hosts[0].steal - .02) < 1e-12);
	assert_true(trial->hosts[0].wait_us == 12 && trial->hosts[0].run_us < 0);
	assert_true(trial->hosts[0].softnet_dropped > 9e15);
	assert_int_equal(trial->interface_count, 1);
	assert_string_equal(trial->interfaces[0].host, "router");
	assert_string_equal(trial->interfaces[0].interface, "wlan0");
	assert_true(trial->interfaces[0].rx_bytes == 77 && trial->interfaces[0].tx_bytes < 0);
	assert_true(trial->interfaces[0].qdisc_drops == 4);
	assert_int_equal(trial->interfaces[0].speed_mbit, -1);
	assert_false(trial->stalled);
	assert_true(run->trials[1]->stalled);
	run_free(run);
}

static void test_exact_numbers_and_unknown_fields(void **state)
{
	static const char *const kept[] = {"1234567890123457", "9007199254740991", "0.1",
		"94300000.125", "\"18446744073709551615\"", "-1234567890123457", "1e-07",
		"0.30000000000000004", "4294967297"};
	char trial[400], text[3000];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		struct run *run;
		char *printed;

		snprintf(trial, sizeof(trial), "\"later\":[%s]", kept[i]);
		snprintf(text, sizeof(text),
			"%s,\"future\":{\"deep\":{%s}},\"trials\":[{\"segment\":\"wired\","
			"\"throughput_bps\":5,%s}],\"summary\":[1],\"verdicts\":[2]}",
			HEAD, trial, trial);
		run = parse(text);
		printed = run_print(run);
		assert_non_null(printed);
		/* Once in the document, once in the trial. */
		assert_non_null(strstr(printed, trial));
		assert_non_null(strstr(strstr(printed, trial) + 1, trial));
		assert_null(strstr(printed, "\"summary\":[\n1"));
		assert_null(strstr(printed, "\"verdicts\":[\n2"));
		free(printed);
		run_free(run);
	}
}

/* Printing what was read from what was printed changes nothing. */
static void test_round_trip(void **state)
{
	cJSON *document = made_document(MADE_TWO_LINKS);
	const double values[] = {94.3, 94.4, 94.3, 94.4, 94.5, 94.5};
	struct run *run, *again;
	char *first, *second;
	cJSON *json;

	(void)state;
	made_add(document, "wired", values, 6, true);
	made_add(document, "wireless", values, 6, true);
	made_add(document, "path", values, 6, true);
	run = made_run(document);
	first = run_print(run);
	again = parse(first);
	second = run_print(again);
	assert_string_equal(first, second);
	json = cJSON_Parse(first);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "trials")), 18);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "summary")), 3);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "verdicts")), 1);
	cJSON_Delete(json);
	free(first);
	free(second);
	run_free(run);
	run_free(again);
}

static cJSON *live_trial(const char *segment, int round, double throughput)
{
	cJSON *trial = cJSON_CreateObject();

	cJSON_AddNumberToObject(trial, "round", round);
	cJSON_AddStringToObject(trial, "segment", segment);
	cJSON_AddNumberToObject(trial, "throughput_bps", throughput);
	return trial;
}

static void test_live_run(void **state)
{
	static const char *const order[] = {"\"format\"", "\"version\"", "\"orch\"", "\"name\"",
		"\"label\"", "\"started\"", "\"finished\"", "\"seed\"", "\"complete\"",
		"\"topology\"", "\"hosts\"", "\"trials\"", "\"summary\"", "\"verdicts\""};
	static const char yaml[] = "{\"name\":\"made\"," MADE_LINKS_AND_PATH "}";
	struct error err = {0};
	struct topology *topology =
		topology_load(yaml, strlen(yaml), "t.yaml", TOPOLOGY_RECORDED, &err);
	struct run *run, *part;
	char *line, *text, joined[4000];
	const char *at;
	size_t i;

	(void)state;
	assert_non_null(topology);
	run = run_create(
		topology, UINT64_C(18446744073709551615), "build 7", "2026-01-01T00:00:00Z", &err);
	if (!run) {
		fail_msg("%s: %s", err.where, err.message);
		return;
	}
	line = run_header_line(run);
	assert_null(strchr(line, '\n'));
	assert_non_null(strstr(line, "\"18446744073709551615\""));
	snprintf(joined, sizeof(joined), "%s\n%s\n", line,
		"{\"round\":1,\"segment\":\"wired\",\"throughput_bps\":5}");
	part = parse(joined);
	assert_int_equal(part->trial_count, 1);
	run_free(part);
	free(line);

	assert_int_equal(run_add_trial(run, live_trial("wired", 1, 5), &err), 0);
	assert_int_equal(run_add_trial(run, live_trial("wired", 1, 6), &err), -1);
	assert_non_null(strstr(err.message, "round 1"));
	assert_int_equal(run_add_trial(run, live_trial("nowhere", 1, 6), &err), -1);
	assert_int_equal(run_add_trial(run, live_trial("wired", 2, NAN), &err), -1);
	assert_int_equal(run->trial_count, 1);
	assert_int_equal(run_set_host(run, "router", cJSON_CreateObject(), &err), 0);
	assert_int_equal(run_set_host(run, "router", cJSON_CreateObject(), &err), 0);
	run_finish(run, "2026-01-01T00:10:00Z", true);
	text = run_print(run);
	if (!text) {
		fail_msg("a run without text");
		return;
	}
	for (at = text, i = 0; at && i < sizeof(order) / sizeof(order[0]); i++) {
		char key[40];

		snprintf(key, sizeof(key), "\n%s:", order[i]);
		at = strstr(at, key);
		if (!at)
			fail_msg("%s is missing or out of order", order[i]);
	}
	assert_non_null(strstr(text, "\"complete\":true"));
	assert_non_null(strstr(text, "\"finished\":\"2026-01-01T00:10:00Z\""));
	assert_non_null(strstr(text, "\"hosts\":{\"router\":{}}"));
	free(text);
	run_free(run);
	topology_free(topology);
}

static void test_summary(void **state)
{
	struct run *run = parse(
		TRIALS("{\"segment\":\"path\",\"throughput_bps\":3e6},"
		       "{\"segment\":\"wireless\",\"throughput_bps\":5e6,\"retransmits\":4},"
		       "{\"segment\":\"wired\",\"throughput_bps\":2e6,\"direction\":\"reverse\"},"
		       "{\"segment\":\"wireless\",\"throughput_bps\":1e6,\"retransmits\":null,"
		       "\"rtt_us\":700,\"intervals\":[{\"bytes\":0}]},"
		       "{\"segment\":\"wireless\",\"ok\":false,\"retransmits\":99},"
		       "{\"segment\":\"wired\",\"throughput_bps\":2e6}"));
	struct summary *summary = summary_build(run, NULL);
	const struct summary_row *row = summary->rows;
	cJSON *json;

	(void)state;
	assert_int_equal(summary->row_count, 4);
	assert_string_equal(row[0].segment, "wired");
	assert_int_equal(row[0].direction, TOPOLOGY_FORWARD);
	assert_int_equal(row[1].direction, TOPOLOGY_REVERSE);
	assert_string_equal(row[2].segment, "wireless");
	assert_string_equal(row[3].segment, "path");
	assert_int_equal(row[2].valid, 2);
	assert_int_equal(row[2].failed, 1);
	assert_true(row[2].values[0] == 5e6 && row[2].values[1] == 1e6);
	assert_true(row[2].stats.mean == 3e6);
	assert_true(row[2].retransmits == 4 && row[2].rtt_us == 700);
	assert_true(row[2].stalls && !row[3].stalls);
	assert_true(isnan(row[0].rtt_us));
	json = summary_to_json(summary);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(json, 2), "hl_ci95")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(json, 0), "sd")));
	assert_string_equal(
		cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetArrayItem(json, 2), "flags"), 0)
			->valuestring,
		"stalls");
	cJSON_Delete(json);
	summary_free(summary);
	run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minimal),
		cmocka_unit_test(test_foreign_and_broken),
		cmocka_unit_test(test_bad_trials),
		cmocka_unit_test(test_outcomes),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_exact_numbers_and_unknown_fields),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_live_run),
		cmocka_unit_test(test_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
