/*
 * The report for people: numbers first, then what is wrong with them, then, last and nearest to the
 * prompt, who limits the path.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "report.h"
#include "table_grid.h"
#include "table_latency.h"
#include "table_path.h"
#include "text.h"

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

struct page {
	const struct view *view;
	const struct report_options *options;
	FILE *out;
	struct error *err;
	size_t family_count; /* of paths, tests and engines */
};

static bool same_family(const struct view_group *a, const struct view_group *b)
{
	return strcmp(a->path, b->path) == 0 && strcmp(a->test, b->test) == 0 &&
	       strcmp(a->engine, b->engine) == 0;
}

/* How many groups from the first on are of its family. */
static size_t family_size(const struct view *view, size_t first)
{
	size_t size = 1;

	while (first + size < view->group_count &&
		same_family(&view->groups[first], &view->groups[first + size]))
		size++;
	return size;
}

static void wrap(const struct page *page, const char *first, const char *rest, const char *text)
{
	text_wrap(page->out, first, rest, (size_t)page->options->columns, text);
}

static void print_heading(const struct page *page)
{
	const struct view *view = page->view;
	int planned = view->run->topology->trials;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fprintf(out, "%s", view->name[0] ? view->name : "(no name)");
	if (view->label[0])
		fprintf(out, ", \"%s\"", view->label);
	if (view->started[0])
		fprintf(out, ", %s", view->started);
	if (!view->rounds)
		fprintf(out, ", not interleaved");
	else if (!view->complete && planned >= view->rounds)
		fprintf(out, ", not finished: in round %d of %d", view->rounds, planned);
	else
		fprintf(out, ", %d round%s", view->rounds, view->rounds == 1 ? "" : "s");
	if (isfinite(view->seed))
		fprintf(out, ", seed %.0f", view->seed);
	if (fclose(out) == 0)
		wrap(page, "", "  ", text);
	free(text);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Two names of one machine, as in a lab: said once. */
static bool same_host(const struct view_host *a, const struct view_host *b)
{
	return a->machine == b->machine && a->cpus == b->cpus && same_text(a->kernel, b->kernel) &&
	       same_text(a->arch, b->arch) && same_text(a->firmware, b->firmware);
}

static void put_name(FILE *out, const char *name, size_t number, size_t total)
{
	fprintf(out, "%s%s", number == 1 ? "" : number == total ? " and " : ", ", name);
}

/* The hosts like this one, when it is the first of them. */
static bool put_names(FILE *out, const struct view *view, size_t first)
{
	const struct view_host *host = &view->hosts[first];
	size_t total = 0, said = 0;

	for (size_t i = 0; i < view->host_count; i++) {
		if (i < first && same_host(&view->hosts[i], host))
			return false;
		total += same_host(&view->hosts[i], host);
	}
	for (size_t i = first; i < view->host_count; i++) {
		if (same_host(&view->hosts[i], host))
			put_name(out, view->hosts[i].name, ++said, total);
	}
	return true;
}

static void print_host(const struct page *page, size_t index)
{
	const struct view_host *host = &page->view->hosts[index];
	bool is_release = host->kernel && host->kernel[0] >= '0' && host->kernel[0] <= '9';
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!host->kernel && !host->arch && !host->firmware)
		return;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	if (put_names(out, page->view, index)) {
		fprintf(out, ": %s", host->arch ? host->arch : "unknown CPU");
		if (host->kernel)
			fprintf(out, ", %s%s", is_release ? "Linux " : "", host->kernel);
		if (host->cpus)
			fprintf(out, ", %d CPU%s", host->cpus, host->cpus == 1 ? "" : "s");
		if (host->firmware)
			fprintf(out, ", %s", host->firmware);
	}
	if (fclose(out) == 0 && text[0])
		wrap(page, "  ", "    ", text);
	free(text);
}

