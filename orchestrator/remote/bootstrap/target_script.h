/*
 * The shell command lines that bootstrap runs on a target. They must do in busybox ash and in any
 * login shell: each is one line, `exec sh -c '...'`, without '!' (csh) and without tools that some
 * busybox builds lack (dd, wc, mktemp, stat).
 */
#ifndef TARGET_SCRIPT_H
#define TARGET_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#define TARGET_TOKEN_SIZE  33 /* 128 random bits as hex, and the NUL */
#define TARGET_FOLDERS_MAX 6

/* What the scripts say on stdout: a line "orch-TOKEN WORD [N]", N counting folders from 1. */
struct target_script {
	const char *token;
	const char *tmp; /* the host's own upload folder, or NULL */
	size_t size;     /* bytes of the agent */
	size_t skip;     /* folders that were tried before */
	bool sudo;       /* run the agent by sudo -n */
};

/* free() the results; NULL when out of memory. */
char *target_script_probe(void);

/* Takes SIZE bytes of input as the agent and runs it on the rest; leaves no file in any case. */
char *target_script_run(const struct target_script *script);

/* The same in two commands, for hosts without `head -c`: store until end of input, then run. */
char *target_script_store(const struct target_script *script);
char *target_script_run_stored(const struct target_script *script, size_t folder);

/* Runs an agent that is already there. */
char *target_script_run_installed(const char *path, bool sudo);

/* The folder as a user would write it, folder counting from 1. */
const char *target_script_folder(const struct target_script *script, size_t folder);

#endif
