/* Who listens on a segment: settled once, by trying. */
#ifndef SETTLE_H
#define SETTLE_H

#include "segment.h"

/*
 * Sets segment->near_listens, or its state to SEGMENT_FAILED with the cause of both ways. Fails as
 * segments_settle().
 */
int settle_listener(const struct plan *plan, const struct plan_series *series,
	struct segment *segment, struct fleet *fleet, struct error *err);

#endif
