/* The numbers of one path, test and engine as a grid that fits the terminal. */
#ifndef TABLE_GRID_H
#define TABLE_GRID_H

#include "report.h"

/*
 * groups[0..count - 1] differ in their direction alone. Columns are left out, the least telling
 * first, until the rest fits options->columns; those that no row can fill are left out as well.
 */
int table_grid(const struct view_group *groups, size_t count, const struct report_options *options,
	FILE *out, struct error *err);

#endif
