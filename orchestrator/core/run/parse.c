/* A run from text: a finished file, or a .part file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

struct text {
	const char *file, *start,
		*end; /* NUL-terminated copy: cJSON 1.7.15 looks one byte too far */
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

/* "file:line:column" of at, counted from 1. */
static void place(const struct text *text, const char *at, char *buffer, size_t size)
{
	size_t line = 1, column = 1;
	const char *c;

	for (c = text->start; c < at && c < text->end; c++) {
		column++;
		if (*c == '\n') {
			line++;
			column = 1;
		}
	}
	snprintf(buffer, size, "%.150s:%zu:%zu", text->file, line, column);
}

static int fail_at(const struct text *text, const char *at, const char *what, struct error *err)
{
	char where[200];

	place(text, at, where, sizeof(where));
	return error_set(err, ERROR_FORMAT, where, "%s", what);
}

static int fail_json(const struct text *text, const char *at, struct error *err)
{
	if (skip_space(at, text->end) >= text->end)
		return fail_at(
			text, text->end, "the file ends in the middle: it was cut short", err);
	return fail_at(text, at, "not valid JSON from here on; is it a run file?", err);
}

static int check_document(const struct text *text, const cJSON *document, struct error *err)
{
	const char *format = json_text(document, "format");
	const cJSON *version = cJSON_GetObjectItemCaseSensitive(document, "version");

	if (!cJSON_IsObject(document) || !format || strcmp(format, RUN_FORMAT))
		return error_set(err, ERROR_FORMAT, text->file,
			"a foreign file: it has no \"format\": \"%s\"", RUN_FORMAT);
	if (!cJSON_IsNumber(version))
		return error_set(err, ERROR_FORMAT, text->file, "no 'version' number");
	if (version->valuedouble < RUN_VERSION || version->valuedouble > RUN_VERSION)
		return error_set(err, ERROR_FORMAT, text->file,
			"run file version %g: this orch reads version %d", version->valuedouble,
			RUN_VERSION);
	if (!json_text(document, "name"))
		return error_set(err, ERROR_FORMAT, text->file, "no 'name' text");
	return 0;
}

static int append_numbered(
	struct run *run, const struct text *text, size_t number, cJSON *trial, struct error *err)
{
	char where[200];

	snprintf(where, sizeof(where), "%.150s: trial %zu", text->file, number);
	return run_append(run, trial, where, err);
}

/* Moves the trials out of the array one by one, so that they are in memory once. */
static int take_array(struct run *run, const struct text *text, cJSON *trials, struct error *err)
{
	size_t number = 0;

	while (trials->child) {
		cJSON *trial = cJSON_DetachItemViaPointer(trials, trials->child);

		if (append_numbered(run, text, ++number, trial, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * One trial a line. What was being written when the machine or the program died is the last line:
 * it is dropped when it does not parse.
 */
static int take_lines(struct run *run, const struct text *text, const char *at, struct error *err)
{
	size_t number = 0;

	for (at = skip_space(at, text->end); at < text->end;) {
		const char *newline = memchr(at, '\n', (size_t)(text->end - at));
		const char *line_end = newline ? newline : text->end, *stop = at;
		const char *next = skip_space(line_end, text->end);
		cJSON *trial = cJSON_ParseWithLengthOpts(at, (size_t)(line_end - at), &stop, false);

		if (trial && skip_space(stop, line_end) < line_end) {
			cJSON_Delete(trial);
			trial = NULL;
		}
		if (!trial && next >= text->end)
			return 0;
		if (!trial)
			return fail_at(text, stop, "not a trial in JSON on this line", err);
		if (append_numbered(run, text, ++number, trial, err) < 0)
			return -1;
		at = next;
	}
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	return run_compare_place(
		*(const struct run_trial *const *)a, *(const struct run_trial *const *)b);
}

static int refuse_duplicates(const struct run *run, const struct text *text, struct error *err)
{
	size_t size = run->trial_count * sizeof(struct run_trial *), i;
	const struct run_trial **sorted;
	int result = 0;

	if (run->trial_count < 2)
		return 0;
	sorted = malloc(size);
	if (!sorted)
		return error_set(err, ERROR_SYSTEM, text->file, "out of memory");
	memcpy(sorted, run->trials, size);
	qsort(sorted, run->trial_count, sizeof(*sorted), compare_places);
	for (i = 1; i < run->trial_count && !result; i++)
		if (sorted[i]->round && !run_compare_place(sorted[i - 1], sorted[i]))
			result = error_set(err, ERROR_FORMAT, text->file,
				"two trials of segment '%s', test '%s' in round %d",
				sorted[i]->segment, sorted[i]->test, sorted[i]->round);
	free(sorted);
	return result;
}

static int take_trials(
	struct run *run, const struct text *text, const char *rest, struct error *err)
{
	cJSON *trials = cJSON_DetachItemFromObjectCaseSensitive(run->document, "trials");
	int result;

	if (!trials) {
		json_set(run->document, "complete", cJSON_CreateFalse());
		return take_lines(run, text, rest, err);
	}
	if (cJSON_GetObjectItemCaseSensitive(run->document, "trials"))
		result = error_set(err, ERROR_FORMAT, text->file, "'trials' is there twice");
	else if (!cJSON_IsArray(trials))
		result = error_set(err, ERROR_FORMAT, text->file, "'trials' must be a list");
	else if (skip_space(rest, text->end) < text->end)
		result = fail_at(text, skip_space(rest, text->end),
			"text after the end of the document", err);
	else
		result = take_array(run, text, trials, err);
	cJSON_Delete(trials);
	return result;
}

static void forget_all(cJSON *document, const char *key)
{
	while (cJSON_GetObjectItemCaseSensitive(document, key))
		cJSON_DeleteItemFromObjectCaseSensitive(document, key);
}

static struct run *parse_text(const struct text *text, struct error *err)
{
	struct run *run = calloc(1, sizeof(*run));
	const char *stop = text->start;

	if (!run) {
		error_set(err, ERROR_SYSTEM, text->file, "out of memory");
		return NULL;
	}
	run->document = cJSON_ParseWithLengthOpts(
		text->start, (size_t)(text->end - text->start), &stop, false);
	if (!run->document) {
		fail_json(text, stop, err);
		goto failed;
	}
	if (check_document(text, run->document, err) < 0)
		goto failed;
	forget_all(run->document, "summary");
	forget_all(run->document, "verdicts");
	if (run_load_topology(run, text->file, err) < 0 || take_trials(run, text, stop, err) < 0 ||
		refuse_duplicates(run, text, err) < 0)
		goto failed;
	return run;

failed:
	run_free(run);
	return NULL;
}

struct run *run_parse(const char *text, size_t length, const char *file, struct error *err)
{
	struct text copy = {.file = file};
	struct run *run;
	char *start;

	if (json_depth(text, length) > RUN_DEPTH_MAX) {
		error_set(err, ERROR_FORMAT, file, "nested deeper than %d levels: no run file",
			RUN_DEPTH_MAX);
		return NULL;
	}
	if (skip_space(text, text + length) == text + length) {
		error_set(err, ERROR_FORMAT, file, "the file is empty");
		return NULL;
	}
	start = malloc(length + 1);
	if (!start) {
		error_set(err, ERROR_SYSTEM, file, "out of memory");
		return NULL;
	}
	memcpy(start, text, length);
	start[length] = '\0';
	copy.start = start;
	copy.end = start + length;
	run = parse_text(&copy, err);
	free(start);
	return run;
}
