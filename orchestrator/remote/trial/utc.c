#include "utc.h"

#include <time.h>

const char *utc_now(char buffer[UTC_SIZE])
{
	time_t now = time(NULL);
	struct tm utc;

	strftime(buffer, UTC_SIZE, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	return buffer;
}
