/*
 * The tests that two agents run with each other. Each begins with a `listen` or `connect` request:
 * it checks the keys and says `error code=bad`, or hands a job to the loop.
 */
#ifndef TESTS_H
#define TESTS_H

#include <stdbool.h>

#include "wire.h"

struct agent;

void trial_begin(struct agent *agent, const struct wire_record *request, bool listens); /* tcp */
void udp_begin(struct agent *agent, const struct wire_record *request, bool listens);
void echo_begin(struct agent *agent, const struct wire_record *request, bool listens);

#endif
