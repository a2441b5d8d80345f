/* A run as text: one field, trial, summary row or verdict a line, so that files diff well. */
#include <stdio.h>
#include <stdlib.h>

#include "parts.h"
#include "summary.h"
#include "verdict.h"

static bool print_line(FILE *out, const char *before, const struct cJSON *item)
{
	char *line = json_line(item);

	if (!line)
		return false;
	fprintf(out, "%s%s", before, line);
	cJSON_free(line);
	return true;
}

/* A key as JSON text, escapes and all. */
static bool print_key(FILE *out, const char *key)
{
	cJSON *item = cJSON_CreateString(key);
	bool done = item && print_line(out, "", item);

	cJSON_Delete(item);
	fputc(':', out);
	return done;
}

static bool print_fields(FILE *out, const struct run *run)
{
	const cJSON *field;
	bool done = true;

	cJSON_ArrayForEach (field, run->document)
		done = done && print_key(out, field->string) && print_line(out, "", field) &&
		       fputs(",\n", out) >= 0;
	return done;
}

static bool print_trials(FILE *out, const struct run *run)
{
	bool done = true;
	size_t i;

	fputs("\"trials\":[", out);
	for (i = 0; i < run->trial_count && done; i++)
		done = print_line(out, i ? ",\n" : "\n", run->trials[i]->json);
	fputs("\n]", out);
	return done;
}

static bool print_array(FILE *out, const char *name, cJSON *array)
{
	const cJSON *item;
	bool done = array != NULL, first = true;

	fprintf(out, ",\n\"%s\":[", name);
	cJSON_ArrayForEach (item, array) {
		done = done && print_line(out, first ? "\n" : ",\n", item);
		first = false;
	}
	fputs("\n]", out);
	cJSON_Delete(array);
	return done;
}

static bool print_document(FILE *out, const struct run *run)
{
	struct summary *summary = summary_build(run, NULL);
	struct verdicts *verdicts = verdict_decide(run, NULL);
	bool done = summary && verdicts;

	fputs("{\n", out);
	done = done && print_fields(out, run) && print_trials(out, run) &&
	       print_array(out, "summary", summary_to_json(summary)) &&
	       print_array(out, "verdicts", verdict_to_json(verdicts));
	fputs("\n}\n", out);
	summary_free(summary);
	verdict_free(verdicts);
	return done;
}

char *run_print(const struct run *run)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	bool done;

	if (!out)
		return NULL;
	done = print_document(out, run);
	if (fclose(out) == 0 && done)
		return text;
	free(text);
	return NULL;
}
