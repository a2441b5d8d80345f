#include "table_latency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "text.h"

#define CELL_SIZE     32
#define CELLS_MAX     12
#define SEGMENT_WIDTH 20
#define ENDS_WIDTH    20

bool table_is_latency(const struct view_group *group)
{
	return group->row_count > 0 && group->rows[0].row->is_latency;
}

static bool counts_connections(const struct view *view, const struct view_group *group)
{
	const struct topology *topology = view->run->topology;

	for (size_t i = 0; i < topology->test_count; i++) {
		const struct topology_test *test = &topology->tests[i];

		if (strcmp(test->id, group->test) == 0 && test->transport &&
			strcmp(test->transport, "connect") == 0)
			return true;
	}
	return false;
}

const char *table_latency_title(const struct view *view, const struct view_group *group)
{
	return counts_connections(view, group) ? ", time to connect in ms" : ", round trips in ms";
}

/* A row under construction: names are escaped copies, numbers stand in their own buffers. */
struct line {
	char *names[2];
	char numbers[CELLS_MAX][CELL_SIZE];
	const char *cells[CELLS_MAX];
	size_t count;
};

static void put_number(struct line *line, double number)
{
	char *buffer = line->numbers[line->count];

	line->cells[line->count++] = view_format_number(number, buffer, CELL_SIZE);
}

static void put_ms(struct line *line, double us)
{
	put_number(line, us / 1000);
}

static void put_count(struct line *line, double count)
{
	char *buffer = line->numbers[line->count];

	snprintf(buffer, CELL_SIZE, "%.0f", count);
	line->cells[line->count++] = isfinite(count) ? buffer : "-";
}

static void put_segment(struct line *line, const char *segment)
{
	char *name = text_fit(segment, SEGMENT_WIDTH);

	if (!name || asprintf(&line->names[0], " %s", name) < 0)
		line->names[0] = NULL;
	free(name);
	line->cells[line->count++] = line->names[0];
}

static void put_ends(struct line *line, const struct view_row *row)
{
	char *ends = NULL;

	if (row->from && row->to && asprintf(&ends, "%s > %s", row->from, row->to) >= 0) {
		line->names[1] = text_fit(ends, ENDS_WIDTH);
		free(ends);
	}
	line->cells[line->count++] = line->names[1] ? line->names[1] : "-";
}

static int end_line(struct grid *grid, struct line *line, struct error *err)
{
	int result = grid_add(grid, line->cells, false, err);

	free(line->names[0]);
	free(line->names[1]);
	return result;
}

static int add_direction(struct grid *grid, const struct view_group *group, struct error *err)
{
	const char *cells[CELLS_MAX] = {plan_direction_name(group->direction)};

	return grid_add(grid, cells, false, err);
}

static int add_row(struct grid *grid, const struct view_row *row, struct error *err)
{
	const struct summary_row *series = row->row;
	const struct run_latency *latency = &series->latency;
	struct line line = {.count = 0};

	put_segment(&line, series->segment);
	put_ends(&line, row);
	put_count(&line, (double)series->valid);
	put_ms(&line, series->valid ? latency->p50_us : (double)NAN);
	put_ms(&line, series->valid ? latency->p90_us : (double)NAN);
	put_ms(&line, series->valid ? latency->p99_us : (double)NAN);
	put_ms(&line, series->valid ? latency->p999_us : (double)NAN);
	put_ms(&line, series->valid ? latency->max_us : (double)NAN);
	put_count(&line, series->valid ? latency->lost : (double)NAN);
	put_count(&line, series->valid ? latency->rate_per_second : (double)NAN);
	return end_line(grid, &line, err);
}

int table_latency(const struct view *view, const struct view_group *groups, size_t count,
	const struct report_options *options, FILE *out, struct error *err)
{
	const struct grid_column columns[] = {{"segment", false}, {"from > to", false}, {"n", true},
		{"p50", true}, {"p90", true}, {"p99", true}, {"p99.9", true}, {"max", true},
		{"lost", true}, {counts_connections(view, groups) ? "connects/s" : "per s", true}};
	struct grid *grid = grid_create(columns, sizeof(columns) / sizeof(columns[0]), err);
	int result = grid ? 0 : -1;

	for (size_t i = 0; result == 0 && i < count; i++) {
		result = add_direction(grid, &groups[i], err);
		for (size_t j = 0; result == 0 && j < groups[i].row_count; j++)
			result = add_row(grid, &groups[i].rows[j], err);
	}
	if (result == 0)
		result = grid_print(grid, "", options->colour, out, err);
	grid_free(grid);
	return result;
}

static int add_load(struct grid *grid, const struct load *load, struct error *err)
{
	struct line line = {.count = 0};

	put_segment(&line, load->segment);
	put_count(&line, (double)load->trials);
	put_ms(&line, load->idle_us);
	put_ms(&line, load->loaded_us);
	put_ms(&line, load->loaded_p99_us);
	return end_line(grid, &line, err);
}

int table_load(const struct view_group *groups, size_t count, const struct report_options *options,
	FILE *out, struct error *err)
{
	static const struct grid_column columns[] = {{"segment", false}, {"n", true},
		{"idle p50", true}, {"loaded p50", true}, {"loaded p99", true}};
	struct grid *grid;
	size_t total = 0;
	int result = 0;

	for (size_t i = 0; i < count; i++)
		total += groups[i].load_count;
	if (!total)
		return 0;
	grid = grid_create(columns, sizeof(columns) / sizeof(columns[0]), err);
	if (!grid)
		return -1;
	for (size_t i = 0; result == 0 && i < count; i++) {
		if (groups[i].load_count)
			result = add_direction(grid, &groups[i], err);
		for (size_t j = 0; result == 0 && j < groups[i].load_count; j++)
			result = add_load(grid, &groups[i].loads[j], err);
	}
	fputs("\nlatency under load of the whole path, in ms\n", out);
	if (result == 0)
		result = grid_print(grid, "", options->colour, out, err);
	grid_free(grid);
	return result;
}
