/*
 * Times in a bounded number of buckets, for percentiles without keeping every value: 64 buckets to
 * each power of two, so a percentile is off by at most 1/128 of itself. Integer arithmetic only.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

enum {
	HISTOGRAM_BITS = 6,
	HISTOGRAM_TOP = 40, /* greater values count as 2^41 - 1: 36 minutes in ns */
	HISTOGRAM_BUCKETS = (HISTOGRAM_TOP - HISTOGRAM_BITS + 2) << HISTOGRAM_BITS,
};

struct histogram {
	uint32_t counts[HISTOGRAM_BUCKETS];
	uint64_t total;
	int64_t max; /* exact */
};

void histogram_clear(struct histogram *histogram);

/* A negative value counts as 0. */
void histogram_add(struct histogram *histogram, int64_t value);

/* The value that permille of 1000 values do not exceed (nearest rank); 0 when there is none. */
int64_t histogram_percentile(const struct histogram *histogram, unsigned int permille);

#endif
