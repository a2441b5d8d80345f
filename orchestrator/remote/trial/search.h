/*
 * The highest rate a segment carries with little enough loss, by short probes: from 10 Mbit/s on
 * the rate grows fourfold (or shrinks) until a probe that passes and one that fails are its bounds,
 * then it is bisected until they are 1 % apart. What the receiver counted of a probe that failed is
 * the best guess of what fits, so it is tried first. Pure: which rate next, and what is the result.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "plan.h"
#include "sample.h"

struct search {
	double limit;        /* percent */
	int64_t least, most; /* bit/s */
	int64_t low, high;   /* highest that passed, lowest that failed; 0 = none */
	int64_t guess;       /* untried; 0 = none */
	bool guessed;        /* the last probe was one */
	double held_back;    /* throughput of the probe before, when its sender could not keep up */
	bool sender_limited; /* the sender cannot do more */
	struct sample_probe probes[PLAN_PROBES_MAX];
	size_t count;
};

void search_init(struct search *search, const struct topology_test *test);

/* The next probe's rate in bit/s, or 0 when the search is over. */
int64_t search_next(struct search *search);

/* What a probe at this rate measured; NULL = nothing arrived. Returns whether it passed. */
bool search_note(struct search *search, int64_t rate, const struct sample *sample);

/* The test as one probe measures it. */
struct topology_test search_probe(const struct topology_test *test, int64_t rate);

/*
 * Runs the probes, each by run(), and fills ret: the best passing probe's sample, with all probes
 * and the bytes of all of them (path proof counts them all). Fails with ERROR_TRIAL when none
 * passes, with a probe's error when the first one fails, and as run() when the run is over.
 */
int search_run(const struct topology_test *test,
	int (*run)(void *context, const struct topology_test *probe, struct sample *ret,
		struct error *err),
	void *context, struct sample *ret, struct error *err);

#endif
