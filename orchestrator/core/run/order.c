#include <string.h>

#include "parts.h"

static int compare_sizes(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

/* Tests that the file does not declare share an index: their names tell them apart. */
static int compare_tests(const struct run_trial *a, const struct run_trial *b)
{
	int order = compare_sizes(a->test_index, b->test_index);

	if (!order)
		order = strcmp(a->test, b->test);
	if (!order)
		order = strcmp(a->engine, b->engine);
	if (!order)
		order = (a->direction > b->direction) - (a->direction < b->direction);
	return order;
}

int run_compare_study(const struct run_trial *a, const struct run_trial *b)
{
	int order = compare_sizes(a->path_index, b->path_index);

	return order ? order : compare_tests(a, b);
}

int run_compare_series(const struct run_trial *a, const struct run_trial *b)
{
	int order = compare_sizes(a->path_index, b->path_index);

	if (!order)
		order = compare_sizes(a->segment_index, b->segment_index);
	return order ? order : compare_tests(a, b);
}

int run_compare_place(const struct run_trial *a, const struct run_trial *b)
{
	int order = (a->round > b->round) - (a->round < b->round);

	return order ? order : run_compare_series(a, b);
}
