/*
 * Run files of any bytes: what is read has summaries and verdicts that keep their promises, and
 * survives being written and read again; what is not read says why.
 */
#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "fuzz.h"
#include "run.h"
#include "summary.h"
#include "verdict.h"

static void check_summary(const struct run *run)
{
	struct summary *summary = summary_build(run, NULL);
	size_t trials = 0;

	fuzz_require(summary != NULL, "a run has a summary");
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct summary_row *row = &summary->rows[i];

		trials += row->valid + row->failed;
		fuzz_require(row->stats.n == row->valid, "a row's n is its valid trials");
		if (row->valid)
			fuzz_require(row->stats.min <= row->stats.median &&
					     row->stats.median <= row->stats.max,
				"the median lies within");
	}
	fuzz_require(trials == run->trial_count, "every trial is in one row");
	summary_free(summary);
}

static void check_verdict(const struct verdict *verdict)
{
	fuzz_require(verdict->reason_count > 0, "a verdict has a reason");
	fuzz_require(isnan(verdict->confidence) ||
			     (verdict->confidence >= 0 && verdict->confidence <= 1),
		"confidence is a probability");
	if (verdict->kind == VERDICT_LINK)
		fuzz_require(verdict->segment_count == 1, "a link is named");
	if (verdict->kind == VERDICT_TIE)
		fuzz_require(verdict->segment_count > 1, "a tie is between several");
	if (verdict->kind == VERDICT_FORWARDING)
		fuzz_require(verdict->host_count > 0, "a forwarding host is named");
	if (verdict->kind == VERDICT_INCONCLUSIVE)
		fuzz_require(verdict->grade == VERDICT_NO_GRADE, "inconclusive has no grade");
}

static void check_verdicts(const struct run *run)
{
	struct verdicts *verdicts = verdict_decide(run, NULL);

	fuzz_require(verdicts != NULL, "a run has verdicts");
	for (size_t i = 0; i < verdicts->count; i++)
		check_verdict(&verdicts->items[i]);
	verdict_free(verdicts);
}

static void check_writing(const struct run *run)
{
	struct error err = {0};
	char *first = run_print(run);

	fuzz_require(first != NULL, "a run can be written");
	struct run *again = run_parse(first, strlen(first), "again", &err);
	fuzz_require(again != NULL, "what was written can be read");
	char *second = run_print(again);
	fuzz_require(second && strcmp(first, second) == 0, "writing is canonical");
	free(first);
	free(second);
	run_free(again);
}

/* The same trials as they would come in live, and the .part file of that run. */
static void check_live(const struct run *run)
{
	struct error err = {0};
	struct run *live = run_create(run->topology, UINT64_MAX, NULL, "now", &err);

	fuzz_require(live != NULL, "a topology that was read makes a run");
	for (size_t i = 0; i < run->trial_count; i++) {
		cJSON *trial = cJSON_Duplicate(run->trials[i]->json, true);

		fuzz_require(run_add_trial(live, trial, &err) == 0, "a read trial can be added");
		trial = cJSON_Duplicate(run->trials[i]->json, true);
		fuzz_require((run_add_trial(live, trial, &err) < 0) == (run->trials[i]->round > 0),
			"a round has one trial of a series");
		if (!run->trials[i]->round)
			break;
	}
	run_set_host(live, "host", cJSON_CreateObject(), &err);
	run_finish(live, "later", false);
	char *header = run_header_line(live);
	fuzz_require(header && !strchr(header, '\n'), "a header is one line");
	struct run *part = run_parse(header, strlen(header), "part", &err);
	fuzz_require(part && part->trial_count == 0, "a header alone is a .part file");
	run_free(part);
	free(header);
	run_free(live);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	struct run *run = run_parse((const char *)data, size, "input", &err);

	if (!run) {
		fuzz_require(err.code != ERROR_NONE && err.message[0], "a refusal says why");
		return 0;
	}
	check_summary(run);
	check_verdicts(run);
	check_writing(run);
	check_live(run);
	run_free(run);
	return 0;
}
