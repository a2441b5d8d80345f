/*
 * A segment made ready to be measured: its two ends resolved to devices and addresses by what the
 * hosts say, and which of them listens settled by trying (docs/topology.md, `listen`).
 */
#ifndef SEGMENT_H
#define SEGMENT_H

#include "binding.h"
#include "fleet.h"
#include "plan.h"

struct segment_end {
	size_t host; /* index into topology->hosts */
	const struct topology_end *end;
	struct binding binding;
	struct binding neighbour; /* the other end of the end's own link: its gateway on a path */
};

enum segment_state {
	SEGMENT_UNUSED, /* no series needs it */
	SEGMENT_READY,
	SEGMENT_FAILED, /* error says why; its trials are recorded as failed */
};

struct segment {
	enum segment_state state;
	struct error error;
	struct segment_end near, far; /* near: towards the path's first host */
	bool near_listens;
};

/* Segments by (plan segment, family): a test may ask for its own family. */
struct segments;

/*
 * Resolves every segment that the plan's series need. Fails with ERROR_TOPOLOGY for what the file
 * says and a host knows better (no such interface, no address): nothing is to be started then. A
 * segment with a host that was not reached becomes SEGMENT_FAILED.
 */
struct segments *segments_resolve(
	const struct plan *plan, const struct fleet *fleet, struct error *err);
void segments_free(struct segments *segments); /* takes NULL */

/*
 * Settles who listens, by a connection that presents a token and closes. Fails with ERROR_TOPOLOGY
 * when an end has no route to the other by its device (the message holds the `ip route` command),
 * else only with ERROR_INTERRUPTED or ERROR_SYSTEM; a segment nobody can connect over becomes
 * SEGMENT_FAILED.
 */
int segments_settle(struct segments *segments, struct fleet *fleet, struct error *err);

const struct segment *segments_find(
	const struct segments *segments, const struct plan_series *series);

#endif
