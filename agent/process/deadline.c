#include "deadline.h"

#include <limits.h>
#include <time.h>

int64_t deadline_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int deadline_timeout(int64_t when)
{
	int64_t now = deadline_now();

	if (when == DEADLINE_NEVER)
		return -1;
	if (when <= now)
		return 0;
	return when - now > INT_MAX ? INT_MAX : (int)(when - now);
}
