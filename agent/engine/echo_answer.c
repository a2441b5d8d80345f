/* The answering end: gives back what it got, to nobody who does not know the token. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "echo_end.h"

/* The loop bounds the whole request; this is only how often a quiet thread looks up. */
#define WAIT_US INT64_C(60000000)

enum { PIECE = 16 << 10 };

void echo_answer_datagrams(struct echo_end *end)
{
	unsigned char *bytes = malloc(end->size + 1);
	uint64_t number;

	while (bytes && !echo_end_stopped(end)) {
		/* One byte more than a question has: a longer one is none. */
		ssize_t got = recv(end->fd, bytes, end->size + 1, MSG_DONTWAIT);

		if (got < 0 && errno == EAGAIN) {
			echo_end_wait(end, end->fd, POLLIN, clock_now_us() + WAIT_US);
			continue;
		}
		if (got != (ssize_t)end->size ||
			!echo_get_header(bytes, (size_t)got, end->options, &number) ||
			number == ECHO_HELLO)
			continue;
		if (send(end->fd, bytes, (size_t)got, MSG_NOSIGNAL) == got)
			end->answered++;
	}
	free(bytes);
}

/* False when the connection is at its end. */
static bool send_back(struct echo_end *end, const char *bytes, size_t size)
{
	while (size > 0 && !echo_end_stopped(end)) {
		ssize_t put = send(end->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (put < 0 && errno == EAGAIN) {
			echo_end_wait(end, end->fd, POLLOUT, clock_now_us() + WAIT_US);
			continue;
		}
		if (put < 0 && errno != EINTR)
			return false;
		if (put > 0) {
			bytes += put;
			size -= (size_t)put;
		}
	}
	return true;
}

void echo_answer_stream(struct echo_end *end)
{
	char bytes[PIECE];
	int64_t total = 0;

	while (!echo_end_stopped(end)) {
		ssize_t got = recv(end->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
			echo_end_wait(end, end->fd, POLLIN, clock_now_us() + WAIT_US);
			continue;
		}
		if (got <= 0 || !send_back(end, bytes, (size_t)got))
			break;
		total += got;
	}
	end->answered = total / (int64_t)end->size;
}

/* To have been accepted is the answer. No byte is sent, so nobody gains by connecting. */
void echo_answer_connections(struct echo_end *end)
{
	while (!echo_end_stopped(end)) {
		int fd = accept4(end->fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0) {
			echo_end_wait(end, end->fd, POLLIN, clock_now_us() + WAIT_US);
			continue;
		}
		end->answered++;
		close(fd);
	}
}
