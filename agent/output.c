#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT_CAPACITY = 32 << 10 };

void output_init(struct output *output, int fd)
{
	*output = (struct output){.fd = fd};
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void output_finish(struct output *output)
{
	free(output->bytes);
	output->bytes = NULL;
}

size_t output_pending(const struct output *output)
{
	return output->end - output->start;
}

static bool make_room(struct output *output, size_t length)
{
	size_t pending = output_pending(output);

	if (pending + length > OUTPUT_MAX)
		return false;
	if (output->start > 0) {
		memmove(output->bytes, output->bytes + output->start, pending);
		output->start = 0;
		output->end = pending;
	}
	if (pending + length <= output->capacity)
		return true;
	size_t capacity = output->capacity ? output->capacity : KEPT_CAPACITY;

	while (capacity < pending + length)
		capacity *= 2;
	char *bytes = realloc(output->bytes, capacity);

	if (!bytes)
		return false;
	output->bytes = bytes;
	output->capacity = capacity;
	return true;
}

void output_add(struct output *output, const char *bytes, size_t length)
{
	if (output->broken)
		return;
	if (output->end + length > output->capacity && !make_room(output, length)) {
		output->broken = true;
		return;
	}
	memcpy(output->bytes + output->end, bytes, length);
	output->end += length;
}

void output_flush(struct output *output)
{
	while (output_pending(output) > 0 && !output->broken) {
		ssize_t put =
			write(output->fd, output->bytes + output->start, output_pending(output));

		if (put > 0) {
			output->start += (size_t)put;
		} else if (put < 0 && errno == EINTR) {
			continue;
		} else if (put < 0 && errno == EAGAIN) {
			return;
		} else {
			output->broken = true;
		}
	}
	output->start = 0;
	output->end = 0;
	if (output->capacity > KEPT_CAPACITY) {
		/* A burst of intervals must not stay in a router's memory. */
		output_finish(output);
		output->capacity = 0;
	}
}
