/* `; did you mean "links"?`: the end of a message about a word that nobody knows. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stddef.h>

#define SUGGEST_TEXT_MAX 128

/* names, count and stride as in nearest_find(). Empty when nothing is near; returns buffer. */
const char *suggest_text(const char *word, const void *names, size_t count, size_t stride,
	char *buffer, size_t size);

#endif
