/*
 * A host's share of the CPU as a cgroup quota, version 1 or 2, whichever has the cpu controller.
 */
#ifndef LAB_CGROUP_H
#define LAB_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

#define LAB_CGROUP_SIZE 256

struct lab_cgroup_root {
	char folder[128];
	bool version2;
};

/* Finds where cpu quotas are set, from text in the format of /proc/mounts; ERROR_LAB when nowhere.
 */
int lab_cgroup_find(const char *mounts, struct lab_cgroup_root *ret_root, struct error *err);

/* The same for this machine. */
int lab_cgroup_find_here(struct lab_cgroup_root *ret_root, struct error *err);

/*
 * Quota and period in microseconds for a share of one CPU (.05 = 5 %). The period is as short as
 * keeps the quota at 1 ms, the kernel's least: 10 ms to 100 ms. A long one stalls a host for most
 * of it, which is a delay that no slow CPU has.
 */
void lab_cgroup_quota(double share, long *ret_quota, long *ret_period);

/* Makes the folder and sets the quota. */
int lab_cgroup_create(
	const struct lab_cgroup_root *root, const char *folder, double share, struct error *err);

#endif
