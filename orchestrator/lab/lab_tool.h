/* Runs the system's tools (ip, tc, nft, ssh-keygen) with a text as input. */
#ifndef LAB_TOOL_H
#define LAB_TOOL_H

#include <stddef.h>

#include "error.h"

/* The absolute path of a tool, wherever PATH points; NULL with ERROR_LAB naming its package. */
const char *lab_tool_find(const char *name, char *buffer, size_t size, struct error *err);

/*
 * Runs argv (argv[0] a name from the table) with input, NULL for none, on its standard input, and
 * waits for it. A status other than 0 or 30 s without an end is ERROR_LAB with what it said.
 */
int lab_tool_run(const char *const argv[], const char *input, struct error *err);

#endif
