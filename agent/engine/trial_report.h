/* The records of a trial's end: intervals and the final one. */
#ifndef TRIAL_REPORT_H
#define TRIAL_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "meter.h"

struct agent;

struct trial_result {
	bool sends;
	const char *method;
	int64_t app_limited; /* samples */
	bool scheduled;      /* the two below are known */
	int64_t run_us, wait_us;
};

void trial_report_intervals(
	struct agent *agent, uint32_t id, const struct meter *meter, bool sends);
void trial_report_ok(struct agent *agent, uint32_t id, const struct meter *meter,
	const struct trial_result *result);

#endif
