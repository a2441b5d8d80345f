#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void progress_init(struct progress *progress, bool quiet)
{
	const char *terminal = getenv("TERM");

	*progress = (struct progress){
		.shown = !quiet && isatty(STDERR_FILENO) && terminal &&
			 strcmp(terminal, "dumb") != 0,
	};
}

void progress_trial(struct progress *progress, const struct plan *plan, int round,
	const struct plan_series *series, size_t number, size_t total)
{
	if (!progress->shown)
		return;
	/* Cut to 79 columns: a longer line would wrap, and stay. */
	fprintf(stderr, "\r\033[Kround %d of %d, trial %zu of %zu: %.30s %s", round, plan->rounds,
		number, total, plan->segments[series->segment].name,
		plan_direction_name(series->direction));
	progress->dirty = true;
}

void progress_clear(struct progress *progress)
{
	if (progress->dirty)
		fputs("\r\033[K", stderr);
	progress->dirty = false;
}
