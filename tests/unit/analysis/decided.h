/* Made-up runs and what was decided about them. */
#ifndef DECIDED_H
#define DECIDED_H

#include <stdbool.h>
#include <stddef.h>

#include "made.h"
#include "verdict.h"

struct decided {
	struct run *run;
	struct verdicts *verdicts;
	const struct verdict *first;
};

/* Parses, deletes and decides a document; it must have a verdict. */
struct decided decide(cJSON *document);
void forget(struct decided *decided);

/* Is this part of one of the reasons? Prints them all when it is not. */
bool says(const struct verdict *verdict, const char *part);

cJSON *two_links(const double *wired, const double *wireless, const double *whole, size_t n,
	bool interleaved);

/* n values around a level, a few tenths of a per cent apart, in an order of the level's own. */
void around(double level, double *values, size_t n);

/* Ten interleaved rounds around these levels, Mbit/s. */
cJSON *levels(double wired, double wireless, double whole);

#endif
