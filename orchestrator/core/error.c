#include "error.h"

#include <stdarg.h>
#include <stdio.h>

int(error_set)(struct error *err, enum error_code code, const char *where, const char *format, ...)
{
	va_list arguments;

	if (!err)
		return -1;
	err->code = code;
	snprintf(err->where, sizeof(err->where), "%s", where ? where : "");
	va_start(arguments, format);
	vsnprintf(err->message, sizeof(err->message), format, arguments);
	va_end(arguments);
	return -1;
}

int error_exit_status(const struct error *err)
{
	static const int status[] = {
		[ERROR_NONE] = 0,
		[ERROR_USAGE] = 4,
		[ERROR_TOPOLOGY] = 4,
		[ERROR_UNBUILT] = 4,
		[ERROR_FILE] = 4,
		[ERROR_FORMAT] = 4,
		[ERROR_HOST] = 5,
		[ERROR_TRIAL] = 5,
		[ERROR_LAB] = 4,
		[ERROR_INTERRUPTED] = 130,
		[ERROR_SYSTEM] = 4,
	};

	return status[err->code];
}
