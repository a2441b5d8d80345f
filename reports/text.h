/*
 * Words for a terminal. What comes from a file or a peer may hold escape sequences or text that
 * runs the other way; it must never reach a terminal as it is.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * The text with everything that is not a printable, left-to-right, single-line character of the
 * locale replaced by \n, \t, \xHH (a byte) or \u{HEX} (a character: controls, bidirectional,
 * zero-width and combining ones). free() it; NULL when out of memory. NULL text is "".
 */
char *text_escape(const char *text);

/* Columns that an escaped text takes on the terminal. */
size_t text_width(const char *text);

/* The text, escaped, cut to at most `columns` columns with "..." at the end. free() it. */
char *text_fit(const char *text, size_t columns);

/*
 * Prints text escaped (a newline in it begins a new line), broken at spaces so that no line is
 * wider than `columns` unless a single word is; a number and its unit are one word. The first line
 * begins with `first`, the others with `rest`, both counted.
 */
void text_wrap(FILE *out, const char *first, const char *rest, size_t columns, const char *text);

#endif
