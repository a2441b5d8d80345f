#include "grid.h"

#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

/* Wider than any terminal: what does not fit is the caller's choice, not the library's. */
#define GRID_WIDTH 2000

struct grid {
	struct libscols_table *table;
	size_t columns;
};

static int fill(struct grid *grid, const struct grid_column *columns, size_t count)
{
	grid->table = scols_new_table();
	if (!grid->table)
		return -1;
	grid->columns = count;
	scols_table_set_termforce(grid->table, SCOLS_TERMFORCE_ALWAYS);
	scols_table_set_termwidth(grid->table, GRID_WIDTH);
	/* Cells are escaped already, by the rules of all our output. */
	scols_table_enable_noencoding(grid->table, 1);
	if (scols_table_set_column_separator(grid->table, "  "))
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!scols_table_new_column(grid->table, columns[i].title, 0,
			    columns[i].right ? SCOLS_FL_RIGHT : 0))
			return -1;
	}
	return 0;
}

struct grid *grid_create(const struct grid_column *columns, size_t count, struct error *err)
{
	struct grid *grid = calloc(1, sizeof(*grid));

	if (grid && fill(grid, columns, count) == 0)
		return grid;
	grid_free(grid);
	error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	return NULL;
}

void grid_free(struct grid *grid)
{
	if (!grid)
		return;
	scols_unref_table(grid->table);
	free(grid);
}

int grid_add(struct grid *grid, const char *const *cells, bool marked, struct error *err)
{
	struct libscols_line *line = scols_table_new_line(grid->table, NULL);
	int failed = !line;

	for (size_t i = 0; !failed && i < grid->columns; i++)
		failed = scols_line_set_data(line, i, cells[i] ? cells[i] : "");
	if (!failed && marked)
		failed = scols_line_set_color(line, "red");
	return failed ? error_set(err, ERROR_SYSTEM, NULL, "out of memory") : 0;
}

static void print_line(const char *line, size_t length, const char *indent, FILE *out)
{
	while (length && line[length - 1] == ' ')
		length--;
	fprintf(out, "%s%.*s\n", length ? indent : "", (int)length, line);
}

int grid_print(struct grid *grid, const char *indent, bool colour, FILE *out, struct error *err)
{
	char *text = NULL;

	if (scols_table_is_empty(grid->table))
		return 0;
	scols_table_enable_colors(grid->table, colour);
	if (scols_print_table_to_string(grid->table, &text))
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, "\n");

		print_line(at, length, indent, out);
		at += length + (at[length] == '\n');
	}
	free(text);
	return 0;
}
