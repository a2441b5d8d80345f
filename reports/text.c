#include "text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

/* Longest escape of one character: \u{10FFFF} */
#define ESCAPE_MAX 12

/* Characters that reorder or hide what stands beside them, though they count as printable. */
static const struct {
	wchar_t first, last;
} unsafe_ranges[] = {
	{0x0080, 0x009f},   /* C1 controls: 9b begins an escape sequence */
	{0x00ad, 0x00ad},   /* soft hyphen */
	{0x0590, 0x08ff},   /* Hebrew, Arabic, Syriac, Thaana, NKo, ...: right to left */
	{0x2000, 0x200f},   /* odd spaces, zero width, direction marks */
	{0x2028, 0x202f},   /* line separators, embeddings and overrides */
	{0x205f, 0x206f},   /* invisible operators, isolates */
	{0x3000, 0x3000},   /* wide space */
	{0xe000, 0xf8ff},   /* private use */
	{0xfb1d, 0xfdff},   /* presentation forms, right to left */
	{0xfe00, 0xfe0f},   /* variation selectors */
	{0xfe70, 0xfeff},   /* presentation forms; byte order mark */
	{0xfff0, 0xfffb},   /* specials */
	{0x10800, 0x10fff}, /* ancient scripts, right to left */
	{0x1e800, 0x1efff}, /* Adlam and others, right to left */
	{0xe0000, 0xfffff}, /* tags, private use */
};

static bool is_safe(wchar_t character)
{
	if (!iswprint((wint_t)character) || wcwidth(character) < 1)
		return false;
	for (size_t i = 0; i < sizeof(unsafe_ranges) / sizeof(*unsafe_ranges); i++) {
		if (character >= unsafe_ranges[i].first && character <= unsafe_ranges[i].last)
			return false;
	}
	return true;
}

/*
 * Reads one character: its bytes, and in *ret_shown how it is shown (unless NULL, at least
 * ESCAPE_MAX + 1 bytes). *ret_width gets the columns of what is shown. 0 at the end.
 */
static size_t next_shown(const char *text, char *ret_shown, size_t *ret_width)
{
	mbstate_t state = {0};
	wchar_t character = 0;
	size_t bytes = mbrtowc(&character, text, strlen(text), &state);
	bool whole = bytes != (size_t)-1 && bytes != (size_t)-2;

	if (!*text)
		return 0;
	if (!whole)
		bytes = 1;
	if (whole && is_safe(character)) {
		memcpy(ret_shown, text, bytes);
		ret_shown[bytes] = '\0';
		*ret_width = (size_t)wcwidth(character);
		return bytes;
	}
	if (*text == '\n' || *text == '\t')
		snprintf(ret_shown, ESCAPE_MAX + 1, "\\%c", *text == '\n' ? 'n' : 't');
	else if (bytes == 1)
		snprintf(ret_shown, ESCAPE_MAX + 1, "\\x%02x", (unsigned int)(unsigned char)*text);
	else
		snprintf(ret_shown, ESCAPE_MAX + 1, "\\u{%x}", (unsigned int)character & 0xffffff);
	*ret_width = strlen(ret_shown);
	return bytes;
}

char *text_escape(const char *text)
{
	return text_fit(text, (size_t)-1);
}

size_t text_width(const char *text)
{
	char shown[ESCAPE_MAX + 1];
	size_t width = 0, one, bytes;

	while ((bytes = next_shown(text, shown, &one)) > 0) {
		width += one;
		text += bytes;
	}
	return width;
}

char *text_fit(const char *text, size_t columns)
{
	const char *from = text ? text : "";
	size_t length = 0, width = 0, one, bytes;
	size_t room = text_width(from) <= columns ? columns : columns - (columns < 3 ? columns : 3);
	char *result = malloc(strlen(from) * ESCAPE_MAX + 4), shown[ESCAPE_MAX + 1];

	if (!result)
		return NULL;
	while ((bytes = next_shown(from, shown, &one)) > 0 && width + one <= room) {
		size_t shown_length = strlen(shown);

		memcpy(result + length, shown, shown_length);
		length += shown_length;
		width += one;
		from += bytes;
	}
	if (bytes > 0) {
		memcpy(result + length, "...", columns < 3 ? columns : 3);
		length += columns < 3 ? columns : 3;
	}
	result[length] = '\0';
	return result;
}

/* One word that holds no newline, escaped; returns its columns. */
static size_t print_word(FILE *out, const char *word, size_t length)
{
	char shown[ESCAPE_MAX + 1];
	char *copy = strndup(word, length);
	size_t width = 0, one, bytes;

	for (const char *at = copy; at && (bytes = next_shown(at, shown, &one)) > 0; at += bytes) {
		if (out)
			fputs(shown, out);
		width += one;
	}
	free(copy);
	return width;
}

/* A number and its unit stay on one line. */
static bool is_unit(const char *text)
{
	static const char *const units[] = {"%", "Mbit/s", "Gbit/s", "kbit/s", "bit/s", "ms", "s"};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t length = strlen(units[i]);

		if (strncmp(text, units[i], length) == 0 &&
			(!text[length] || strchr(" \n.,;:)", text[length])))
			return true;
	}
	return false;
}

static size_t word_length(const char *text)
{
	size_t length = strcspn(text, " \n");

	while (text[length] == ' ' && length && text[length - 1] >= '0' &&
		text[length - 1] <= '9' && is_unit(text + length + 1))
		length += 1 + strcspn(text + length + 1, " \n");
	return length;
}

void text_wrap(FILE *out, const char *first, const char *rest, size_t columns, const char *text)
{
	size_t width = text_width(first);
	bool begun = false;

	fputs(first, out);
	while (*text) {
		size_t length = word_length(text), word = print_word(NULL, text, length);

		if (begun && length && width + 1 + word > columns) {
			fprintf(out, "\n%s", rest);
			width = text_width(rest);
			begun = false;
		}
		if (length) {
			if (begun)
				fputc(' ', out);
			width += print_word(out, text, length) + (begun ? 1 : 0);
			begun = true;
		}
		text += length;
		if (*text == '\n') {
			fprintf(out, "\n%s", rest);
			width = text_width(rest);
			begun = false;
		}
		if (*text)
			text++;
	}
	fputc('\n', out);
}
