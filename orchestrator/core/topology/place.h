/* Errors at a place of the file. */
#ifndef TOPOLOGY_PLACE_H
#define TOPOLOGY_PLACE_H

#include "../topology.h"

#define PLACE_MAX 200

/* "file:line:column", or the file alone for line 0; returns buffer. */
const char *place_text(const char *file, struct topology_mark mark, char *buffer, size_t size);

/* Sets ERROR_TOPOLOGY at the place and returns -1. */
int place_fail(struct error *err, const char *file, struct topology_mark mark, const char *format,
	...) __attribute__((format(printf, 4, 5)));

#endif
