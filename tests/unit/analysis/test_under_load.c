/* Round trips under load as evidence, latency tests in summaries, and bad ones in files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "decided.h"
#include "load.h"
#include "summary.h"

static cJSON *times(double p50_us)
{
	cJSON *object;

	if (p50_us < 0)
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	cJSON_AddNumberToObject(object, "p50_us", p50_us);
	cJSON_AddNumberToObject(object, "p99_us", 2 * p50_us);
	return object;
}

/* Negative: that entry is null. */
static void add_load(cJSON *trial, const char *segment, double idle_us, double loaded_us)
{
	cJSON *list = cJSON_GetObjectItem(trial, "latency_under_load");
	cJSON *item = cJSON_CreateObject();

	if (!list)
		list = cJSON_AddArrayToObject(trial, "latency_under_load");
	cJSON_AddStringToObject(item, "segment", segment);
	cJSON_AddItemToObject(item, "idle", times(idle_us));
	cJSON_AddItemToObject(item, "loaded", times(loaded_us));
	cJSON_AddItemToArray(list, item);
}

struct growth {
	int wired, wireless; /* trials of ten in which the queue grew */
	enum verdict_grade grade;
	const char *says;
};

/* wireless limits the path; whether that is confirmed depends on where queues stood. */
static void test_grade(void **state)
{
	static const struct growth cases[] = {
		{0, 10, VERDICT_CONFIRMED,
			"wired's from 0.10 to 0.10, wireless's from 0.20 to 62.0, path's from "
			"0.30 to 70.0; the queue stands at wireless"},
		{1, 5, VERDICT_CONFIRMED, "the queue stands at wireless"},
		{0, 4, VERDICT_STATISTICAL, "but one in a host that forwards between them"},
		{2, 10, VERDICT_STATISTICAL, "the queue stands at wireless"},
		{10, 0, VERDICT_STATISTICAL, "the queue stands at wired"},
		{10, 10, VERDICT_STATISTICAL, "the queue stands at wired and wireless"},
		{0, 0, VERDICT_STATISTICAL, "no queue stood at any link"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cJSON *document = levels(95, 24, 24);
		struct decided d;

		for (int j = 0; j < 10; j++) {
			cJSON *trial = made_trial(document, "path", (size_t)j);

			add_load(trial, "wired", 100, j < cases[i].wired ? 9000 : 100);
			add_load(trial, "wireless", 200, j < cases[i].wireless ? 62000 : 200);
			add_load(trial, "path", 300, 70000);
		}
		d = decide(document);
		assert_int_equal(d.first->kind, VERDICT_LINK);
		assert_int_equal(d.first->grade, cases[i].grade);
		assert_true(says(d.first, cases[i].says));
		forget(&d);
	}
}

/* A little longer, or longer but not twice as long, is no queue. */
static void test_small_growth(void **state)
{
	static const double pairs[][2] = {{50, 1900}, {20000, 39000}, {-1, 62000}, {100, -1}};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		cJSON *document = levels(95, 24, 24);
		struct decided d;

		for (size_t j = 0; j < 10; j++)
			add_load(made_trial(document, "path", j), "wireless", pairs[i][0],
				pairs[i][1]);
		d = decide(document);
		assert_int_equal(d.first->grade, VERDICT_STATISTICAL);
		/* A link without a word is no link without a queue. */
		if (i < 2)
			assert_true(says(d.first, "no queue stood at these links"));
		forget(&d);
	}
}

static void test_medians(void **state)
{
	static const double idle[] = {100, 900, 300}, loaded[] = {5000, 7000, 60000};
	cJSON *document = levels(95, 24, 24);
	struct load load;
	struct run *run;

	(void)state;
	for (size_t j = 0; j < 3; j++)
		add_load(made_trial(document, "path", j), "wired", idle[j], loaded[j]);
	add_load(made_trial(document, "path", 4), "wired", -1, -1);
	add_load(made_trial(document, "path", 5), "elsewhere", 1, 2);
	run = made_run(document);
	assert_true(load_summarize(
		(const struct run_trial *const *)run->trials, run->trial_count, 0, &load));
	assert_int_equal(load.trials, 3);
	assert_int_equal(load.grew, 3);
	assert_true(load.idle_us == 300 && load.loaded_us == 7000 && load.loaded_p99_us == 14000);
	assert_string_equal(load.segment, "wired");
	assert_false(load_summarize(
		(const struct run_trial *const *)run->trials, run->trial_count, 1, &load));
	run_free(run);
}

