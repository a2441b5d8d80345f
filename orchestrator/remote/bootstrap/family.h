/* From the first bytes of any program of a host to the CPU family whose agent it can run. */
#ifndef FAMILY_H
#define FAMILY_H

#include <stddef.h>

#define FAMILY_HEADER_SIZE 64

/*
 * The family ("x86_64", "mipsel", ...) of an ELF header of FAMILY_HEADER_SIZE bytes, or NULL when
 * there is no agent for it. ret_description gets a text for messages, also then.
 */
const char *family_of(const unsigned char *header, char *ret_description, size_t size);

#endif
