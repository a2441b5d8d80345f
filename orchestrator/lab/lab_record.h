/*
 * What a lab made, written down before it is made, so that the next one can take it down however
 * its owner ended: the file "state" in /run/orch/lab/LAB. One lock orders everything that changes
 * labs.
 */
#ifndef LAB_RECORD_H
#define LAB_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab_names.h"
#include "topology.h"

#define LAB_FOLDER      "/run/orch/lab"
#define LAB_FOLDER_SIZE (sizeof(LAB_FOLDER) + LAB_NAME_SIZE + 64)

/* A process, told from a later one with the same number by its start (ticks since boot). */
struct lab_process {
	int pid; /* 0 = none */
	uint64_t start;
};

struct lab_record {
	uint64_t fingerprint; /* lab_script_fingerprint() */
	bool ready;           /* false: it is being built, or its builder died */
	struct lab_process builder, owner;
	char **namespaces;
	size_t namespace_count;
	char **cgroups; /* folders */
	size_t cgroup_count;
};

/* "/run/orch/lab/LAB"; returns buffer. */
const char *lab_record_folder(const struct topology *topology, char buffer[static LAB_FOLDER_SIZE]);

/* The process as it is now; start 0 when there is none. */
struct lab_process lab_record_process(int pid);
bool lab_record_alive(const struct lab_process *process);

/* Adds a copy to a list; -1 when out of memory. */
int lab_record_add(char ***list, size_t *count, const char *text);

/* Text in the state file's format <-> record. Parsing returns -1 for what is no state file. */
char *lab_record_format(const struct lab_record *record);
int lab_record_parse(const char *text, struct lab_record *ret_record);

/* Reads the record of a lab folder: 1 when there is one, 0 when not (a broken one counts as none).
 */
int lab_record_read(const char *folder, struct lab_record *ret_record);
/* Writes it (atomically), making the folder. */
int lab_record_write(const char *folder, const struct lab_record *record, struct error *err);

/* Removes the folder with everything in it; no error when it is not there. */
void lab_record_remove(const char *folder);

void lab_record_finish(struct lab_record *record);

/* Waits for the lock; returns a descriptor, or -1. Releasing removes /run/orch when it is empty. */
int lab_record_lock(struct error *err);
void lab_record_unlock(int lock);

#endif
