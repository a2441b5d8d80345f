#include "../plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../run.h"
#include "../suggest.h"
#include "impossible.h"
#include "order.h"
#include "unbuilt.h"

static int out_of_memory(struct error *err)
{
	return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
}

/* Links, prefixes of 2 .. n-1 links, and the whole when it is more than a link. */
static size_t count_segments(const struct topology_path *path)
{
	size_t links = path->link_count;

	return links < 2 ? links : links + (links - 2) + 1;
}

static char *prefix_name(
	const struct topology *topology, const struct topology_path *path, size_t host)
{
	const char *host_name = topology->hosts[path->hosts[host]].name;
	size_t size = strlen(path->name) + strlen(host_name) + 2;
	char *name = malloc(size);

	if (name)
		snprintf(name, size, "%s:%s", path->name, host_name);
	return name;
}

static bool fill_path(const struct topology *topology, size_t index, struct plan_segment *segment)
{
	const struct topology_path *path = &topology->paths[index];
	size_t links = path->link_count, i;

	for (i = 0; i < links; i++, segment++) {
		*segment = (struct plan_segment){
			strdup(topology->links[path->links[i]].name), PLAN_LINK, index, i, i};
		if (!segment->name)
			return false;
	}
	for (i = 1; i + 1 < links; i++, segment++) {
		*segment = (struct plan_segment){
			prefix_name(topology, path, i + 1), PLAN_PREFIX, index, 0, i};
		if (!segment->name)
			return false;
	}
	if (links < 2)
		return true;
	*segment = (struct plan_segment){strdup(path->name), PLAN_PATH, index, 0, links - 1};
	return segment->name != NULL;
}

int plan_list_segments(const struct topology *topology, struct plan_segment **ret_segments,
	size_t *ret_count, struct error *err)
{
	struct plan_segment *segments;
	size_t count = 0, i;

	for (i = 0; i < topology->path_count; i++)
		count += count_segments(&topology->paths[i]);
	segments = calloc(count + 1, sizeof(*segments));
	if (!segments)
		return out_of_memory(err);
	for (i = 0, count = 0; i < topology->path_count; i++) {
		size_t added = count_segments(&topology->paths[i]);

		if (!fill_path(topology, i, &segments[count])) {
			plan_free_segments(segments, count + added);
			return out_of_memory(err);
		}
		count += added;
	}
	*ret_count = count;
	*ret_segments = segments;
	return 0;
}

void plan_free_segments(struct plan_segment *segments, size_t count)
{
	size_t i;

	for (i = 0; segments && i < count; i++)
		free(segments[i].name);
	free(segments);
}

static bool wanted_test(const struct plan_filter *filter, const struct topology_test *test)
{
	size_t i;

	for (i = 0; filter && i < filter->test_count; i++) {
		if (strcmp(filter->tests[i], test->id) == 0)
			return true;
	}
	return !filter || filter->test_count == 0;
}

static bool wanted_segment(const struct plan_filter *filter, const struct plan_segment *segment)
{
	return !filter || !filter->segment || strcmp(filter->segment, segment->name) == 0;
}

static bool wanted_direction(const struct plan_filter *filter, const struct topology_test *test,
	enum topology_direction direction)
{
	/* "both" means one after the other, unless both at once are asked for. */
	bool at_once = filter && filter->direction == TOPOLOGY_BIDIR;
	bool in_test =
		test->direction == direction ||
		(test->direction == TOPOLOGY_BOTH && at_once == (direction == TOPOLOGY_BIDIR));

	return in_test &&
	       (!filter || filter->direction == TOPOLOGY_BOTH || filter->direction == direction);
}

static int check_filter_tests(
	const struct topology *topology, const struct plan_filter *filter, struct error *err)
{
	char near[SUGGEST_TEXT_MAX];
	size_t i, j;

	for (i = 0; i < filter->test_count; i++) {
		for (j = 0; j < topology->test_count; j++) {
			if (strcmp(topology->tests[j].id, filter->tests[i]) == 0)
				break;
		}
		if (j == topology->test_count)
			return error_set(err, ERROR_USAGE, NULL, "no test is called \"%.64s\"%s",
				filter->tests[i],
				suggest_text(filter->tests[i], topology->tests,
					topology->test_count, sizeof(struct topology_test), near,
					sizeof(near)));
	}
	return 0;
}

static int check_filter_segment(
	const struct plan *plan, const struct plan_filter *filter, struct error *err)
{
	char near[SUGGEST_TEXT_MAX];
	size_t i;

	for (i = 0; i < plan->segment_count; i++) {
		if (wanted_segment(filter, &plan->segments[i]))
			return 0;
	}
	return error_set(err, ERROR_USAGE, NULL, "no segment is called \"%.130s\"%s",
		filter->segment,
		suggest_text(filter->segment, plan->segments, plan->segment_count,
			sizeof(struct plan_segment), near, sizeof(near)));
}

