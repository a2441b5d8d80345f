/*
 * Names of what a lab makes outside its namespaces. LAB is the topology's name, HOST the host's,
 * each cut to what file names and cgroups take: characters other than letters, digits, '.', '_' and
 * '-' become '-', at most 32 of them; a part that had to change gets '-' and 8 hex digits of a hash
 * (FNV-1a) of the whole. Two labs whose joined names meet all the same ("a-b" + "c", "a" + "b-c")
 * are told apart when the second goes up: it refuses a namespace that is there.
 */
#ifndef LAB_NAMES_H
#define LAB_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "topology.h"

#define LAB_NAME_SIZE 64
#define LAB_PREFIX    "orch-"

/* FNV-1a, 64 bit. */
uint64_t lab_names_hash(const void *data, size_t size);

/* The part for a name, at most 41 characters; returns buffer. */
const char *lab_names_part(const char *name, char buffer[static LAB_NAME_SIZE]);

/* "orch-LAB-HOST", the name of a namespace and of a cgroup; returns buffer. */
const char *lab_names_host(const struct topology *topology, const struct topology_host *host,
	char *buffer, size_t size);

#endif
