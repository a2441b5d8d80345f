#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "nearest.h"

#define COLUMNS_DEFAULT 80
#define COLUMNS_MIN     60
#define COLUMNS_MAX     200

struct report_options report_options_for(FILE *out)
{
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
	struct report_options options = {.columns = COLUMNS_DEFAULT};
	struct winsize size;

	if (!isatty(fileno(out)))
		return options;
	options.colour = !(no_colour && no_colour[0]) && terminal && strcmp(terminal, "dumb") != 0;
	if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col)
		options.columns = size.ws_col < COLUMNS_MIN   ? COLUMNS_MIN
				  : size.ws_col > COLUMNS_MAX ? COLUMNS_MAX
							      : size.ws_col;
	return options;
}

static const struct report reports[] = {
	{"table", report_table},
	{"json", report_json},
	{"markdown", NULL},
	{"csv", NULL},
	{"html", NULL},
	{"junit", NULL},
	{"openmetrics", NULL},
};

#define REPORT_COUNT (sizeof(reports) / sizeof(*reports))

const struct report *report_find(const char *name, struct error *err)
{
	const char *near;

	for (size_t i = 0; i < REPORT_COUNT; i++) {
		if (strcmp(reports[i].name, name) != 0)
			continue;
		if (reports[i].write)
			return &reports[i];
		error_set(err, ERROR_UNBUILT, "--format", "%s: not built yet; use table or json",
			name);
		return NULL;
	}
	near = nearest_find(name, reports, REPORT_COUNT, sizeof(*reports));
	if (near)
		error_set(err, ERROR_USAGE, "--format", "no format \"%.40s\"; did you mean %s?",
			name, near);
	else
		error_set(err, ERROR_USAGE, "--format", "no format \"%.40s\"; use table or json",
			name);
	return NULL;
}

int report_write(const struct run *run, const struct report *report,
	const struct report_options *options, FILE *out, struct error *err)
{
	struct view *view = view_create(run, err);
	int result;

	if (!view)
		return -1;
	errno = 0;
	result = report->write(view, options, out, err);
	view_free(view);
	if (result == 0 && (fflush(out) || ferror(out)))
		return error_set(err, ERROR_FILE, "output", "cannot be written: %s",
			strerror(errno ? errno : EIO));
	return result;
}
