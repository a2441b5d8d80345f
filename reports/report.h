/* The table of report formats: a format is one file and one row. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "view.h"

struct report_options {
	bool colour;
	int columns; /* width of the terminal; 80 when unknown */
};

/*
 * For a stream: the width of its terminal (60 to 200; 80 when it is none), colour only on a
 * terminal that is not "dumb" and without NO_COLOR (https://no-color.org: set and not empty).
 */
struct report_options report_options_for(FILE *out);

struct report {
	const char *name;
	int (*write)(const struct view *view, const struct report_options *options, FILE *out,
		struct error *err); /* NULL = not built yet */
};

/* The row, or NULL with ERROR_USAGE (did you mean) or ERROR_UNBUILT. */
const struct report *report_find(const char *name, struct error *err);

/*
 * Builds the view of a run and writes it in one format: what `orch run` and `orch report` print.
 * Fails with ERROR_FILE when out takes no more.
 */
int report_write(const struct run *run, const struct report *report,
	const struct report_options *options, FILE *out, struct error *err);

/* The formats' own writers. */
int report_table(const struct view *view, const struct report_options *options, FILE *out,
	struct error *err);
int report_json(const struct view *view, const struct report_options *options, FILE *out,
	struct error *err);

#endif
