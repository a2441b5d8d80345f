/* What the command line changes, in the data and in the document that goes into the run file. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"
#include "../units.h"
#include "parts.h"

static int out_of_memory(struct error *err)
{
	return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
}

static int usage_range(struct error *err, const char *option, const char *range)
{
	return error_set(err, ERROR_USAGE, NULL, "%s must be %s", option, range);
}

/* Replaces or adds; takes the value, also on failure. */
static int set_item(cJSON *object, const char *key, cJSON *value, struct error *err)
{
	bool done = value &&
		    (cJSON_GetObjectItemCaseSensitive(object, key)
				    ? cJSON_ReplaceItemInObjectCaseSensitive(object, key, value)
				    : cJSON_AddItemToObject(object, key, value));

	if (done)
		return 0;
	cJSON_Delete(value);
	return out_of_memory(err);
}

static int check_engine(const char *engine, struct error *err)
{
	char near[SUGGEST_TEXT_MAX];
	size_t count;

	for (count = 0; tests_engines[count].name; count++) {
		if (strcmp(tests_engines[count].name, engine) == 0)
			return 0;
	}
	return error_set(err, ERROR_USAGE, NULL, "unknown engine \"%.64s\"%s", engine,
		suggest_text(engine, tests_engines, count, sizeof(tests_engines[0]), near,
			sizeof(near)));
}

/* The tests of the document; a document without any gets the default one. */
static cJSON *source_tests(cJSON *source, struct error *err)
{
	cJSON *tests = cJSON_GetObjectItemCaseSensitive(source, "tests");

	if (cJSON_IsArray(tests))
		return tests;
	tests = cJSON_Parse("[{\"tcp\":{}}]");
	if (set_item(source, "tests", tests, err) < 0)
		return NULL;
	return tests;
}

/* The keys of one test: {"tcp": KEYS}; an empty value becomes {}. */
static cJSON *source_keys(cJSON *test, struct error *err)
{
	cJSON *keys = test ? test->child : NULL;
	char kind[16];

	if (cJSON_IsObject(keys))
		return keys;
	if (!keys)
		return NULL;
	snprintf(kind, sizeof(kind), "%s", keys->string);
	if (set_item(test, kind, cJSON_CreateObject(), err) < 0)
		return NULL;
	return test->child;
}

static int override_duration(struct topology *topology, int64_t duration, struct error *err)
{
	struct error why;
	struct reader reader = {topology, topology->mode, &why};
	cJSON *tests = source_tests(topology->source, err);
	char text[UNITS_TEXT_MAX];
	size_t i;

	if (!tests)
		return -1;
	if (duration < 100 || duration > 3600000)
		return usage_range(err, "--duration", "100ms to 1h");
	units_format_duration(duration, text, sizeof(text));
	for (i = 0; i < topology->test_count; i++) {
		cJSON *keys = source_keys(cJSON_GetArrayItem(tests, (int)i), err);

		if (!keys || set_item(keys, "duration", cJSON_CreateString(text), err) < 0)
			return out_of_memory(err);
		topology->tests[i].duration = duration;
		if (tests_finish(&reader, &topology->tests[i]) < 0)
			return error_set(err, ERROR_USAGE, why.where, "--duration %s: %s", text,
				why.message);
	}
	return 0;
}

static bool copy_text(char **text)
{
	if (*text)
		*text = strdup(*text);
	return *text != NULL;
}

/* A copy that owns its strings, for another engine; its id follows from name or kind and engine. */
static int copy_test(struct reader *reader, const struct topology_test *from, const char *engine,
	bool several, struct topology_test *to)
{
	char id[160];
	bool ok;

	*to = *from;
	to->engine = strdup(engine);
	to->id = NULL;
	if (from->named) {
		bool plain = !several || strcmp(engine, "native") == 0;

		snprintf(id, sizeof(id), "%s%s%s", from->id, plain ? "" : "-", plain ? "" : engine);
		to->id = strdup(id);
	}
	ok = to->engine && (to->id || !from->named);
	/* Each copy_text runs, so that no string stays shared. */
	ok &= copy_text(&to->congestion) || !from->congestion;
	ok &= copy_text(&to->transport) || !from->transport;
	ok &= copy_text(&to->method) || !from->method;
	ok &= copy_text(&to->from) || !from->from;
	ok &= copy_text(&to->to) || !from->to;
	ok &= copy_text(&to->verify) || !from->verify;
	return ok ? tests_finish(reader, to) : reader_out_of_memory(reader);
}

static int copy_source(
	cJSON *tests, const cJSON *from, const struct topology_test *test, struct error *err)
{
	cJSON *copy = cJSON_Duplicate(from, true);
	cJSON *keys = source_keys(copy, err);

	if (!keys || !cJSON_AddItemToArray(tests, copy)) {
		cJSON_Delete(copy);
		return out_of_memory(err);
	}
	if (set_item(keys, "engine", cJSON_CreateString(test->engine), err) < 0)
		return -1;
	return test->named ? set_item(keys, "name", cJSON_CreateString(test->id), err) : 0;
}

/* Fills tests and json with a copy of every test for every engine. */
static int repeat_tests(struct reader *reader, const struct topology_overrides *overrides,
	const cJSON *source, struct topology_test *tests, size_t *count, cJSON *json)
{
	const struct topology *topology = reader->topology;
	size_t i, j;

	for (i = 0; i < topology->test_count; i++) {
		for (j = 0; j < overrides->engine_count; j++) {
			struct topology_test *test = &tests[(*count)++];

			if (copy_test(reader, &topology->tests[i], overrides->engines[j],
				    overrides->engine_count > 1, test) < 0 ||
				copy_source(json, cJSON_GetArrayItem(source, (int)i), test,
					reader->err) < 0)
				return -1;
		}
	}
	return 0;
}

static int override_engines(
	struct topology *topology, const struct topology_overrides *overrides, struct error *err)
{
	struct error why;
	struct reader reader = {topology, topology->mode, &why};
	const cJSON *source = source_tests(topology->source, err);
	size_t count = 0, i;
	struct topology_test *tests;
	cJSON *json = cJSON_CreateArray();
	int result;

	tests = calloc(topology->test_count * overrides->engine_count, sizeof(*tests));
	if (!source || !json || !tests) {
		free(tests);
		cJSON_Delete(json);
		return out_of_memory(err);
	}
	result = repeat_tests(&reader, overrides, source, tests, &count, json);
	/* From here on the topology owns the copies, whole or not. */
	for (i = 0; i < topology->test_count; i++)
		tests_free(&topology->tests[i]);
	free(topology->tests);
	topology->tests = tests;
	topology->test_count = count;
	if (set_item(topology->source, "tests", json, err) < 0)
		return -1;
	if (result == 0)
		result = tests_check_ids(&reader);
	return result < 0 ? error_set(err, ERROR_USAGE, why.where, "--engine: %s", why.message) : 0;
}

int topology_override(
	struct topology *topology, const struct topology_overrides *overrides, struct error *err)
{
	size_t i;

	for (i = 0; i < overrides->engine_count; i++) {
		if (check_engine(overrides->engines[i], err) < 0)
			return -1;
	}
	if (overrides->trials) {
		if (overrides->trials < 1 || overrides->trials > 100000)
			return usage_range(err, "--trials", "1 to 100000");
		if (set_item(topology->source, "trials", cJSON_CreateNumber(overrides->trials),
			    err) < 0)
			return -1;
		topology->trials = overrides->trials;
	}
	if (overrides->duration && override_duration(topology, overrides->duration, err) < 0)
		return -1;
	return overrides->engine_count ? override_engines(topology, overrides, err) : 0;
}
