/* orch plan: what run would do, read from the file alone; no host is touched. */
#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "lab.h"
#include "report.h"
#include "selection.h"
#include "text.h"

#define ROUNDS_SHOWN 3 /* without --all */
#define CELL_MAX     6

/* A table in the making: the first failure is kept, so that rows need no checks of their own. */
struct sheet {
	struct grid *grid;
	size_t columns;
	struct error *err;
	bool failed;
};

static void sheet_begin(
	struct sheet *sheet, const struct grid_column *columns, size_t count, struct error *err)
{
	sheet->grid = grid_create(columns, count, err);
	sheet->columns = count;
	sheet->err = err;
	sheet->failed = !sheet->grid;
}

/* Takes raw texts, as many as there are columns. */
static void sheet_row(struct sheet *sheet, const char *const *cells)
{
	char *shown[CELL_MAX] = {0};

	for (size_t i = 0; i < sheet->columns; i++)
		shown[i] = text_fit(cells[i], 36);
	if (!sheet->failed && grid_add(sheet->grid, (const char *const *)shown, false, sheet->err))
		sheet->failed = true;
	for (size_t i = 0; i < sheet->columns; i++)
		free(shown[i]);
}

static int sheet_print(struct sheet *sheet)
{
	printf("\n");
	if (!sheet->failed && grid_print(sheet->grid, "", false, stdout, sheet->err))
		sheet->failed = true;
	grid_free(sheet->grid);
	return sheet->failed ? -1 : 0;
}

static const char *duration_text(int64_t ms, char *buffer, size_t size)
{
	int64_t seconds = ms / 1000, minutes = seconds / 60, hours = minutes / 60;

	if (ms % 1000 && seconds < 60)
		snprintf(buffer, size, "%.1f s", (double)ms / 1000);
	else if (minutes < 1)
		snprintf(buffer, size, "%" PRId64 " s", seconds);
	else if (hours < 1)
		snprintf(buffer, size, "%" PRId64 " min %" PRId64 " s", minutes, seconds % 60);
	else
		snprintf(buffer, size, "%" PRId64 " h %" PRId64 " min", hours, minutes % 60);
	return buffer;
}

static const char *end_name(
	const struct topology *topology, const struct topology_end *end, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s%s%s", topology->hosts[end->host].name, end->interface ? ":" : "",
		end->interface ? end->interface : "");
	return buffer;
}

static void print_title(const struct plan *plan)
{
	char *name = text_escape(plan->topology->name), time[48];

	printf("%s: %zu segments, %zu trials a round, %d round%s, seed %" PRIu64 "\n",
		name ? name : "", plan->segment_count, plan->series_count, plan->rounds,
		plan->rounds == 1 ? "" : "s", plan->seed);
	printf("%zu trials take %s, and a moment to start\n",
		plan->series_count * (size_t)plan->rounds,
		duration_text(plan->duration_ms, time, sizeof(time)));
	free(name);
}

static const char *ssh_text(const struct topology_host *host, char *buffer, size_t size)
{
	const struct topology_ssh *ssh = &host->ssh;
	char port[16] = "";

	if (ssh->port && ssh->port != 22)
		snprintf(port, sizeof(port), ":%d", ssh->port);
	if (ssh->proxy_command)
		snprintf(buffer, size, "ssh by %s", ssh->proxy_command);
	else
		snprintf(buffer, size, "ssh %s%s%s%s%s%s", ssh->user ? ssh->user : "",
			ssh->user ? "@" : "", ssh->host ? ssh->host : "", port,
			ssh->via ? " via " : "", ssh->via ? ssh->via : "");
	return buffer;
}

static const char *transport_text(const struct topology *topology, const struct topology_host *host,
	char *buffer, size_t size)
{
	static const char *const names[] = {
		[TOPOLOGY_EXEC] = "exec",
		[TOPOLOGY_LOCAL] = "local",
		[TOPOLOGY_PASSIVE] = "passive: not asked, not measured",
		[TOPOLOGY_NONE] = "-",
	};

	if (topology->lab && (host->transport == TOPOLOGY_NONE || host->transport == TOPOLOGY_SSH))
		return "lab: ssh into a network namespace";
	if (host->transport == TOPOLOGY_SSH)
		return ssh_text(host, buffer, size);
	if (host->transport == TOPOLOGY_EXEC && host->exec_count)
		snprintf(buffer, size, "exec %s ...", host->exec[0]);
	else
		snprintf(buffer, size, "%s", names[host->transport]);
	return buffer;
}