/* Hosts with one boot id: said once for each machine that has several. */
static void print_machine(const struct page *page, size_t machine)
{
	const struct view *view = page->view;
	size_t total = 0, said = 0, size;
	char *text = NULL;
	FILE *out;

	for (size_t i = 0; i < view->host_count; i++)
		total += view->hosts[i].machine == machine;
	if (total < 2)
		return;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	for (size_t i = 0; i < view->host_count; i++) {
		if (view->hosts[i].machine != machine)
			continue;
		said++;
		fprintf(out, "%s%s",
			said == 1       ? ""
			: said == total ? " and "
					: ", ",
			view->hosts[i].name);
	}
	fprintf(out, " share one machine: CPU shares are the whole machine's.");
	if (fclose(out) == 0)
		wrap(page, "  ", "    ", text);
	free(text);
}

static void print_header(const struct page *page)
{
	print_heading(page);
	for (size_t i = 0; i < page->view->host_count; i++)
		print_host(page, i);
	for (size_t i = 0; i < page->view->host_count; i++)
		print_machine(page, i);
}

static void print_family_title(
	const struct page *page, const struct view_group *group, const char *what)
{
	char *text = NULL;
	bool named = page->view->run->topology->path_count > 1;

	if (asprintf(&text, "%s by %s%s%s%s", group->test, group->engine, named ? " on path " : "",
		    named ? group->path : "", what) < 0)
		return;
	wrap(page, "", "  ", text);
	free(text);
}

static int print_latency(const struct page *page, const struct view_group *groups, size_t count)
{
	print_family_title(page, groups, table_latency_title(page->view, groups));
	return table_latency(page->view, groups, count, page->options, page->out, page->err);
}

static int print_numbers(const struct page *page)
{
	const struct view *view = page->view;

	for (size_t i = 0, size; i < view->group_count; i += size) {
		bool blamed = false;

		size = family_size(view, i);
		fputc('\n', page->out);
		if (table_is_latency(&view->groups[i])) {
			if (print_latency(page, &view->groups[i], size))
				return -1;
			continue;
		}
		print_family_title(page, &view->groups[i], ", goodput in Mbit/s");
		if (table_grid(&view->groups[i], size, page->options, page->out, page->err))
			return -1;
		for (size_t j = i; j < i + size; j++) {
			for (size_t k = 0; k < view->groups[j].row_count; k++)
				blamed |= view->groups[j].rows[k].blamed;
		}
		if (blamed)
			fputs("* named by the verdict\n", page->out);
		if (table_load(&view->groups[i], size, page->options, page->out, page->err))
			return -1;
	}
	return 0;
}

/* "wlan forward", with the test and path when there are several. free() it. */
static char *series_name(const struct page *page, const char *segment,
	enum topology_direction direction, const char *test, const char *engine)
{
	char *text = NULL;
	bool many = page->family_count > 1;

	if (asprintf(&text, "%s %s%s%s%s%s%s", segment, plan_direction_name(direction),
		    many ? " (" : "", many ? test : "", many ? " by " : "", many ? engine : "",
		    many ? ")" : "") < 0)
		return NULL;
	return text;
}

static void print_proof(const struct page *page)
{
	const struct view_proof *proof = &page->view->proof;
	size_t valid = proof->proved + proof->not_observable + proof->unknown;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!valid && !proof->contradicted)
		return;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	if (!proof->proved && !proof->not_observable && !proof->contradicted)
		fprintf(out, "Path proof: none, the trials carry no interface counters");
	else
		fprintf(out, "Path proof: %zu of %zu valid trials proved by interface counters",
			proof->proved, valid);
	if (proof->not_observable)
		fprintf(out, ", %zu not observable", proof->not_observable);
	if (proof->unknown && proof->unknown < valid)
		fprintf(out, ", %zu without counters", proof->unknown);
	if (proof->contradicted)
		fprintf(out, "; %zu more took another way: not counted", proof->contradicted);
	fputc('.', out);
	if (fclose(out) == 0)
		wrap(page, "", "  ", text);
	free(text);
}

