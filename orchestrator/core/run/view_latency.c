/* A trial's round trips: of a latency test, and beside a trial of the whole path. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "parts.h"

#define NUMBER_MAX 1e15

static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
	{"count", offsetof(struct run_latency, count)},
	{"lost", offsetof(struct run_latency, lost)},
	{"min_us", offsetof(struct run_latency, min_us)},
	{"mean_us", offsetof(struct run_latency, mean_us)},
	{"p50_us", offsetof(struct run_latency, p50_us)},
	{"p90_us", offsetof(struct run_latency, p90_us)},
	{"p99_us", offsetof(struct run_latency, p99_us)},
	{"p999_us", offsetof(struct run_latency, p999_us)},
	{"max_us", offsetof(struct run_latency, max_us)},
	{"rate_per_second", offsetof(struct run_latency, rate_per_second)},
};

/* An object that is not there has no numbers. */
static int read_one(
	const cJSON *object, struct run_latency *latency, const char *where, struct error *err)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		double value = json_number(object, numbers[i].key);

		if (value < 0 || value > NUMBER_MAX)
			return error_set(err, ERROR_FORMAT, where,
				"'%s' is %g; it must be between 0 and %g", numbers[i].key, value,
				NUMBER_MAX);
		*(double *)(void *)((char *)latency + numbers[i].offset) = value;
	}
	return 0;
}

/* A segment that this path does not have is kept in the JSON only. */
static int read_load(struct run_trial *trial, const struct topology *topology, const cJSON *item,
	const char *where, struct error *err)
{
	struct run_load load = {.segment = json_text(item, "segment")};

	if (!load.segment)
		return error_set(err, ERROR_FORMAT, where,
			"an entry of 'latency_under_load' has no 'segment'");
	load.segment_index = run_find_segment(topology, trial->path_index, load.segment);
	if (load.segment_index == (size_t)-1)
		return 0;
	if (read_one(cJSON_GetObjectItemCaseSensitive(item, "idle"), &load.idle, where, err) < 0 ||
		read_one(cJSON_GetObjectItemCaseSensitive(item, "loaded"), &load.loaded, where,
			err) < 0)
		return -1;
	trial->loads[trial->load_count++] = load;
	return 0;
}

int run_view_read_latency(struct run_trial *trial, const struct topology *topology,
	const char *where, struct error *err)
{
	const cJSON *loads = cJSON_GetObjectItemCaseSensitive(trial->json, "latency_under_load");
	const cJSON *item;
	int count = cJSON_IsArray(loads) ? cJSON_GetArraySize(loads) : 0;

	if (read_one(cJSON_GetObjectItemCaseSensitive(trial->json, "latency"), &trial->latency,
		    where, err) < 0)
		return -1;
	if (count == 0)
		return 0;
	trial->loads = calloc((size_t)count, sizeof(*trial->loads));
	if (!trial->loads)
		return error_set(err, ERROR_SYSTEM, where, "out of memory");
	cJSON_ArrayForEach (item, loads) {
		if (read_load(trial, topology, item, where, err) < 0)
			return -1;
	}
	return 0;
}

bool run_is_latency_test(const struct topology *topology, size_t test_index)
{
	return test_index != (size_t)-1 && topology->tests[test_index].kind == TOPOLOGY_LATENCY;
}
