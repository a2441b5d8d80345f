#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "decided.h"

struct decided decide(cJSON *document)
{
	struct decided result = {.run = made_run(document)};

	result.verdicts = verdict_decide(result.run, NULL);
	assert_non_null(result.verdicts);
	assert_true(result.verdicts->count > 0);
	result.first = &result.verdicts->items[0];
	return result;
}

void forget(struct decided *decided)
{
	verdict_free(decided->verdicts);
	run_free(decided->run);
}

bool says(const struct verdict *verdict, const char *part)
{
	size_t i;

	for (i = 0; i < verdict->reason_count; i++)
		if (strstr(verdict->reasons[i], part))
			return true;
	for (i = 0; i < verdict->reason_count; i++)
		print_message("  reason: %s\n", verdict->reasons[i]);
	return false;
}

cJSON *two_links(const double *wired, const double *wireless, const double *whole, size_t n,
	bool interleaved)
{
	cJSON *document = made_document(MADE_TWO_LINKS);

	made_add(document, "wired", wired, n, interleaved);
	made_add(document, "wireless", wireless, n, interleaved);
	made_add(document, "path", whole, n, interleaved);
	return document;
}

void around(double level, double *values, size_t n)
{
	static const double steps[] = {0, .004, -.003, .001, -.005, .002, -.001, .005, -.004, .001};
	size_t i;

	for (i = 0; i < n; i++)
		values[i] = level * (1 + steps[(3 * i + (size_t)level / 10) % 10]);
}

cJSON *levels(double wired, double wireless, double whole)
{
	double a[10], b[10], e[10];

	around(wired, a, 10);
	around(wireless, b, 10);
	around(whole, e, 10);
	return two_links(a, b, e, 10, true);
}
