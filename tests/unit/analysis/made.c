#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "made.h"

cJSON *made_document(const char *topology)
{
	cJSON *document = cJSON_CreateObject();

	cJSON_AddStringToObject(document, "format", "orch-run");
	cJSON_AddNumberToObject(document, "version", 1);
	cJSON_AddStringToObject(document, "name", "made");
	cJSON_AddItemToObject(document, "topology", cJSON_Parse(topology));
	cJSON_AddArrayToObject(document, "trials");
	return document;
}

void made_add(
	cJSON *document, const char *segment, const double *values, size_t n, bool interleaved)
{
	cJSON *trials = cJSON_GetObjectItem(document, "trials");
	size_t i;

	for (i = 0; i < n; i++) {
		cJSON *trial = cJSON_CreateObject();

		if (interleaved)
			cJSON_AddNumberToObject(trial, "round", (double)(i + 1));
		cJSON_AddStringToObject(trial, "segment", segment);
		cJSON_AddNumberToObject(trial, "throughput_bps", round(values[i] * 1e6));
		cJSON_AddItemToArray(trials, trial);
	}
}

cJSON *made_trial(cJSON *document, const char *segment, size_t index)
{
	cJSON *trials = cJSON_GetObjectItem(document, "trials"), *trial;

	cJSON_ArrayForEach (trial, trials) {
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(trial, "segment"));

		if (!strcmp(name, segment) && index-- == 0)
			return trial;
	}
	return NULL;
}

struct run *made_run(cJSON *document)
{
	char *text = cJSON_PrintUnformatted(document);
	struct error err = {0};
	struct run *run = run_parse(text, strlen(text), "made.json", &err);

	if (!run)
		fail_msg("%s: %s", err.where, err.message);
	cJSON_free(text);
	cJSON_Delete(document);
	return run;
}

/* xorshift64* (Vigna 2016), its upper 53 bits as a number in (0, 1). */
static double uniform(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return ((double)((*state * UINT64_C(2685821657736338717)) >> 11) + .5) / 9007199254740992.;
}

double made_normal(uint64_t *state)
{
	double u = uniform(state), v = uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}
