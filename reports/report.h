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

struct report {
	const char *name;
	int (*write)(const struct view *view, const struct report_options *options, FILE *out,
		struct error *err);
};

/* The row, or NULL with ERROR_USAGE (did you mean) or ERROR_UNBUILT. */
const struct report *report_find(const char *name, struct error *err);

#endif
