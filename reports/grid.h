/* A table of texts for a terminal, in aligned columns (libsmartcols draws it). */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"

struct grid;

struct grid_column {
	const char *title;
	bool right; /* numbers */
};

struct grid *grid_create(const struct grid_column *columns, size_t count, struct error *err);
void grid_free(struct grid *grid);

/* One row; cells[0..count - 1], escaped by the caller, NULL = empty. marked ones are red, with
 * colour. */
int grid_add(struct grid *grid, const char *const *cells, bool marked, struct error *err);

/*
 * Prints it, each line after `indent`, without spaces at the ends of lines. Columns are two spaces
 * apart. Escape sequences come only with colour.
 */
int grid_print(struct grid *grid, const char *indent, bool colour, FILE *out, struct error *err);

#endif
