/* orch report: the results of a recorded run again, in any format. */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "storage.h"

struct report_arguments {
	const char *run, *format, *output;
};

static int set_format(void *into, const char *value, struct error *err)
{
	(void)err;
	((struct report_arguments *)into)->format = value;
	return 0;
}

static int set_output(void *into, const char *value, struct error *err)
{
	if (!value[0])
		return error_set(err, ERROR_USAGE, NULL, "must not be empty");
	((struct report_arguments *)into)->output = value;
	return 0;
}

const struct argument_option cmd_report_options[] = {
	{"format", 0, "F", "table (default) or json", set_format},
	{"output", 'o', "FILE", "write there, not to standard output", set_output},
	{NULL},
};

static struct run *load_run(const char *path, struct error *err)
{
	size_t length;
	char *text = storage_read(path, STORAGE_FILE_MAX, &length, err), *part = NULL;
	struct run *run;

	if (!text) {
		if (asprintf(&part, "%s.part", path) < 0)
			return NULL;
		if (access(path, F_OK) && access(part, F_OK) == 0)
			error_set(err, ERROR_FILE, path,
				"is not finished; what there is so far: orch report %s", part);
		free(part);
		return NULL;
	}
	run = run_parse(text, length, path, err);
	free(text);
	return run;
}

/* A report must not take the place of the run it was made from. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

static int write_file(const char *path, const char *text, size_t size, struct error *err)
{
	FILE *out = fopen(path, "we");
	bool written;

	if (!out)
		return error_set(err, ERROR_FILE, path, "cannot be written: %s", strerror(errno));
	written = fwrite(text, 1, size, out) == size;
	if (fclose(out) || !written)
		return error_set(err, ERROR_FILE, path, "cannot be written: %s", strerror(errno));
	return 0;
}

/* Made whole in memory first: a failure leaves no half report behind. */
static int write_report(const struct run *run, const struct report_arguments *arguments,
	const struct report *report, struct error *err)
{
	struct report_options options = {.columns = 80};
	char *text = NULL;
	size_t size;
	FILE *out;
	int result;

	if (!arguments->output) {
		options = report_options_for(stdout);
		return report_write(run, report, &options, stdout, err);
	}
	if (is_same_file(arguments->run, arguments->output))
		return error_set(err, ERROR_USAGE, arguments->output,
			"is the run itself; write the report to another file");
	out = open_memstream(&text, &size);
	if (!out)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	result = report_write(run, report, &options, out, err);
	if (fclose(out) && result == 0)
		result = error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	if (result == 0)
		result = write_file(arguments->output, text, size, err);
	free(text);
	return result;
}

int cmd_report(int argc, char **argv)
{
	const struct argument_option *const tables[] = {cmd_report_options};
	struct report_arguments arguments = {.format = "table"};
	const struct report *report;
	struct error err = {0};
	struct run *run;
	size_t operands = 0;
	int status = 0;

	if (arguments_read(tables, 1, argc, argv, &arguments, &arguments.run, 1, &operands, &err))
		return command_fail_line("report", &err);
	if (!operands)
		return command_usage("report", "which run? Name its file");
	report = report_find(arguments.format, &err);
	if (!report)
		return command_fail(&err);
	run = load_run(arguments.run, &err);
	if (!run || write_report(run, &arguments, report, &err))
		status = command_fail(&err);
	run_free(run);
	return status;
}
