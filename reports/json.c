/* The run file itself, its summary and verdicts computed afresh. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

int report_json(
	const struct view *view, const struct report_options *options, FILE *out, struct error *err)
{
	char *text = run_print(view->run);
	size_t length = text ? strlen(text) : 0;

	(void)options;
	if (!text)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	fputs(text, out);
	if (length && text[length - 1] != '\n')
		fputc('\n', out);
	free(text);
	return 0;
}
