/*
 * What a run will do: the segments of every path, the series (segment x test x direction) and, for
 * each round, the series in seeded random order. Pure; made from a topology, touches no host.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topology.h"

enum plan_segment_kind { PLAN_LINK, PLAN_PREFIX, PLAN_PATH };

struct plan_segment {
	char *name; /* the link's, "PATH:HOST" for a prefix, the path's for the whole */
	enum plan_segment_kind kind;
	size_t path;        /* index into topology->paths */
	size_t first, last; /* link positions on the path, both included */
};

struct plan_series {
	size_t segment;                    /* index into segments */
	size_t test;                       /* index into topology->tests */
	enum topology_direction direction; /* FORWARD, REVERSE or BIDIR */
};

struct plan {
	const struct topology *topology;
	struct plan_segment *segments;
	size_t segment_count;
	struct plan_series *series;
	size_t series_count;
	int rounds;
	uint64_t seed;
	size_t *order;       /* rounds x series_count series indexes */
	int64_t duration_ms; /* sum of the trials' durations and gaps */
};

struct plan_filter {
	const char *const *tests; /* ids; none = all */
	size_t test_count;
	const char *segment;               /* name, or NULL */
	enum topology_direction direction; /* BOTH = no filter */
	uint64_t seed;
};

/*
 * Fails with ERROR_UNBUILT, naming the line, for a feature that is not built yet, and with
 * ERROR_USAGE for a filter that names nothing.
 */
struct plan *plan_build(
	const struct topology *topology, const struct plan_filter *filter, struct error *err);
void plan_free(struct plan *plan);

/*
 * The segments of every path alone, path by path: links, prefixes, the whole path. Refuses nothing,
 * so that also a recorded run of another version's tests has an order. free with
 * plan_free_segments().
 */
int plan_list_segments(const struct topology *topology, struct plan_segment **ret_segments,
	size_t *ret_count, struct error *err);
void plan_free_segments(struct plan_segment *segments, size_t count);

/* A search for the highest rate is made of at most so many probes ... */
#define PLAN_PROBES_MAX 16

/* ... of this many ms each: an eighth of the test's duration, 200 at least. */
int64_t plan_probe_ms(const struct topology_test *test);

const char *plan_direction_name(enum topology_direction direction); /* forward, reverse, bidir */

/*
 * The two ends of a segment: the one nearer to the path's first host, and the far one; and the
 * hosts of the path between and including them (indexes into path->hosts: first .. last + 1).
 */
const struct topology_end *plan_near_end(
	const struct plan *plan, const struct plan_segment *segment);
const struct topology_end *plan_far_end(
	const struct plan *plan, const struct plan_segment *segment);

/* The host that `listen` names for this segment, or TOPOLOGY_NO_HOST for auto. */
size_t plan_listener(const struct plan *plan, const struct plan_segment *segment);

#endif