/* Only the hosts that the plan's segments touch. */
static bool is_host_used(const struct plan *plan, size_t host)
{
	for (size_t i = 0; i < plan->segment_count; i++) {
		const struct plan_segment *segment = &plan->segments[i];
		const struct topology_path *path = &plan->topology->paths[segment->path];

		for (size_t j = segment->first; j <= segment->last + 1; j++) {
			if (path->hosts[j] == host)
				return true;
		}
	}
	return false;
}

static int print_hosts(const struct plan *plan, struct error *err)
{
	const struct topology *topology = plan->topology;
	const struct grid_column columns[] = {{"host", false}, {"reached by", false}};
	struct sheet sheet;

	sheet_begin(&sheet, columns, 2, err);
	for (size_t i = 0; i < topology->host_count; i++) {
		const struct topology_host *host = &topology->hosts[i];
		char how[256];

		if (!is_host_used(plan, i))
			continue;
		sheet_row(&sheet, (const char *const[]){host->name,
					  transport_text(topology, host, how, sizeof(how))});
	}
	return sheet_print(&sheet);
}

/* The directions that some series measures this segment in. */
static const char *directions_text(
	const struct plan *plan, size_t segment, char *buffer, size_t size)
{
	bool seen[TOPOLOGY_BIDIR + 1] = {false};
	size_t length = 0;

	for (size_t i = 0; i < plan->series_count; i++) {
		if (plan->series[i].segment == segment)
			seen[plan->series[i].direction] = true;
	}
	buffer[0] = '\0';
	for (int i = TOPOLOGY_FORWARD; i <= TOPOLOGY_BIDIR && length < size; i++) {
		if (seen[i])
			length += (size_t)snprintf(buffer + length, size - length, "%s%s",
				length ? ", " : "",
				plan_direction_name((enum topology_direction)i));
	}
	return buffer;
}

static int print_segments(const struct plan *plan, struct error *err)
{
	static const char *const kinds[] = {
		[PLAN_LINK] = "link",
		[PLAN_PREFIX] = "part of path",
		[PLAN_PATH] = "whole path",
	};
	const struct grid_column columns[] = {{"segment", false}, {"kind", false}, {"from", false},
		{"to", false}, {"directions", false}};
	struct sheet sheet;

	sheet_begin(&sheet, columns, 5, err);
	for (size_t i = 0; i < plan->segment_count; i++) {
		const struct plan_segment *segment = &plan->segments[i];
		char from[160], to[160], directions[64];

		sheet_row(
			&sheet, (const char *const[]){segment->name, kinds[segment->kind],
					end_name(plan->topology, plan_near_end(plan, segment), from,
						sizeof(from)),
					end_name(plan->topology, plan_far_end(plan, segment), to,
						sizeof(to)),
					directions_text(plan, i, directions, sizeof(directions))});
	}
	return sheet_print(&sheet);
}

static const char *address_text(
	const struct topology *topology, size_t link, bool end_b, char *buffer, size_t size)
{
	const struct topology_link *of = &topology->links[link];
	const struct topology_end *end = end_b ? &of->b : &of->a;

	if (end->address)
		snprintf(buffer, size, "%s", end->address);
	else if (!topology->lab || lab_address(topology, link, end_b, 4, buffer, size))
		snprintf(buffer, size, "asked from %s", topology->hosts[end->host].name);
	return buffer;
}

/* Only the links that the plan walks over. */
static bool is_link_used(const struct plan *plan, size_t link)
{
	for (size_t i = 0; i < plan->segment_count; i++) {
		const struct plan_segment *segment = &plan->segments[i];
		const struct topology_path *path = &plan->topology->paths[segment->path];

		for (size_t j = segment->first; j <= segment->last; j++) {
			if (path->links[j] == link)
				return true;
		}
	}
	return false;
}

static int print_ends(const struct plan *plan, struct error *err)
{
	const struct grid_column columns[] = {{"link", false}, {"end", false}, {"address", false}};
	const struct topology *topology = plan->topology;
	struct sheet sheet;

	sheet_begin(&sheet, columns, 3, err);
	for (size_t i = 0; i < topology->link_count * 2; i++) {
		const struct topology_link *link = &topology->links[i / 2];
		bool end_b = i % 2 == 1;
		char name[160], address[160];

		if (!is_link_used(plan, i / 2))
			continue;
		sheet_row(&sheet,
			(const char *const[]){end_b ? "" : link->name,
				end_name(topology, end_b ? &link->b : &link->a, name, sizeof(name)),
				address_text(topology, i / 2, end_b, address, sizeof(address))});
	}
	return sheet_print(&sheet);
}