static void print_failures(const struct page *page)
{
	const struct view *view = page->view;
	size_t total = 0;

	for (size_t i = 0; i < view->failure_count; i++)
		total += view->failures[i].count;
	if (!total)
		return;
	fprintf(page->out, "Failed trials: %zu of %zu, not counted above:\n", total,
		view->run->trial_count);
	for (size_t i = 0; i < view->failure_count; i++) {
		const struct view_failure *failure = &view->failures[i];
		const struct run_trial *trial = failure->first;
		char *series = series_name(
			page, trial->segment, trial->direction, trial->test, trial->engine);
		char *text = NULL;

		if (series && asprintf(&text, "%zu x %s: %s", failure->count, series,
				      failure->cause) >= 0)
			wrap(page, "  ", "      ", text);
		free(series);
		free(text);
	}
}

static void print_notes(const struct page *page)
{
	const struct view *view = page->view;

	if (view->note_count)
		fputs("Notes:\n", page->out);
	for (size_t i = 0; i < view->note_count; i++) {
		const struct view_note *note = &view->notes[i];
		const struct summary_row *row = note->row;
		char *series =
			series_name(page, row->segment, row->direction, row->test, row->engine);
		char *text = NULL;
		int length = -1;

		if (series && note->count)
			length = asprintf(&text, "%s: %s (%zu of %zu trials)", series, note->text,
				note->count, row->valid);
		else if (series)
			length = asprintf(&text, "%s: %s", series, note->text);
		if (length >= 0)
			wrap(page, "  ", "      ", text);
		free(series);
		if (length >= 0)
			free(text);
	}
}

static void print_sentence(const struct page *page, const struct view_group *group)
{
	char *sentence = view_sentence(page->view, group), *text = NULL;

	if (sentence &&
		asprintf(&text, "%s: %s", plan_direction_name(group->direction), sentence) >= 0) {
		fputs(page->options->colour ? BOLD : "", page->out);
		wrap(page, "", "  ", text);
		fputs(page->options->colour ? PLAIN : "", page->out);
		free(text);
	}
	free(sentence);
}

static void print_verdict(const struct page *page, const struct view_group *group)
{
	const struct verdict *verdict = group->verdict;
	char *qualifier, *advice;

	fputc('\n', page->out);
	table_path(page->view, group, page->options, page->out);
	if (!verdict)
		return;
	print_sentence(page, group);
	qualifier = view_qualifier(page->view, group);
	if (qualifier && qualifier[0])
		wrap(page, "  ", "    ", qualifier);
	free(qualifier);
	for (size_t i = 0; i < verdict->reason_count; i++)
		wrap(page, "  - ", "    ", verdict->reasons[i]);
	advice = view_advice(page->view, group);
	if (advice)
		wrap(page, "  ", "    ", advice);
	free(advice);
}

static void print_verdicts(const struct page *page)
{
	const struct view *view = page->view;

	for (size_t i = 0, size; i < view->group_count; i += size) {
		size = family_size(view, i);
		/* What takes no verdict and has no rates to draw has been said. */
		if (table_is_latency(&view->groups[i]))
			continue;
		if (page->family_count > 1) {
			fputc('\n', page->out);
			print_family_title(page, &view->groups[i], ":");
		}
		for (size_t j = i; j < i + size; j++)
			print_verdict(page, &view->groups[j]);
	}
}

int report_table(
	const struct view *view, const struct report_options *options, FILE *out, struct error *err)
{
	struct page page = {.view = view, .options = options, .out = out, .err = err};

	for (size_t i = 0; i < view->group_count; i += family_size(view, i))
		page.family_count++;
	print_header(&page);
	if (!view->group_count)
		fputs("\nNo trial was finished.\n", out);
	if (print_numbers(&page))
		return -1;
	if (view->group_count)
		fputc('\n', out);
	print_proof(&page);
	print_failures(&page);
	print_notes(&page);
	print_verdicts(&page);
	return 0;
}
