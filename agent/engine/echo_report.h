/* What an asker says at its end: docs/wire.md, "Latency". */
#ifndef ECHO_REPORT_H
#define ECHO_REPORT_H

#include <stdint.h>

#include "echo_count.h"

struct agent;

/* The intervals, a `part` for each part but the last, and `ok` with the last one's numbers. */
void echo_report(struct agent *agent, uint32_t id, const struct echo_count *count);

#endif
