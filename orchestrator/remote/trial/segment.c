#include "segment.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "settle.h"

enum { FAMILY_ANY, FAMILY_4, FAMILY_6, FAMILY_COUNT };

struct segments {
	const struct plan *plan;
	struct segment *items; /* plan->segment_count x FAMILY_COUNT */
};

static struct segment *slot(const struct segments *segments, const struct plan_series *series)
{
	int family = segments->plan->topology->tests[series->test].family;
	size_t column = family == 6 ? FAMILY_6 : family == 4 ? FAMILY_4 : FAMILY_ANY;

	return &segments->items[series->segment * FAMILY_COUNT + column];
}

const struct segment *segments_find(
	const struct segments *segments, const struct plan_series *series)
{
	return slot(segments, series);
}

/* Resolves one link, the end nearer to the path's first host first. */
static int resolve_position(const struct plan *plan, const struct fleet *fleet,
	const struct topology_path *path, size_t position, int family, struct binding *ret_near,
	struct binding *ret_far, struct error *err)
{
	const struct topology *topology = plan->topology;
	const struct topology_link *link = &topology->links[path->links[position]];
	struct binding a, b;

	if (binding_resolve_link(topology, link, fleet_host_facts(fleet, link->a.host),
		    fleet_host_facts(fleet, link->b.host), family, &a, &b, err) < 0)
		return -1;
	*ret_near = path->flipped[position] ? b : a;
	*ret_far = path->flipped[position] ? a : b;
	return 0;
}

static int resolve_ends(const struct plan *plan, const struct fleet *fleet,
	const struct plan_segment *planned, int family, struct segment *segment, struct error *err)
{
	const struct topology_path *path = &plan->topology->paths[planned->path];

	if (resolve_position(plan, fleet, path, planned->first, family, &segment->near.binding,
		    &segment->near.neighbour, err) < 0)
		return -1;
	return resolve_position(plan, fleet, path, planned->last, family, &segment->far.neighbour,
		&segment->far.binding, err);
}

/* Both ends must speak one family: 4 when that works, else 6, unless the test asks for one. */
static int resolve_family(const struct plan *plan, const struct fleet *fleet,
	const struct plan_segment *planned, int family, struct segment *segment, struct error *err)
{
	if (family)
		return resolve_ends(plan, fleet, planned, family, segment, err);
	if (resolve_ends(plan, fleet, planned, 4, segment, NULL) == 0)
		return 0;
	if (resolve_ends(plan, fleet, planned, 6, segment, NULL) == 0)
		return 0;
	/* Neither: the words of the one without a wish are about what is there at all. */
	if (resolve_ends(plan, fleet, planned, 0, segment, err) < 0)
		return -1;
	return error_set(err, ERROR_TOPOLOGY, planned->name,
		"the two ends have no address family in common");
}

/* A host whose word is needed and that was not reached, or NULL. */
static const struct error *missing_host(
	const struct plan *plan, const struct fleet *fleet, const struct plan_segment *planned)
{
	const struct topology_path *path = &plan->topology->paths[planned->path];
	const size_t hosts[] = {path->hosts[planned->first], path->hosts[planned->first + 1],
		path->hosts[planned->last], path->hosts[planned->last + 1]};

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		if (!fleet_host_ready(fleet, hosts[i]))
			return fleet_host_error(fleet, hosts[i]);
	}
	return NULL;
}

static int resolve_segment(const struct plan *plan, const struct fleet *fleet,
	const struct plan_series *series, struct segment *segment, struct error *err)
{
	const struct plan_segment *planned = &plan->segments[series->segment];
	const struct error *missing = missing_host(plan, fleet, planned);

	segment->near.end = plan_near_end(plan, planned);
	segment->far.end = plan_far_end(plan, planned);
	segment->near.host = segment->near.end->host;
	segment->far.host = segment->far.end->host;
	if (missing) {
		segment->state = SEGMENT_FAILED;
		segment->error = *missing;
		return 0;
	}
	if (resolve_family(plan, fleet, planned, plan->topology->tests[series->test].family,
		    segment, err) < 0)
		return -1;
	segment->state = SEGMENT_READY;
	return 0;
}

struct segments *segments_resolve(
	const struct plan *plan, const struct fleet *fleet, struct error *err)
{
	struct segments *segments = calloc(1, sizeof(*segments));

	if (segments)
		segments->items =
			calloc(plan->segment_count * FAMILY_COUNT, sizeof(*segments->items));
	if (!segments || !segments->items) {
		free(segments);
		error_set(err, ERROR_SYSTEM, NULL, "out of memory");
		return NULL;
	}
	segments->plan = plan;
	for (size_t i = 0; i < plan->series_count; i++) {
		struct segment *segment = slot(segments, &plan->series[i]);

		if (segment->state == SEGMENT_UNUSED &&
			resolve_segment(plan, fleet, &plan->series[i], segment, err) < 0) {
			segments_free(segments);
			return NULL;
		}
	}
	return segments;
}

void segments_free(struct segments *segments)
{
	if (!segments)
		return;
	free(segments->items);
	free(segments);
}

int segments_settle(struct segments *segments, struct fleet *fleet, struct error *err)
{
	const struct plan *plan = segments->plan;
	bool *settled = calloc(plan->segment_count * FAMILY_COUNT, sizeof(*settled));
	int result = settled ? 0 : error_set(err, ERROR_SYSTEM, NULL, "out of memory");

	for (size_t i = 0; result == 0 && i < plan->series_count; i++) {
		struct segment *segment = slot(segments, &plan->series[i]);
		size_t index = (size_t)(segment - segments->items);

		if (settled[index] || segment->state != SEGMENT_READY)
			continue;
		settled[index] = true;
		result = settle_listener(plan, &plan->series[i], segment, fleet, err);
	}
	free(settled);
	return result;
}
