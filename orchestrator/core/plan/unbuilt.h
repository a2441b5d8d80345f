/*
 * What a topology may say and this version cannot do yet. Building a feature means removing its
 * row.
 */
#ifndef PLAN_UNBUILT_H
#define PLAN_UNBUILT_H

#include "../plan.h"

/* Looks at what the plan's series use; ERROR_UNBUILT at the place that asks for it. */
int unbuilt_check(const struct plan *plan, struct error *err);

#endif