static void list_series(struct plan *plan, const struct plan_filter *filter)
{
	static const enum topology_direction directions[] = {
		TOPOLOGY_FORWARD, TOPOLOGY_REVERSE, TOPOLOGY_BIDIR};
	const struct topology *topology = plan->topology;
	size_t segment, test, i;

	for (segment = 0; segment < plan->segment_count; segment++) {
		for (test = 0; test < topology->test_count; test++) {
			for (i = 0; i < 3; i++) {
				if (!wanted_segment(filter, &plan->segments[segment]) ||
					!wanted_test(filter, &topology->tests[test]) ||
					!wanted_direction(
						filter, &topology->tests[test], directions[i]))
					continue;
				plan->series[plan->series_count++] =
					(struct plan_series){segment, test, directions[i]};
			}
		}
	}
}

int64_t plan_probe_ms(const struct topology_test *test)
{
	return test->duration < 8 * 200 ? 200 : test->duration / 8;
}

static int64_t round_duration(const struct plan *plan)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < plan->series_count; i++) {
		const struct topology_test *test = &plan->topology->tests[plan->series[i].test];

		sum += test->gap +
		       (test->rate_search ? PLAN_PROBES_MAX * plan_probe_ms(test) : test->duration);
	}
	return sum;
}

static int fill(struct plan *plan, const struct plan_filter *filter, struct error *err)
{
	const struct topology *topology = plan->topology;
	size_t rounds = (size_t)topology->trials;

	if (plan_list_segments(topology, &plan->segments, &plan->segment_count, err) < 0)
		return -1;
	if (filter && check_filter_tests(topology, filter, err) < 0)
		return -1;
	if (filter && filter->segment && check_filter_segment(plan, filter, err) < 0)
		return -1;
	plan->series =
		calloc(plan->segment_count * topology->test_count * 2 + 1, sizeof(*plan->series));
	if (!plan->series)
		return out_of_memory(err);
	list_series(plan, filter);
	if (plan->series_count == 0)
		return error_set(err, ERROR_USAGE, NULL,
			"nothing is left to measure; drop --test, --segment or --direction");
	if (plan->series_count > RUN_TRIALS_MAX / rounds)
		return error_set(err, ERROR_USAGE, NULL,
			"%zu trials a round and %zu rounds are too many; a run holds %d",
			plan->series_count, rounds, RUN_TRIALS_MAX);
	if (unbuilt_check(plan, err) < 0 || impossible_check(plan, err) < 0)
		return -1;
	plan->order = calloc(rounds * plan->series_count, sizeof(*plan->order));
	if (!plan->order)
		return out_of_memory(err);
	order_fill(plan->order, rounds, plan->series_count, plan->seed);
	plan->duration_ms = round_duration(plan) * plan->rounds;
	return 0;
}

struct plan *plan_build(
	const struct topology *topology, const struct plan_filter *filter, struct error *err)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan) {
		out_of_memory(err);
		return NULL;
	}
	plan->topology = topology;
	plan->rounds = topology->trials;
	plan->seed = filter ? filter->seed : 0;
	if (fill(plan, filter, err) < 0) {
		plan_free(plan);
		return NULL;
	}
	return plan;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	plan_free_segments(plan->segments, plan->segment_count);
	free(plan->series);
	free(plan->order);
	free(plan);
}

const char *plan_direction_name(enum topology_direction direction)
{
	static const char *const names[] = {
		[TOPOLOGY_BOTH] = "both",
		[TOPOLOGY_FORWARD] = "forward",
		[TOPOLOGY_REVERSE] = "reverse",
		[TOPOLOGY_BIDIR] = "bidir",
	};

	return names[direction];
}

static const struct topology_end *segment_end(
	const struct plan *plan, const struct plan_segment *segment, size_t position, bool far)
{
	const struct topology_path *path = &plan->topology->paths[segment->path];
	const struct topology_link *link = &plan->topology->links[path->links[position]];

	return path->flipped[position] == far ? &link->a : &link->b;
}

const struct topology_end *plan_near_end(
	const struct plan *plan, const struct plan_segment *segment)
{
	return segment_end(plan, segment, segment->first, false);
}

const struct topology_end *plan_far_end(const struct plan *plan, const struct plan_segment *segment)
{
	return segment_end(plan, segment, segment->last, true);
}

size_t plan_listener(const struct plan *plan, const struct plan_segment *segment)
{
	const struct topology_path *path = &plan->topology->paths[segment->path];
	const struct topology_link *link = &plan->topology->links[path->links[segment->first]];
	size_t host = path->listen;

	if (segment->kind == PLAN_LINK && link->listen != TOPOLOGY_LISTEN_AUTO)
		return link->listen == TOPOLOGY_LISTEN_A ? link->a.host : link->b.host;
	/* `listen` on a path is about its ends; a link or prefix without that end decides alone. */
	if (segment->kind == PLAN_LINK && path->link_count > 1)
		return TOPOLOGY_NO_HOST;
	if (host == path->hosts[segment->first] || host == path->hosts[segment->last + 1])
		return host;
	return TOPOLOGY_NO_HOST;
}
