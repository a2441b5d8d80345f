#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_SIZE_MAX = 4 << 20 };

bool files_join(char *path, size_t size, const char *root, ...)
{
	size_t length = 0;
	va_list parts;

	va_start(parts, root);
	for (const char *part = root; part; part = va_arg(parts, const char *)) {
		size_t more = strlen(part);

		if (more >= size - length) {
			va_end(parts);
			return false;
		}
		memcpy(path + length, part, more);
		length += more;
	}
	va_end(parts);
	path[length] = '\0';
	return true;
}

int files_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	while (got > 0 && length < size - 1) {
		got = read(fd, text + length, size - 1 - length);
		if (got > 0)
			length += (size_t)got;
	}
	int result = got < 0 ? -errno : (int)length;

	close(fd);
	text[length] = '\0';
	return result;
}

char *files_read_all(const char *path)
{
	for (size_t size = 4096; size <= FILE_SIZE_MAX; size *= 4) {
		char *text = malloc(size);
		int length = text ? files_read(path, text, size) : -ENOMEM;

		if (length >= 0 && (size_t)length < size - 1)
			return text;
		free(text);
		if (length < 0)
			return NULL;
	}
	return NULL;
}

bool files_read_number(const char *path, int64_t *ret)
{
	char text[64];
	const char *at = text;

	return files_read(path, text, sizeof(text)) > 0 && files_parse_number(&at, ret);
}

bool files_exist(const char *path)
{
	return access(path, F_OK) == 0;
}

bool files_parse_number(const char **at, int64_t *ret)
{
	const char *from = *at + strspn(*at, " \t");
	char *end;
	/* Counters of 64 bits without a sign keep their bits. */
	int64_t number = *from == '-' ? strtoll(from, &end, 10) : (int64_t)strtoull(from, &end, 10);

	if (end == from || strchr("0123456789-", *from) == NULL)
		return false;
	*at = end;
	*ret = number;
	return true;
}

char *files_next_line(char **text)
{
	char *line = *text;

	if (*line == '\0')
		return NULL;
	size_t length = strcspn(line, "\n");

	*text = line + length + (line[length] != '\0');
	line[length] = '\0';
	return line;
}

char *files_next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");

	if (*word == '\0')
		return NULL;
	size_t length = strcspn(word, " \t");

	*line = word + length + (word[length] != '\0');
	word[length] = '\0';
	return word;
}
