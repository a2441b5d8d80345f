#include "table_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "text.h"

#define CELL_SIZE       80
#define SEPARATOR_WIDTH 2
#define SEGMENT_WIDTH   20
#define HOST_WIDTH      10

/* A cell's text, allocated; NULL = not known. */
typedef char *cell_maker(const struct view_row *row);

static char *number_cell(double number)
{
	char text[CELL_SIZE];

	return isfinite(number) ? strdup(view_format_number(number, text, sizeof(text))) : NULL;
}

static char *segment_cell(const struct view_row *row)
{
	char *name = text_fit(row->row->segment, SEGMENT_WIDTH), *cell = NULL;

	if (name && asprintf(&cell, " %s%s", name, row->blamed ? " *" : "") < 0)
		cell = NULL;
	free(name);
	return cell;
}

static char *ends_cell(const struct view_row *row)
{
	char *from = text_fit(row->from, HOST_WIDTH), *to = text_fit(row->to, HOST_WIDTH);
	const char *arrow = row->row->direction == TOPOLOGY_BIDIR ? "<>" : ">";
	char *cell = NULL;

	if (row->from && row->to && from && to && asprintf(&cell, "%s %s %s", from, arrow, to) < 0)
		cell = NULL;
	free(from);
	free(to);
	return cell;
}

static char *count_cell(const struct view_row *row)
{
	const struct summary_row *series = row->row;
	char *cell = NULL;
	int length = series->failed ? asprintf(&cell, "%zu/%zu", series->valid,
					      series->valid + series->failed)
				    : asprintf(&cell, "%zu", series->valid);

	return length < 0 ? NULL : cell;
}

static double rate_of(const struct view_row *row, double bits_per_second)
{
	return row->row->valid ? bits_per_second / 1e6 : (double)NAN;
}

static char *mean_cell(const struct view_row *row)
{
	return number_cell(rate_of(row, row->row->stats.mean));
}

static char *sd_cell(const struct view_row *row)
{
	return number_cell(rate_of(row, row->row->stats.sd));
}

static char *cv_cell(const struct view_row *row)
{
	char text[CELL_SIZE];
	double percent = row->row->valid ? row->row->stats.cv * 100 : (double)NAN;

	if (!isfinite(percent))
		return NULL;
	snprintf(text, sizeof(text), "%.1f", percent);
	return strdup(text);
}

static char *interval_cell(const struct view_row *row)
{
	const struct stats_interval *interval = &row->row->stats.t95;
	char low[CELL_SIZE], high[CELL_SIZE], *cell = NULL;

	if (!row->row->valid || !isfinite(interval->low) || !isfinite(interval->high))
		return NULL;
	view_format_mbit(interval->low, low, sizeof(low));
	view_format_mbit(interval->high, high, sizeof(high));
	return asprintf(&cell, "%s..%s", low, high) < 0 ? NULL : cell;
}

static char *median_cell(const struct view_row *row)
{
	return number_cell(rate_of(row, row->row->stats.median));
}

static char *min_cell(const struct view_row *row)
{
	return number_cell(rate_of(row, row->row->stats.min));
}

static char *max_cell(const struct view_row *row)
{
	return number_cell(rate_of(row, row->row->stats.max));
}

static char *retransmits_cell(const struct view_row *row)
{
	char text[CELL_SIZE];
	double mean = row->row->retransmits;

	if (!isfinite(mean))
		return NULL;
	snprintf(text, sizeof(text), "%.*f", mean > 0 && mean < 10 ? 1 : 0, mean);
	return strdup(text);
}

static char *rtt_cell(const struct view_row *row)
{
	return number_cell(row->row->rtt_us / 1e3);
}

static char *loss_cell(const struct view_row *row)
{
	char text[CELL_SIZE];

	if (!isfinite(row->row->loss_percent))
		return NULL;
	snprintf(text, sizeof(text), "%.2f", row->row->loss_percent);
	return strdup(text);
}

static char *jitter_cell(const struct view_row *row)
{
	char text[CELL_SIZE];

	if (!isfinite(row->row->jitter_us))
		return NULL;
	snprintf(text, sizeof(text), "%.3f", row->row->jitter_us / 1e3);
	return strdup(text);
}

static char *packets_cell(const struct view_row *row)
{
	char text[CELL_SIZE];

	if (!isfinite(row->row->packets_per_second))
		return NULL;
	snprintf(text, sizeof(text), "%.0f", row->row->packets_per_second);
	return strdup(text);
}

