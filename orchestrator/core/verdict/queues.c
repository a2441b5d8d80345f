/* Where the queue stands that grows when the path is loaded: round trips of each link by itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../load.h"
#include "parts.h"

#define SHARE_WITH    .5 /* of the trials in which the blamed link's queue must have grown */
#define SHARE_WITHOUT .1 /* ... and any other's may have: one moment of a busy host */

static bool summarize(const struct verdict_study *study, size_t link, struct load *ret)
{
	return load_summarize(study->trials, study->trial_count, link, ret);
}

static bool grew(const struct load *load)
{
	return (double)load->grew >= SHARE_WITH * (double)load->trials;
}

bool evidence_queue_growth(const struct verdict_study *study, size_t link)
{
	struct load load;
	bool alone = true;

	if (!summarize(study, link, &load) || load.trials < VERDICT_ROUNDS_MIN || !grew(&load))
		return false;
	for (size_t i = 0; alone && i < study->links; i++)
		if (i != link && summarize(study, i, &load))
			alone = (double)load.grew <= SHARE_WITHOUT * (double)load.trials;
	return alone;
}

static const char *milliseconds(double us, char *buffer, size_t size)
{
	double ms = us / 1000;

	snprintf(buffer, size, "%.*f", ms < .1 ? 3 : ms < 1 ? 2 : ms < 100 ? 1 : 0, ms);
	return buffer;
}

static void append(char *text, size_t size, const char *more)
{
	strncat(text, more, size - strlen(text) - 1);
}

#define TEXT_SIZE 2000

/* "wan's from 0.1 to 0.3, wlan's from 0.1 to 62.0" */
static void describe(const struct load *load, char *text)
{
	char idle[32], loaded[32], one[200];

	snprintf(one, sizeof(one), "%s%.64s's from %s to %s", *text ? ", " : "", load->segment,
		milliseconds(load->idle_us, idle, sizeof(idle)),
		milliseconds(load->loaded_us, loaded, sizeof(loaded)));
	append(text, TEXT_SIZE, one);
}

static void name(const struct load *load, char *text)
{
	if (*text)
		append(text, TEXT_SIZE, " and ");
	append(text, TEXT_SIZE, load->segment);
}

/* All links were probed and none has a queue: what the whole path's probes waited in lies between.
 */
static const char *no_queue(const struct verdict_study *study, size_t told)
{
	struct load whole;

	if (told < study->links)
		return "no queue stood at these links";
	if (study->links > 1 && summarize(study, study_whole(study), &whole) && grew(&whole))
		return "no queue stood at any link, but one in a host that forwards between them";
	return "no queue stood at any link";
}

void explain_queues(const struct verdict_study *study)
{
	char all[TEXT_SIZE] = "", queues[TEXT_SIZE] = "";
	struct load load;
	size_t told = 0;

	for (size_t i = 0; i < study->links; i++) {
		if (!summarize(study, i, &load))
			continue;
		told++;
		describe(&load, all);
		if (grew(&load))
			name(&load, queues);
	}
	if (!told)
		return;
	if (study->links > 1 && summarize(study, study_whole(study), &load))
		describe(&load, all);
	verdict_reason(study->verdict, "under load the median round trips went, in ms: %s; %s%s",
		all, *queues ? "the queue stands at " : "",
		*queues ? queues : no_queue(study, told));
}
