/* What a topology may say and no engine can do: options that contradict each other. */
#ifndef PLAN_IMPOSSIBLE_H
#define PLAN_IMPOSSIBLE_H

#include "../plan.h"

/* Looks at the tests of the plan's series; ERROR_TOPOLOGY at the test, with the reason. */
int impossible_check(const struct plan *plan, struct error *err);

#endif
