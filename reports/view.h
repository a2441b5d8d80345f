/*
 * What every report format shows, as data: built once from a run (summary and verdicts computed
 * afresh), so that formats cannot disagree. Numbers stay numbers here; view_format_*() turn them
 * into the text that all formats share. Texts point into the run, raw: a format escapes them.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stddef.h>

#include "load.h"
#include "plan.h"
#include "run.h"
#include "summary.h"
#include "verdict.h"

/* A segment in one direction. */
struct view_row {
	const struct summary_row *row;
	const char *from, *to; /* hosts, in the direction of the traffic; NULL when unknown */
	bool blamed;           /* the verdict names this segment */
};

/* What one verdict is about: the rows of a path, test, engine and direction. */
struct view_group {
	const char *path, *test, *engine;
	enum topology_direction direction;
	struct view_row *rows;
	size_t row_count;
	struct load *loads; /* links first; none when nothing was probed */
	size_t load_count;
	const struct verdict *verdict; /* NULL when this kind of test gets none */
};

struct view_host {
	const char *name;
	const char *kernel, *arch, *firmware; /* NULL when not recorded */
	int cpus;                             /* 0 when not recorded */
	size_t machine; /* index of the first host with the same boot id; its own otherwise */
};

/* Equal causes of one series are counted together. */
struct view_failure {
	const struct run_trial *first;
	const char *cause;
	size_t count;
};

/* Valid trials by what interface counters say of their way. */
struct view_proof {
	size_t proved, not_observable, unknown;
	size_t contradicted; /* not valid */
};

/* Flags of a series: shown, never a gate. */
struct view_note {
	const struct summary_row *row;
	const char *text;
	size_t count; /* trials concerned; 0 = the series as a whole */
};

struct view {
	const struct run *run;
	struct summary *summary;
	struct verdicts *verdicts;

	const char *name, *label, *started, *orch; /* "" when not recorded */
	double seed;                               /* NaN when not recorded */
	int rounds;                                /* highest round; 0 = not interleaved */
	bool complete;
	struct view_host *hosts;
	size_t host_count;
	struct view_group *groups; /* in the summary's order, forward before reverse */
	size_t group_count;
	struct view_failure *failures;
	size_t failure_count;
	struct view_proof proof;
	struct view_note *notes;
	size_t note_count;
};

/* Fills the group's loads. -1 without memory. */
int view_fill_loads(const struct view *view, struct view_group *group);

struct view *view_create(const struct run *run, struct error *err);
void view_free(struct view *view);

/* The group's row of this segment, or NULL. */
const struct view_row *view_find_row(const struct view_group *group, const char *segment);

/* The path of a group in the topology, or NULL. */
const struct topology_path *view_find_path(const struct view *view, const char *path);

/*
 * Numbers as text; each returns buffer, "-" for NaN. At least three significant digits, at least
 * one decimal below 100: 0.0123, 5.36, 29.7, 941, 8986. In tables rates are always in Mbit/s, in
 * sentences their unit is written out (Mbit/s from 1 to 9999).
 */
const char *view_format_rate(double bits_per_second, char *buffer, size_t size); /* "94.4 Mbit/s" */
const char *view_format_mbit(double bits_per_second, char *buffer, size_t size); /* "94.4" */
const char *view_format_number(double number, char *buffer, size_t size);

/* A confidence 0..1 as "99.5 %": rounded down, and never 100. */
const char *view_format_confidence(double confidence, char *buffer, size_t size);

/*
 * The verdict of a group in one sentence, and what its qualifier means in another (empty when it
 * has none). Raw names inside. free() both; NULL when out of memory or there is no verdict.
 */
char *view_sentence(const struct view *view, const struct view_group *group);
char *view_qualifier(const struct view *view, const struct view_group *group);

/* What would settle an inconclusive verdict; NULL when nothing is known to. free() it. */
char *view_advice(const struct view *view, const struct view_group *group);

#endif