/* In the order of the page; rank 0 is always there, the highest goes first when space is short. */
static const struct {
	struct grid_column column;
	int rank;
	cell_maker *make;
} columns[] = {
	{{"segment", false}, 0, segment_cell},
	{{"from > to", false}, 0, ends_cell},
	{{"n", true}, 0, count_cell},
	{{"mean", true}, 0, mean_cell},
	/* A UDP test's; what no trial can fill is left out. */
	{{"loss %", true}, 1, loss_cell},
	{{"jitter ms", true}, 1, jitter_cell},
	{{"pkt/s", true}, 1, packets_cell},
	{{"sd", true}, 7, sd_cell},
	{{"CV %", true}, 2, cv_cell},
	{{"95 % CI", true}, 1, interval_cell},
	{{"median", true}, 8, median_cell},
	{{"min", true}, 3, min_cell},
	{{"max", true}, 4, max_cell},
	{{"retr", true}, 5, retransmits_cell},
	{{"rtt ms", true}, 6, rtt_cell},
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(*columns))
#define RANK_MAX     8

/* Every cell of every row, and which columns are shown. */
struct sheet {
	char *(*cells)[COLUMN_COUNT];
	size_t row_count;
	bool shown[COLUMN_COUNT];
};

static size_t row_total(const struct view_group *groups, size_t count)
{
	size_t rows = 0;

	for (size_t i = 0; i < count; i++)
		rows += groups[i].row_count;
	return rows;
}

static int sheet_fill(struct sheet *sheet, const struct view_group *groups, size_t count)
{
	sheet->cells = calloc(row_total(groups, count) + 1, sizeof(*sheet->cells));
	if (!sheet->cells)
		return -1;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < groups[i].row_count; j++) {
			for (size_t k = 0; k < COLUMN_COUNT; k++)
				sheet->cells[sheet->row_count][k] =
					columns[k].make(&groups[i].rows[j]);
			sheet->row_count++;
		}
	}
	return 0;
}

static void sheet_finish(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->row_count; i++) {
		for (size_t k = 0; k < COLUMN_COUNT; k++)
			free(sheet->cells[i][k]);
	}
	free(sheet->cells);
}

/* 0 when no row has anything to say in it. */
static size_t column_width(const struct sheet *sheet, size_t column)
{
	size_t width = strlen(columns[column].column.title);
	bool filled = columns[column].rank == 0;

	for (size_t i = 0; i < sheet->row_count; i++) {
		const char *cell = sheet->cells[i][column];
		size_t cell_width = cell ? text_width(cell) : 0;

		filled |= cell_width > 0;
		if (cell_width > width)
			width = cell_width;
	}
	return filled ? width : 0;
}

static void choose_columns(struct sheet *sheet, size_t room)
{
	size_t used = 0;

	for (int rank = 0; rank <= RANK_MAX; rank++) {
		for (size_t k = 0; k < COLUMN_COUNT; k++) {
			size_t width = columns[k].rank == rank ? column_width(sheet, k) : 0;
			size_t with = used + width + (used ? SEPARATOR_WIDTH : 0);

			if (!width)
				continue;
			/* The rest too: a narrower column of a lower rank says less. */
			if (rank > 0 && with > room)
				return;
			sheet->shown[k] = true;
			used = with;
		}
	}
}

static int add_row(struct grid *grid, const struct sheet *sheet, char *const *cells, bool marked,
	struct error *err)
{
	const char *shown[COLUMN_COUNT];
	size_t count = 0;

	for (size_t k = 0; k < COLUMN_COUNT; k++) {
		if (sheet->shown[k])
			shown[count++] = cells[k] ? cells[k] : "-";
	}
	return grid_add(grid, shown, marked, err);
}

static int add_heading(struct grid *grid, const struct view_group *group, struct error *err)
{
	const char *shown[COLUMN_COUNT] = {plan_direction_name(group->direction)};

	return grid_add(grid, shown, false, err);
}

static int fill_grid(struct grid *grid, const struct sheet *sheet, const struct view_group *groups,
	size_t count, struct error *err)
{
	size_t row = 0;

	for (size_t i = 0; i < count; i++) {
		if (add_heading(grid, &groups[i], err))
			return -1;
		for (size_t j = 0; j < groups[i].row_count; j++, row++) {
			if (add_row(grid, sheet, sheet->cells[row], groups[i].rows[j].blamed, err))
				return -1;
		}
	}
	return 0;
}

int table_grid(const struct view_group *groups, size_t count, const struct report_options *options,
	FILE *out, struct error *err)
{
	struct grid_column shown[COLUMN_COUNT];
	struct sheet sheet = {0};
	struct grid *grid = NULL;
	size_t shown_count = 0;
	int result = -1;

	if (sheet_fill(&sheet, groups, count)) {
		error_set(err, ERROR_SYSTEM, NULL, "out of memory");
		goto done;
	}
	choose_columns(&sheet, (size_t)options->columns);
	for (size_t k = 0; k < COLUMN_COUNT; k++) {
		if (sheet.shown[k])
			shown[shown_count++] = columns[k].column;
	}
	grid = grid_create(shown, shown_count, err);
	if (!grid || fill_grid(grid, &sheet, groups, count, err))
		goto done;
	result = grid_print(grid, "", options->colour, out, err);
done:
	grid_free(grid);
	sheet_finish(&sheet);
	return result;
}
