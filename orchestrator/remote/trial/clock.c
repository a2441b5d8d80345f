#include "clock.h"

#include <time.h>

const char *clock_utc(char buffer[CLOCK_UTC_SIZE])
{
	time_t now = time(NULL);
	struct tm utc;

	strftime(buffer, CLOCK_UTC_SIZE, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	return buffer;
}
