/*
 * What a sender sends: bytes that are not all zeros (a link that compresses must not look faster
 * than it is). They are few and never change, so that one call may name them many times over.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stddef.h>
#include <sys/uio.h>

enum {
	PAYLOAD_SIZE = 64 << 10,
	PAYLOAD_PIECE = 16 << 10, /* fits the first-level cache */
};

/* PAYLOAD_SIZE bytes at the begin of a page, which pipes and sockets may go on holding after
 * payload_unmap(). NULL when out of memory. */
char *payload_map(void);
void payload_unmap(char *bytes);

/* A file without a name of that size, whose pages belong to no address space: they cost the agent
 * no resident memory. Returns a descriptor, or -errno (a kernel before 3.17 has none). */
int payload_open_file(size_t size);

/* Names size bytes in pieces of at most `piece`, each the begin of the payload, as far as most
 * pieces carry. Returns how many pieces; *ret_size is what they hold. */
size_t payload_name(const char *bytes, size_t size, size_t piece, struct iovec *pieces, size_t most,
	size_t *ret_size);

#endif