static bool has_test(const struct plan *plan, size_t test)
{
	for (size_t i = 0; i < plan->series_count; i++) {
		if (plan->series[i].test == test)
			return true;
	}
	return false;
}

static int print_tests(const struct plan *plan, struct error *err)
{
	static const char *const kinds[] = {
		[TOPOLOGY_TCP] = "tcp",
		[TOPOLOGY_UDP] = "udp",
		[TOPOLOGY_LATENCY] = "latency",
		[TOPOLOGY_COPY] = "copy",
	};
	const struct grid_column columns[] = {{"test", false}, {"kind", false}, {"engine", false},
		{"duration", true}, {"start omitted", true}, {"streams", true}};
	struct sheet sheet;

	sheet_begin(&sheet, columns, 6, err);
	for (size_t i = 0; i < plan->topology->test_count; i++) {
		const struct topology_test *test = &plan->topology->tests[i];
		char duration[48], omit[48], streams[16];

		snprintf(streams, sizeof(streams), "%d", test->streams);
		if (has_test(plan, i))
			sheet_row(&sheet,
				(const char *const[]){test->id, kinds[test->kind], test->engine,
					duration_text(test->duration, duration, sizeof(duration)),
					duration_text(test->omit, omit, sizeof(omit)), streams});
	}
	return sheet_print(&sheet);
}

/* "wan forward", and which test when there are several. */
static void name_series(
	const struct plan *plan, const struct plan_series *series, char *name, size_t size)
{
	bool several = plan->topology->test_count > 1;

	snprintf(name, size, "%s %s%s%s", plan->segments[series->segment].name,
		plan_direction_name(series->direction), several ? " " : "",
		several ? plan->topology->tests[series->test].id : "");
}

/* Lines are broken between trials, never inside of one. */
static void print_round(const struct plan *plan, size_t round, size_t columns)
{
	static const char rest[] = "      ";
	const size_t *order = plan->order + round * plan->series_count;
	char first[24], name[256], *text = NULL;
	size_t size, used = 0, room = columns - strlen(rest);
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	for (size_t i = 0; i < plan->series_count; i++) {
		bool last = i + 1 == plan->series_count;
		size_t length;

		name_series(plan, &plan->series[order[i]], name, sizeof(name));
		length = strlen(name) + (last ? 0 : 1);
		if (i > 0 && used + 1 + length > room) {
			fputc('\n', out);
			used = 0;
		} else if (i > 0) {
			fputc(' ', out);
			used++;
		}
		fprintf(out, "%s%s", name, last ? "" : ",");
		used += length;
	}
	snprintf(first, sizeof(first), "%4zu  ", round + 1);
	if (fclose(out) == 0)
		text_wrap(stdout, first, rest, columns, text);
	free(text);
}

static void print_rounds(const struct plan *plan, bool all)
{
	struct report_options options = report_options_for(stdout);
	size_t rounds = (size_t)plan->rounds;
	size_t shown = all || rounds <= ROUNDS_SHOWN ? rounds : ROUNDS_SHOWN;

	printf("\nrounds (--seed %" PRIu64 " runs them in this order)\n", plan->seed);
	for (size_t i = 0; i < shown; i++)
		print_round(plan, i, (size_t)options.columns);
	if (shown < rounds)
		printf("      %zu more: --all prints them\n", rounds - shown);
}

static int print_plan(const struct plan *plan, bool all, struct error *err)
{
	print_title(plan);
	if (print_hosts(plan, err) || print_segments(plan, err) || print_ends(plan, err) ||
		print_tests(plan, err))
		return -1;
	print_rounds(plan, all);
	return fflush(stdout) ? error_set(err, ERROR_FILE, "output", "cannot be written") : 0;
}

int cmd_plan(int argc, char **argv)
{
	struct run_arguments arguments;
	struct topology *topology = NULL;
	struct plan *plan = NULL;
	struct error err = {0};
	int status = 0;

	if (arguments_parse(&arguments, arguments_plan, argc, argv, &err))
		status = command_fail_line("plan", &err);
	else if (selection_load(&arguments, &topology, &plan, &err) ||
		 print_plan(plan, arguments.all, &err))
		status = command_fail(&err);
	plan_free(plan);
	topology_free(topology);
	arguments_finish(&arguments);
	return status;
}