#define LATENCY_TEST                                                                               \
	"{" MADE_LINKS_AND_PATH ",\"tests\":[{\"latency\":{\"name\":\"ping\",\"transport\":"       \
	"\"tcp\"}}]}"

static cJSON *latency_trial(cJSON *document, int round, double p50_us, double max_us)
{
	cJSON *trial = cJSON_CreateObject();
	cJSON *latency = cJSON_AddObjectToObject(trial, "latency");

	cJSON_AddNumberToObject(trial, "round", round);
	cJSON_AddStringToObject(trial, "segment", "path");
	cJSON_AddStringToObject(trial, "test", "ping");
	cJSON_AddNumberToObject(latency, "count", 100);
	cJSON_AddNumberToObject(latency, "lost", 1);
	cJSON_AddNumberToObject(latency, "p50_us", p50_us);
	cJSON_AddNumberToObject(latency, "p99_us", 10 * p50_us);
	cJSON_AddNumberToObject(latency, "max_us", max_us);
	cJSON_AddItemToArray(cJSON_GetObjectItem(document, "trials"), trial);
	return latency;
}

static void test_latency_summary(void **state)
{
	cJSON *document = made_document(LATENCY_TEST), *json, *row;
	struct verdicts *verdicts;
	struct summary *summary;
	struct run *run;

	(void)state;
	latency_trial(document, 1, 100, 5000);
	latency_trial(document, 2, 300, 4000);
	/* No answer: a failed trial, and no sample of 0. */
	cJSON_DeleteItemFromObject(latency_trial(document, 3, 1, 1), "p50_us");
	run = made_run(document);
	summary = summary_build(run, NULL);
	assert_int_equal(summary->row_count, 1);
	assert_int_equal(summary->rows[0].valid, 2);
	assert_int_equal(summary->rows[0].failed, 1);
	json = summary_to_json(summary);
	row = cJSON_GetArrayItem(json, 0);
	assert_string_equal(cJSON_GetObjectItem(row, "metric")->valuestring, "latency");
	assert_string_equal(cJSON_GetObjectItem(row, "unit")->valuestring, "us");
	assert_true(cJSON_GetObjectItem(row, "mean")->valuedouble == 200);
	row = cJSON_GetObjectItem(row, "latency");
	assert_true(cJSON_GetObjectItem(row, "p50_us")->valuedouble == 200);
	assert_true(cJSON_GetObjectItem(row, "p99_us")->valuedouble == 2000);
	assert_true(cJSON_GetObjectItem(row, "max_us")->valuedouble == 5000);
	assert_true(cJSON_GetObjectItem(row, "lost")->valuedouble == 2);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(row, "p90_us")));
	verdicts = verdict_decide(run, NULL);
	assert_int_equal(verdicts->count, 0);
	verdict_free(verdicts);
	cJSON_Delete(json);
	summary_free(summary);
	run_free(run);
}

static void refuse(cJSON *document, const char *part)
{
	char *text = cJSON_PrintUnformatted(document);
	struct error err = {0};

	assert_null(run_parse(text, strlen(text), "made.json", &err));
	assert_int_equal(err.code, ERROR_FORMAT);
	assert_non_null(strstr(err.message, part));
	cJSON_free(text);
	cJSON_Delete(document);
}

static void test_bad_numbers(void **state)
{
	cJSON *document = made_document(LATENCY_TEST);

	(void)state;
	latency_trial(document, 1, -3, 5000);
	refuse(document, "p50_us");
	document = levels(95, 24, 24);
	add_load(made_trial(document, "path", 0), "wired", 100, 1e17);
	refuse(document, "p50_us");
	document = levels(95, 24, 24);
	add_load(made_trial(document, "path", 0), "wired", 100, 100);
	cJSON_DeleteItemFromObject(
		cJSON_GetArrayItem(
			cJSON_GetObjectItem(made_trial(document, "path", 0), "latency_under_load"),
			0),
		"segment");
	refuse(document, "segment");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grade),
		cmocka_unit_test(test_small_growth),
		cmocka_unit_test(test_medians),
		cmocka_unit_test(test_latency_summary),
		cmocka_unit_test(test_bad_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
