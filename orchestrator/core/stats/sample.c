#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double sample_mean(const double *values, size_t n)
{
	double first = n ? values[0] : NAN, sum = 0;
	size_t i;

	/* Around the first value: equal values then give exactly that value. */
	for (i = 0; i < n; i++)
		sum += values[i] - first;
	return first + sum / (double)n;
}

double sample_variance(const double *values, size_t n)
{
	double mean = sample_mean(values, n), sum = 0;
	size_t i;

	if (n < 2)
		return NAN;
	for (i = 0; i < n; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum / (double)(n - 1);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sample_sort(double *values, size_t n)
{
	if (n > 1)
		qsort(values, n, sizeof(*values), compare_doubles);
}

double *sample_sorted(const double *values, size_t n)
{
	double *copy = malloc((n ? n : 1) * sizeof(*copy));

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, values, n * sizeof(*copy));
	sample_sort(copy, n);
	return copy;
}

double sample_median(const double *sorted, size_t n)
{
	if (!n)
		return NAN;
	if (n % 2)
		return sorted[n / 2];
	return sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1]) / 2;
}

size_t sample_count_to(const double *sorted, size_t n, double limit)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle] <= limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t sample_rank_for(const double *cumulative, size_t length, double alpha)
{
	size_t k = 0;

	while (k < length && cumulative[k] <= alpha)
		k++;
	return k;
}
