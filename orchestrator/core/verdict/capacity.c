/* Steps up to what each link carries at least (docs/verdicts.md, "Steps"). */
#include <math.h>
#include <string.h>

#include "parts.h"

void study_inconclusive(struct verdict_study *study)
{
	struct verdict *verdict = study->verdict;

	verdict->kind = VERDICT_INCONCLUSIVE;
	verdict->grade = VERDICT_NO_GRADE;
	verdict->confidence = NAN;
	verdict->rounds_needed = study->needed;
	if (study->needed < 0)
		verdict_reason(verdict,
			"it cannot be resolved at this margin: more than %d rounds would be needed",
			VERDICT_ROUNDS_MAX);
}

void study_grade(struct verdict_study *study, enum verdict_kind kind, enum verdict_grade grade)
{
	study->verdict->kind = kind;
	study->verdict->grade = grade;
	study->verdict->confidence = 1 - study->p;
}

bool step_rounds(struct verdict_study *study)
{
	size_t i;

	if (!study->measured_count) {
		verdict_reason(study->verdict, "no link of the path was measured by itself");
		study_inconclusive(study);
		return true;
	}
	if (study->rounds >= VERDICT_ROUNDS_MIN)
		return false;
	for (i = 0; i < study->links; i++)
		if (!study->all[i].n)
			verdict_reason(
				study->verdict, "%s has no valid trial", study_link_name(study, i));
	if (study->links > 1 && !study->all[study_whole(study)].n)
		verdict_reason(study->verdict, "end to end has no valid trial");
	verdict_reason(study->verdict, "%zu round%s can be compared, and fewer than %d say nothing",
		study->rounds, study->rounds == 1 ? "" : "s", VERDICT_ROUNDS_MIN);
	study->needed = VERDICT_ROUNDS_MIN;
	study_inconclusive(study);
	return true;
}

/* A rate above the wire's is no rate: another interface, or wrong units. */
bool step_speed(struct verdict_study *study)
{
	bool invalid = false;
	size_t i, j;

	for (i = 0; i < study->links; i++) {
		const struct verdict_sample *sample = &study->matched[i];
		const char *host = NULL, *device = NULL;
		int speed = evidence_speed(study, i, &host, &device);
		double sum = 0;
		char rate[32];

		for (j = 0; j < sample->n; j++)
			sum += sample->log[j];
		if (!speed || !sample->n || exp(sum / (double)sample->n) <= 1e6 * speed)
			continue;
		verdict_reason(study->verdict,
			"the measurement of %s is not valid: %s is above the %d Mbit/s negotiated "
			"at %s:%s (wrong interface or units?)",
			study_link_name(study, i),
			verdict_rate(study_rate(study, i), rate, sizeof(rate)), speed, host,
			device);
		invalid = true;
	}
	if (invalid)
		study_inconclusive(study);
	return invalid;
}

bool step_only_link(struct verdict_study *study)
{
	struct verdict *verdict = study->verdict;
	const char *name = study_link_name(study, 0);
	char rate[32];

	if (study->links > 1)
		return false;
	verdict_add_segment(verdict, name);
	verdict->slowest_segment = strdup(name);
	verdict->kind = VERDICT_LINK;
	verdict->grade = VERDICT_STATISTICAL;
	verdict_reason(verdict, "%s is the only link of the path; it carries %s", name,
		verdict_rate(study_rate(study, 0), rate, sizeof(rate)));
	return true;
}

/* The inner hosts at the link's ends: end to end they forward, only alone they end a test. */
static void name_enders(const struct verdict_study *study, size_t link, char *text, size_t size)
{
	size_t used = 0, i;

	text[0] = '\0';
	for (i = link; i <= link + 1; i++) {
		const char *host = study_host_name(study, i);

		if (i == 0 || i == study->links)
			continue;
		if (used + strlen(host) + 5 < size) {
			strcat(text, used ? " or " : "");
			strcat(text, host);
			used = strlen(text);
		}
	}
}

void study_blame_enders(struct verdict_study *study, size_t link)
{
	size_t i;

	for (i = link; i <= link + 1; i++)
		if (i > 0 && i < study->links)
			verdict_add_host(study->verdict, study_host_name(study, i));
}

static void find_limited(struct verdict_study *study)
{
	const struct verdict_sample *whole = &study->matched[study_whole(study)];
	size_t i;

	for (i = 0; i < study->links; i++) {
		double threshold = log1p(study_margin(study, i));

		if (!study->measured[i] ||
			!(study_compare(study, whole, &study->matched[i]).low > threshold))
			continue;
		study->limited[i] = true;
		study_need(study, study_p_above(study, whole, &study->matched[i], threshold));
	}
}

static void explain_limited(struct verdict_study *study, size_t link)
{
	char alone[32], path[32], hosts[400];

	name_enders(study, link, hosts, sizeof(hosts));
	verdict_reason(study->verdict,
		"%s alone read %s, but the path carried %s across it: %s, which ended that test, "
		"limited it, and the link carries at least %s",
		study_link_name(study, link),
		verdict_rate(study_rate(study, link), alone, sizeof(alone)),
		verdict_rate(study_rate(study, study_whole(study)), path, sizeof(path)), hosts,
		path);
}

static bool all_limited(const struct verdict_study *study)
{
	size_t i;

	for (i = 0; i < study->links; i++)
		if (study->measured[i] && !study->limited[i])
			return false;
	return true;
}

/* Every link carries more than its own test read: is it a router's core, or nothing seen here? */
static bool settle_all_limited(struct verdict_study *study)
{
	struct verdict *verdict = study->verdict;
	char rate[32];
	size_t i;

	for (i = 1; i < study->links; i++) {
		if (!evidence_core(study, study_whole(study), i, VERDICT_CORE_FULL))
			continue;
		verdict_add_host(verdict, study_host_name(study, i));
		study_grade(study, VERDICT_FORWARDING, VERDICT_CONFIRMED);
	}
	if (verdict->kind == VERDICT_FORWARDING)
		return true;
	verdict_reason(verdict,
		"no segment is slower than the path, which carries %s; %s cannot source or sink "
		"this "
		"fast",
		verdict_rate(study_rate(study, study_whole(study)), rate, sizeof(rate)),
		study->links > 2 ? "the hosts between" : study_host_name(study, 1));
	verdict->kind = VERDICT_NONE_FOUND;
	verdict->confidence = NAN;
	return true;
}

static double log_mean(const struct verdict_sample *sample)
{
	struct stats_summary moments;

	stats_moments(sample->log, sample->n, &moments);
	return moments.mean;
}

/* X: the lowest capacity by geometric mean; of equal ones the one that read least by itself. */
static void find_slowest(struct verdict_study *study)
{
	double lowest = NAN, alone = NAN;
	size_t i;

	for (i = 0; i < study->links; i++) {
		double capacity, own;

		if (!study->measured[i])
			continue;
		capacity = log_mean(study_capacity(study, i));
		own = log_mean(&study->matched[i]);
		if (capacity > lowest || (!(capacity < lowest) && own >= alone))
			continue;
		lowest = capacity;
		alone = own;
		study->x = i;
	}
	study->margin = study_margin(study, study->x);
	study->verdict->slowest_segment = strdup(study_link_name(study, study->x));
}

bool step_capacities(struct verdict_study *study)
{
	size_t i;

	find_limited(study);
	for (i = 0; i < study->links; i++)
		if (study->limited[i])
			explain_limited(study, i);
	if (all_limited(study))
		return settle_all_limited(study);
	find_slowest(study);
	return false;
}
