#include "selection.h"

#include <stdlib.h>

#include "storage.h"

/* Topologies are small; a run file or an image given by mistake is not worth reading. */
#define TOPOLOGY_SIZE_MAX (1u << 20)

static struct topology *load(const struct run_arguments *arguments, struct error *err)
{
	struct topology_overrides overrides = arguments_overrides(arguments);
	struct topology *topology;
	size_t length;
	char *text = storage_read(arguments->topology, TOPOLOGY_SIZE_MAX, &length, err);

	if (!text)
		return NULL;
	topology = topology_load(text, length, arguments->topology, TOPOLOGY_FILE, err);
	free(text);
	if (topology && topology_override(topology, &overrides, err)) {
		topology_free(topology);
		return NULL;
	}
	return topology;
}

int selection_load(const struct run_arguments *arguments, struct topology **ret_topology,
	struct plan **ret_plan, struct error *err)
{
	struct plan_filter filter = arguments_filter(arguments);
	struct topology *topology = load(arguments, err);
	struct plan *plan = topology ? plan_build(topology, &filter, err) : NULL;

	if (!plan) {
		topology_free(topology);
		topology = NULL;
	}
	*ret_topology = topology;
	*ret_plan = plan;
	return plan ? 0 : -1;
}
