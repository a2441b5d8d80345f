/* The run as a whole: made, filled, finished. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

#define EXACT_INTEGER_MAX (UINT64_C(1) << 53)

int run_load_topology(struct run *run, const char *file, struct error *err)
{
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(run->document, "topology");
	char *text;

	if (!cJSON_IsObject(source))
		return error_set(err, ERROR_FORMAT, file,
			"no 'topology' object: a run needs at least its links and path");
	text = cJSON_Print(source);
	if (!text)
		return error_set(err, ERROR_SYSTEM, file, "out of memory");
	run->topology = topology_load(text, strlen(text), file, TOPOLOGY_RECORDED, err);
	cJSON_free(text);
	if (run->topology)
		return 0;
	/* The place is one in the topology's own text: say so instead of a line of the file. */
	if (err) {
		struct error inner = *err;

		error_set(err, ERROR_FORMAT, file, "its topology: %.900s", inner.message);
	}
	return -1;
}

static struct cJSON *seed_item(uint64_t seed)
{
	char text[24];

	if (seed <= EXACT_INTEGER_MAX)
		return cJSON_CreateNumber((double)seed);
	snprintf(text, sizeof(text), "%" PRIu64, seed);
	return cJSON_CreateString(text);
}

struct run *run_create(const struct topology *topology, uint64_t seed, const char *label,
	const char *started, struct error *err)
{
	struct run *run = calloc(1, sizeof(*run));
	cJSON *document = cJSON_CreateObject();
	bool filled;

	if (run)
		run->document = document;
	else
		cJSON_Delete(document);
	filled = run && document && cJSON_AddStringToObject(document, "format", RUN_FORMAT) &&
		 cJSON_AddNumberToObject(document, "version", RUN_VERSION) &&
		 cJSON_AddStringToObject(document, "orch", ORCH_VERSION) &&
		 cJSON_AddStringToObject(
			 document, "name", topology->name ? topology->name : "run") &&
		 cJSON_AddStringToObject(document, "label", label ? label : "") &&
		 cJSON_AddStringToObject(document, "started", started) &&
		 cJSON_AddNullToObject(document, "finished") &&
		 json_set(document, "seed", seed_item(seed)) &&
		 cJSON_AddFalseToObject(document, "complete") &&
		 json_set(document, "topology", cJSON_Duplicate(topology->source, true)) &&
		 cJSON_AddObjectToObject(document, "hosts");
	if (!filled)
		error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	else if (run_load_topology(run, topology->file, err) == 0)
		return run;
	run_free(run);
	return NULL;
}

void run_free(struct run *run)
{
	size_t i;

	if (!run)
		return;
	for (i = 0; i < run->trial_count; i++)
		run_view_free(run->trials[i]);
	free(run->trials);
	topology_free(run->topology);
	cJSON_Delete(run->document);
	free(run);
}

static bool grow(struct run *run)
{
	struct run_trial **larger;

	/* Capacity is the next power of two: it is full exactly at one. */
	if (run->trial_count & (run->trial_count - 1))
		return true;
	larger = realloc(run->trials,
		(run->trial_count ? 2 * run->trial_count : 1) * sizeof(struct run_trial *));
	if (!larger)
		return false;
	run->trials = larger;
	return true;
}

int run_append(struct run *run, struct cJSON *json, const char *where, struct error *err)
{
	struct run_trial *trial = run_view_create(run, json, where, err);

	if (!trial)
		return -1;
	if (run->trial_count >= RUN_TRIALS_MAX) {
		run_view_free(trial);
		return error_set(err, ERROR_FORMAT, where, "more than %d trials", RUN_TRIALS_MAX);
	}
	if (!grow(run)) {
		run_view_free(trial);
		return error_set(err, ERROR_SYSTEM, where, "out of memory");
	}
	run->trials[run->trial_count++] = trial;
	return 0;
}

int run_add_trial(struct run *run, struct cJSON *json, struct error *err)
{
	const struct run_trial *added;
	size_t i;

	if (run_append(run, json, "new trial", err) < 0)
		return -1;
	added = run->trials[run->trial_count - 1];
	if (!added->round)
		return 0;
	for (i = 0; i + 1 < run->trial_count; i++) {
		if (run_compare_place(run->trials[i], added))
			continue;
		error_set(err, ERROR_FORMAT, added->segment,
			"round %d has this series' trial already", added->round);
		run_view_free(run->trials[--run->trial_count]);
		return -1;
	}
	return 0;
}

int run_set_host(struct run *run, const char *name, struct cJSON *facts, struct error *err)
{
	cJSON *hosts = cJSON_GetObjectItemCaseSensitive(run->document, "hosts");

	if (!cJSON_IsObject(hosts)) {
		hosts = cJSON_CreateObject();
		if (!json_set(run->document, "hosts", hosts)) {
			cJSON_Delete(facts);
			return error_set(err, ERROR_SYSTEM, name, "out of memory");
		}
	}
	if (!json_set(hosts, name, facts))
		return error_set(err, ERROR_SYSTEM, name, "out of memory");
	return 0;
}

void run_finish(struct run *run, const char *finished, bool complete)
{
	json_set(run->document, "finished", cJSON_CreateString(finished));
	json_set(run->document, "complete", cJSON_CreateBool(complete));
}

char *run_header_line(const struct run *run)
{
	return json_line(run->document);
}
