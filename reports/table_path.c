#include "table_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define NAME_WIDTH 24
#define MARK       "\033[1;31m"
#define UNMARK     "\033[0m"

struct drawing {
	FILE *out;
	const struct view *view;
	const struct view_group *group;
	const struct topology_path *path;
	bool colour;
	size_t columns, indent, at;
};

static bool is_blamed_host(const struct drawing *drawing, const char *host)
{
	const struct verdict *verdict = drawing->group->verdict;

	/* An endpoint-limited link names its host too, but that is not who limits the path. */
	if (!verdict || verdict->segment_count)
		return false;
	for (size_t i = 0; i < verdict->host_count; i++) {
		if (strcmp(verdict->hosts[i], host) == 0)
			return true;
	}
	return false;
}

/* Prints a piece that must not be broken; a new line first when it does not fit. */
static void put(struct drawing *drawing, const char *piece, bool marked)
{
	size_t width = text_width(piece);

	if (drawing->at > drawing->indent && drawing->at + 1 + width > drawing->columns) {
		fprintf(drawing->out, "\n%*s", (int)drawing->indent, "");
		drawing->at = drawing->indent;
	}
	if (drawing->at > drawing->indent) {
		fputc(' ', drawing->out);
		drawing->at++;
	}
	fprintf(drawing->out, "%s%s%s", marked && drawing->colour ? MARK : "", piece,
		marked && drawing->colour ? UNMARK : "");
	drawing->at += width;
}

static void put_host(struct drawing *drawing, size_t position)
{
	const struct topology *topology = drawing->view->run->topology;
	const char *name = topology->hosts[drawing->path->hosts[position]].name;
	bool blamed = is_blamed_host(drawing, name);
	char *shown = text_fit(name, NAME_WIDTH), *piece = NULL;

	if (shown && asprintf(&piece, "%s%s%s", blamed ? "[" : "", shown, blamed ? "]" : "") >= 0)
		put(drawing, piece, blamed);
	free(shown);
	free(piece);
}

static void put_link(struct drawing *drawing, size_t position)
{
	const struct topology *topology = drawing->view->run->topology;
	const char *name = topology->links[drawing->path->links[position]].name;
	const struct view_row *row = view_find_row(drawing->group, name);
	bool blamed = row && row->blamed, reverse = drawing->group->direction != TOPOLOGY_FORWARD;
	const char *line = blamed ? "==" : "--";
	bool forward = drawing->group->direction != TOPOLOGY_REVERSE;
	const char *left = reverse ? (blamed ? "<=" : "<-") : line;
	const char *right = forward ? (blamed ? "=>" : "->") : line;
	char *shown = text_fit(name, NAME_WIDTH), *piece = NULL, rate[48] = "?";

	if (row && row->row->valid)
		view_format_mbit(row->row->stats.mean, rate, sizeof(rate));
	if (shown && asprintf(&piece, "%s %s %s %s", left, shown, rate, right) >= 0)
		put(drawing, piece, blamed);
	free(shown);
	free(piece);
}

void table_path(const struct view *view, const struct view_group *group,
	const struct report_options *options, FILE *out)
{
	struct drawing drawing = {
		.out = out,
		.view = view,
		.group = group,
		.path = view_find_path(view, group->path),
		.colour = options->colour,
		.columns = (size_t)options->columns,
	};
	const char *direction = plan_direction_name(group->direction);

	fprintf(out, "%s  ", direction);
	drawing.at = drawing.indent = strlen(direction) + 2;
	if (drawing.path) {
		for (size_t i = 0; i < drawing.path->link_count; i++) {
			put_host(&drawing, i);
			put_link(&drawing, i);
		}
		put_host(&drawing, drawing.path->link_count);
	}
	fputc('\n', out);
}
