/*
 * The topology loader on any bytes, as a file and as part of a run file. Beyond not crashing: what
 * loads must load again from its own JSON, and has a plan or a reason not to.
 */
#include <cjson/cJSON.h>
#include <string.h>

#include "fuzz.h"
#include "plan.h"
#include "topology.h"

static void require(bool holds, const char *what, const struct error *err)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s: %s\n", what, err->where, err->message);
	abort();
}

static void check_plan(const struct topology *topology)
{
	struct error err = {0};
	struct plan *plan;

	/* Ten thousand rounds of a long chain would only measure calloc. */
	if (topology->trials > 100)
		return;
	plan = plan_build(topology, NULL, &err);
	require(plan || err.message[0] != '\0', "a refusal without words", &err);
	plan_free(plan);
}

static void check_again(struct topology *topology, enum topology_mode mode)
{
	char *printed = cJSON_PrintUnformatted(topology->source);
	struct error err = {0};
	struct topology *again;

	require(printed != NULL, "the document cannot be printed", &err);
	again = topology_load(printed, strlen(printed), "again.json", mode, &err);
	require(again != NULL, "its own JSON does not load", &err);
	require(again->host_count == topology->host_count &&
			again->link_count == topology->link_count &&
			again->path_count == topology->path_count &&
			again->test_count == topology->test_count,
		"its own JSON is another topology", &err);
	cJSON_free(printed);
	topology_free(again);
}

static void check_override(struct topology *topology, enum topology_mode mode)
{
	static const char *const engines[] = {"native", "iperf3"};
	const struct topology_overrides overrides = {
		.trials = 2, .duration = 500, .engines = engines, .engine_count = 2};
	struct error err = {0};

	if (topology_override(topology, &overrides, &err) < 0)
		require(err.message[0] != '\0', "a refusal without words", &err);
	else
		check_again(topology, mode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum topology_mode modes[] = {TOPOLOGY_FILE, TOPOLOGY_RECORDED};
	size_t i;

	for (i = 0; i < 2; i++) {
		struct error err = {0};
		struct topology *topology =
			topology_load((const char *)data, size, "fuzz.yaml", modes[i], &err);

		require(topology || err.message[0] != '\0', "a refusal without words", &err);
		if (!topology)
			continue;
		check_plan(topology);
		check_again(topology, modes[i]);
		check_override(topology, modes[i]);
		topology_free(topology);
	}
	return 0;
}
