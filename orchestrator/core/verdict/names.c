/* The words of the run file. */
#include "verdict.h"

static const char *const kinds[] = {
	[VERDICT_LINK] = "link",
	[VERDICT_TIE] = "tie",
	[VERDICT_FORWARDING] = "forwarding",
	[VERDICT_SHARED_MEDIUM] = "shared_medium",
	[VERDICT_NONE_FOUND] = "none_found",
	[VERDICT_HOST_CPU] = "host_cpu",
	[VERDICT_WINDOW] = "window",
	[VERDICT_APPLICATION] = "application",
	[VERDICT_INCONCLUSIVE] = "inconclusive",
	[VERDICT_CARRIED] = "carried",
	[VERDICT_LOSS] = "loss",
};

static const char *const grades[] = {
	[VERDICT_NO_GRADE] = "",
	[VERDICT_SUSPECTED] = "suspected",
	[VERDICT_STATISTICAL] = "statistical",
	[VERDICT_CONFIRMED] = "confirmed",
};

static const char *const qualifiers[] = {
	[VERDICT_NO_QUALIFIER] = "",
	[VERDICT_ENDPOINT_LIMITED] = "endpoint_limited",
	[VERDICT_AGREES] = "agrees",
	[VERDICT_OPEN] = "open",
};

const char *verdict_kind_name(enum verdict_kind kind)
{
	return kinds[kind];
}

const char *verdict_grade_name(enum verdict_grade grade)
{
	return grades[grade];
}

const char *verdict_qualifier_name(enum verdict_qualifier qualifier)
{
	return qualifiers[qualifier];
}
