/* The agent binaries that lie beside this program, one a CPU family. */
#ifndef AGENT_FILE_H
#define AGENT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define AGENT_FILE_MAX (8u << 20)

struct agent_file {
	char *data;
	size_t size;
	uint64_t hash; /* FNV-1a, 64 bit */
};

/*
 * Reads orch-agent-FAMILY from folder, or when that is NULL from the first of these that holds it:
 * $ORCH_AGENT_DIR, ../agent and ../libexec/orch beside this program's folder, the configured
 * libexecdir. host is for messages; fails with ERROR_HOST.
 */
int agent_file_load(struct agent_file *file, const char *folder, const char *family,
	const char *host, struct error *err);

void agent_file_finish(struct agent_file *file);

#endif
