/*
 * Path proof: did the interface that an end names carry the trial's bytes? Pure:
 * counters, facts and byte counts in, a state and a sentence out.
 */
#ifndef PROOF_H
#define PROOF_H

#include <stdbool.h>

#include "binding.h"
#include "evidence.h"
#include "facts.h"

enum proof_state { PROOF_PROVED, PROOF_NOT_OBSERVABLE, PROOF_CONTRADICTED };

/* One end: what it should have moved through which interface. */
struct proof_end {
	const char *host;
	const struct facts *facts;
	const struct binding *binding;
	struct evidence evidence;
	bool sends;
};

struct proof {
	enum proof_state state;
	bool cross_traffic;
	char text[800];            /* which counters showed it */
	char carrier[2][IFNAMSIZ]; /* by end: another interface that carried the bytes, or empty */
};

/*
 * Judges a trial in which the receiver counted `received` bytes and the sender put at most `sent`
 * on its way, retransmissions included. An interface must have carried .9 of `received` (what the
 * sender wrote and the trial's end threw away in its socket buffer never reached a wire), and more
 * than 1.1 times `sent` is somebody else's.
 */
void proof_judge(const struct proof_end ends[2], double received, double sent, struct proof *ret);

/*
 * Adds the judgement of the same ends, in the same order, for the other direction at the same time:
 * the worse state, both sentences.
 */
void proof_join(struct proof *proof, const struct proof *other);

const char *proof_state_name(enum proof_state state);

#endif
