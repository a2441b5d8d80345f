/* Milliseconds on CLOCK_MONOTONIC, and waiting until one of them with poll(2). */
#ifndef DEADLINE_H
#define DEADLINE_H

#include <stdint.h>

#define DEADLINE_NEVER INT64_MAX

int64_t deadline_now(void);

/* A timeout for poll(2): 0 when the time has passed, -1 for DEADLINE_NEVER. */
int deadline_timeout(int64_t when);

#endif
