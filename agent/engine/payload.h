/*
 * What a sender sends: a block of bytes that are not all zeros (a link that compresses must not
 * look faster than it is), in a file without a name or in memory.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>

struct payload {
	int file;    /* a memfd of size bytes, or -1: the kernel has none, or it was not wanted */
	char *block; /* the bytes in memory, when there is no file */
	size_t size;
};

/* Returns 0 or -errno. A kernel that has no memfd gets a block; file is -1 then. */
int payload_init(struct payload *payload, size_t size, bool want_file);
void payload_finish(struct payload *payload);

/* The bytes in memory, also those of the file; NULL when out of memory. Give them back. */
const char *payload_map(const struct payload *payload);
void payload_unmap(const struct payload *payload, const char *bytes);

#endif
