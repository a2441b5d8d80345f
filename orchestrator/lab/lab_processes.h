/* Ends what runs inside a lab's namespaces and cgroups. */
#ifndef LAB_PROCESSES_H
#define LAB_PROCESSES_H

#include <stddef.h>

/*
 * SIGKILLs every process whose network namespace is one of these (names under /run/netns) or which
 * is in one of these cgroup folders, the caller excepted, and waits until they are gone, 5 s at
 * most. Returns how many are left.
 */
size_t lab_processes_end(char *const namespaces[], size_t namespace_count, char *const cgroups[],
	size_t cgroup_count);

#endif
