/* From a command line to what it runs: the topology file, the line's changes, the plan. */
#ifndef SELECTION_H
#define SELECTION_H

#include "arguments.h"
#include "plan.h"
#include "topology.h"

/*
 * Reads arguments->topology and plans what the line selects of it. Both results are the caller's
 * to free (plan first); on failure they are NULL.
 */
int selection_load(const struct run_arguments *arguments, struct topology **ret_topology,
	struct plan **ret_plan, struct error *err);

#endif
