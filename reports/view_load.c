/* Latency under load as part of a group. */
#include <stdlib.h>
#include <string.h>

#include "view.h"

static bool is_of(const struct run_trial *trial, const struct view_group *group)
{
	return trial->direction == group->direction && strcmp(trial->path, group->path) == 0 &&
	       strcmp(trial->test, group->test) == 0 && strcmp(trial->engine, group->engine) == 0;
}

int view_fill_loads(const struct view *view, struct view_group *group)
{
	const struct run *run = view->run;
	const struct topology_path *path = view_find_path(view, group->path);
	size_t segments = path ? 2 * path->link_count : 0, count = 0;
	const struct run_trial **trials = calloc(run->trial_count + 1, sizeof(*trials));

	group->loads = calloc(segments + 1, sizeof(*group->loads));
	if (!trials || !group->loads) {
		free(trials);
		return -1;
	}
	for (size_t i = 0; i < run->trial_count; i++) {
		if (run->trials[i]->load_count && is_of(run->trials[i], group))
			trials[count++] = run->trials[i];
	}
	for (size_t i = 0; count && i < segments; i++) {
		if (load_summarize(trials, count, i, &group->loads[group->load_count]))
			group->load_count++;
	}
	free(trials);
	return 0;
}
