/* "Did you mean": the known name that a mistyped word is nearest to. Pure. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

/*
 * names is an array of count elements, stride bytes apart, each beginning with a `const char *`
 * name (a plain array of strings has stride sizeof(char *); a NULL name is skipped). Returns the
 * one with the fewest insertions, deletions, replacements and swapped neighbours, the first of
 * equals; NULL when it would take more than a third of the longer word, or the words are over 40
 * bytes long.
 */
const char *nearest_find(const char *word, const void *names, size_t count, size_t stride);

#endif
