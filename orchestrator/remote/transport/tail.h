/* The last kilobyte of what a program said on stderr, fit to be quoted in a message. */
#ifndef TAIL_H
#define TAIL_H

#include <stddef.h>

#define TAIL_MAX 1024

struct tail {
	char text[TAIL_MAX + 1]; /* NUL-terminated */
	size_t length;
};

void tail_clear(struct tail *tail);

/* Appends; the oldest bytes fall out. Control characters become spaces (newlines stay). */
void tail_add(struct tail *tail, const char *data, size_t length);

/* Reads descriptor (non-blocking) to its end into the tail. Returns 0 at the end, or -errno. */
int tail_read(struct tail *tail, int descriptor);

/* The last line that is not blank, for messages; empty when nothing was said. Returns buffer. */
const char *tail_last_line(const char *text, char *buffer, size_t size);

#endif
