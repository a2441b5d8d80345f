#include "../suggest.h"

#include <stdio.h>

#include "../nearest.h"

const char *suggest_text(
	const char *word, const void *names, size_t count, size_t stride, char *buffer, size_t size)
{
	const char *found = nearest_find(word, names, count, stride);

	buffer[0] = '\0';
	if (found)
		snprintf(buffer, size, "; did you mean \"%s\"?", found);
	return buffer;
}
