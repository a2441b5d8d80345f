/* orch run: measure, store, print. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "command.h"
#include "measure.h"
#include "progress.h"
#include "report.h"
#include "selection.h"
#include "summary.h"

struct job {
	struct run_arguments arguments;
	struct topology *topology;
	struct plan *plan;
	const struct report *report;
	struct storage *storage;
	struct run *run;
	struct progress progress;
	bool host_failed;
	sigset_t signals; /* as they were before anything was made that must go again */
};

static void on_host_failed(void *context, const struct error *err)
{
	struct job *job = context;

	progress_clear(&job->progress);
	command_fail(err);
	job->host_failed = true;
}

static void on_trial_started(void *context, const struct plan *plan, int round,
	const struct plan_series *series, size_t number, size_t total)
{
	struct job *job = context;

	progress_trial(&job->progress, plan, round, series, number, total);
}

/* Everything that can be wrong before a host is touched. */
static int prepare(struct job *job, struct error *err)
{
	job->report = report_find(job->arguments.format, err);
	if (!job->report)
		return -1;
	return selection_load(&job->arguments, &job->topology, &job->plan, err);
}

/* NAME-20260131T123456Z.json */
static void default_path(const struct job *job, const char *now, char *path, size_t size)
{
	size_t length = (size_t)snprintf(path, size, "%s-", job->topology->name);

	for (; *now && length + sizeof(".json") < size; now++) {
		if (*now != '-' && *now != ':')
			path[length++] = *now;
	}
	snprintf(path + length, size - length, ".json");
}

/* From here on nothing may be left half done. */
static int open_output(struct job *job, struct error *err)
{
	char path[256], now[CLOCK_UTC_SIZE];

	fleet_hold_signals(&job->signals);
	default_path(job, clock_utc(now), path, sizeof(path));
	job->storage = storage_create(job->arguments.output ? job->arguments.output : path, err);
	if (!job->storage)
		return -1;
	job->run = run_create(
		job->topology, job->plan->seed, job->arguments.label, clock_utc(now), err);
	return job->run ? 0 : -1;
}

/* Writes the run file; an interrupted run is whole up to its last finished trial. */
static int store(struct job *job, bool complete, struct error *err)
{
	char now[CLOCK_UTC_SIZE], *text;
	int result;

	run_finish(job->run, clock_utc(now), complete);
	text = run_print(job->run);
	if (!text)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	result = storage_finish(job->storage, text, err);
	free(text);
	return result;
}

static int print_results(const struct job *job, struct error *err)
{
	struct report_options options = report_options_for(stdout);

	return report_write(job->run, job->report, &options, stdout, err);
}

/* 5 when a series has no valid trial or a host was out of reach, else 0. */
static int outcome(const struct job *job, struct error *err)
{
	struct summary *summary = summary_build(job->run, err);
	int status = job->host_failed ? 5 : 0;

	if (!summary)
		return error_exit_status(err);
	for (size_t i = 0; i < summary->row_count; i++) {
		if (summary->rows[i].valid == 0)
			status = 5;
	}
	summary_free(summary);
	return status;
}

/* Stores and prints what there is; measured is the error that ended the measuring, if any. */
static int finish(struct job *job, const struct error *measured)
{
	bool failed = measured->code != ERROR_NONE;
	struct error err = {0};
	int status, stored, printed;

	progress_clear(&job->progress);
	if (failed)
		command_fail(measured);
	if (job->run->trial_count == 0)
		return error_exit_status(measured);
	stored = store(job, !failed, &err);
	sigprocmask(SIG_SETMASK, &job->signals, NULL);
	/* What could not be stored can still be read, and what cannot be printed is stored. */
	printed = print_results(job, stored < 0 ? NULL : &err);
	if (stored < 0)
		return command_fail(&err);
	fprintf(stderr, "orch: the run is in %s\n", storage_path(job->storage));
	if (printed < 0)
		return command_fail(&err);
	status = outcome(job, &err);
	return failed ? error_exit_status(measured) : status;
}

static void release(struct job *job)
{
	storage_close(job->storage);
	run_free(job->run);
	plan_free(job->plan);
	topology_free(job->topology);
	arguments_finish(&job->arguments);
}

int cmd_run(int argc, char **argv)
{
	struct job job = {0};
	const struct measure_observer observer = {
		.context = &job,
		.host_failed = on_host_failed,
		.trial_started = on_trial_started,
	};
	struct error err = {0};
	int status;

	if (arguments_parse(&job.arguments, arguments_run, argc, argv, &err) < 0) {
		status = command_fail_line("run", &err);
	} else if (prepare(&job, &err) < 0 || open_output(&job, &err) < 0) {
		status = command_fail(&err);
	} else {
		progress_init(&job.progress, job.arguments.quiet);
		measure_run(job.topology, job.plan, job.run, job.storage, &observer, &err);
		status = finish(&job, &err);
	}
	release(&job);
	return status;
}
