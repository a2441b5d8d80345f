#include "tail.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void tail_clear(struct tail *tail)
{
	tail->length = 0;
	tail->text[0] = '\0';
}

void tail_add(struct tail *tail, const char *data, size_t length)
{
	size_t drop;

	if (length > TAIL_MAX) {
		data += length - TAIL_MAX;
		length = TAIL_MAX;
	}
	drop = tail->length + length > TAIL_MAX ? tail->length + length - TAIL_MAX : 0;
	memmove(tail->text, tail->text + drop, tail->length - drop);
	tail->length -= drop;
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)data[i];

		/* A terminal must not be steered by what a target says. */
		tail->text[tail->length++] =
			(byte < ' ' && byte != '\n') || byte == 0x7f ? ' ' : data[i];
	}
	tail->text[tail->length] = '\0';
}

int tail_read(struct tail *tail, int descriptor)
{
	char buffer[4096];
	ssize_t got;

	/* Bounded: a program that floods its stderr must not keep the loop here. */
	for (int rounds = 0; rounds < 64; rounds++) {
		got = read(descriptor, buffer, sizeof(buffer));
		if (got == 0)
			return 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		tail_add(tail, buffer, (size_t)got);
	}
	return -EAGAIN;
}

const char *tail_last_line(const char *text, char *buffer, size_t size)
{
	const char *end = text + strlen(text);
	const char *start;
	size_t length;

	while (end > text && (end[-1] == '\n' || end[-1] == ' '))
		end--;
	start = end;
	while (start > text && start[-1] != '\n')
		start--;
	length = (size_t)(end - start);
	if (length >= size)
		length = size - 1;
	memcpy(buffer, start, length);
	buffer[length] = '\0';
	return buffer;
}
