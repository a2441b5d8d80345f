#include "histogram.h"

#include <stddef.h>
#include <string.h>

#define SUBS      (1 << HISTOGRAM_BITS)
#define VALUE_MAX ((INT64_C(2) << HISTOGRAM_TOP) - 1)

static size_t bucket_of(int64_t value)
{
	if (value < SUBS)
		return (size_t)value;
	int power = 63 - __builtin_clzll((unsigned long long)value);

	return ((size_t)(power - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS) +
	       (size_t)(value >> (power - HISTOGRAM_BITS)) - SUBS;
}

static int64_t middle_of(size_t bucket)
{
	if (bucket < SUBS)
		return (int64_t)bucket;
	size_t shift = (bucket >> HISTOGRAM_BITS) - 1;
	int64_t width = INT64_C(1) << shift;

	return ((int64_t)(bucket % SUBS + SUBS) << shift) + width / 2;
}

void histogram_clear(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
}

void histogram_add(struct histogram *histogram, int64_t value)
{
	if (value < 0)
		value = 0;
	if (value > VALUE_MAX)
		value = VALUE_MAX;
	histogram->counts[bucket_of(value)]++;
	histogram->total++;
	if (value > histogram->max)
		histogram->max = value;
}

int64_t histogram_percentile(const struct histogram *histogram, unsigned int permille)
{
	uint64_t rank = (histogram->total * permille + 999) / 1000, passed = 0;

	if (histogram->total == 0)
		return 0;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		passed += histogram->counts[i];
		if (passed >= rank && passed > 0) {
			int64_t value = middle_of(i);

			return value < histogram->max ? value : histogram->max;
		}
	}
	return histogram->max;
}
