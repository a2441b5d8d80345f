/*
 * Evidence of one trial from every host of its path: begun before, read after, kept until the
 * record is made. Hosts that are gone are simply absent.
 */
#ifndef WITNESS_H
#define WITNESS_H

#include "fleet.h"
#include "plan.h"
#include "proof.h"
#include "sample.h"
#include "segment.h"

struct cJSON;

struct witness;

/* Takes the first snapshot on every host of the path. NULL only for ERROR_INTERRUPTED/SYSTEM. */
struct witness *witness_begin(struct fleet *fleet, const struct topology *topology,
	const struct topology_path *path, int64_t delay_ms, struct error *err);

/*
 * Reads what changed and judges the path; counters that come late are read again for up to 1.5 s.
 * sender and receiver are the segment's ends. Fails only with ERROR_INTERRUPTED or ERROR_SYSTEM.
 */
int witness_read(struct witness *witness, const struct segment_end *sender,
	const struct segment_end *receiver, const struct sample *sample, struct proof *ret_proof,
	struct error *err);

/* Adds hosts and interfaces to a trial's record. */
void witness_record(const struct witness *witness, const struct segment_end *sender,
	const struct segment_end *receiver, const struct sample *sample, const struct proof *proof,
	struct cJSON *record);

void witness_free(struct witness *witness); /* takes NULL */

#endif
