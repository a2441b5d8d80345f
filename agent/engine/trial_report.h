/* The records of a trial's end: intervals, sides and the final one. */
#ifndef TRIAL_REPORT_H
#define TRIAL_REPORT_H

#include <stddef.h>
#include <stdint.h>

struct agent;
struct trial_side;

/* The final record of a trial of no length. */
void trial_report_probe(struct agent *agent, uint32_t id);

/* Everything about one side, or two that ran at once. */
void trial_report_sides(
	struct agent *agent, uint32_t id, const struct trial_side *sides, size_t count);

#endif
