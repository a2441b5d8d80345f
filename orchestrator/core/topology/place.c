#include "place.h"

#include <stdarg.h>
#include <stdio.h>

const char *place_text(const char *file, struct topology_mark mark, char *buffer, size_t size)
{
	if (mark.line > 0)
		snprintf(buffer, size, "%s:%d:%d", file, mark.line, mark.column);
	else
		snprintf(buffer, size, "%s", file);
	return buffer;
}

int place_fail(
	struct error *err, const char *file, struct topology_mark mark, const char *format, ...)
{
	char message[sizeof(err->message)], where[PLACE_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return error_set(
		err, ERROR_TOPOLOGY, place_text(file, mark, where, sizeof(where)), "%s", message);
}
