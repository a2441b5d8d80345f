#include "nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define WORD_MAX 40

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment distance, row by row; case is not a difference. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][WORD_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t cost = same(a[i - 1], b[j - 1]) ? 0 : 1;

			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + cost);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				row[j] = least(row[j], above2[j - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

const char *nearest_find(const char *word, const void *names, size_t count, size_t stride)
{
	size_t length = strlen(word), best = WORD_MAX;
	const char *found = NULL;

	if (length > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const void *element = (const char *)names + i * stride;
		const char *name = *(const char *const *)element;
		size_t name_length = name ? strlen(name) : 0, edits;

		if (!name || name_length > WORD_MAX)
			continue;
		edits = distance(word, length, name, name_length);
		if (edits < best && edits * 3 <= (length > name_length ? length : name_length)) {
			best = edits;
			found = name;
		}
	}
	return found;
}
