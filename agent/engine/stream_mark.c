#include "stream_mark.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "clock.h"

enum {
	CALLS = 16,       /* between two looks at the clock */
	WORTH_US = 1000,  /* of the current rate: counters are late by no more than that */
	MOST = 128 << 10, /* docs/engines.md, "The receiver" */
	WAIT_US = 20000,  /* when the rate falls; and stalls are to be seen in time */
};

static void set(struct stream_mark *mark, int bytes)
{
	if (setsockopt(mark->fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes)) == 0)
		mark->mark = bytes;
}

/* Kernels before 4.18 would wait for more than a small buffer takes. */
static int64_t most_of_buffer(int fd)
{
	int buffer = 0;
	socklen_t size = sizeof(buffer);

	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, &size) < 0)
		return 1;
	return buffer / 4 < MOST ? buffer / 4 : MOST;
}

static void restart(struct stream_mark *mark, int64_t now)
{
	mark->calls = 0;
	mark->bytes = 0;
	mark->at_us = now;
}

void stream_mark_begin(struct stream_mark *mark, int fd)
{
	const struct timeval wait = {.tv_usec = WAIT_US};

	*mark = (struct stream_mark){.fd = fd, .mark = 1};
	restart(mark, clock_now_us());
	/* Without the bound no mark may be set. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0)
		mark->fd = -1;
}

void stream_mark_follow(struct stream_mark *mark, size_t got)
{
	bool waited_in_vain = got < (size_t)mark->mark;

	mark->bytes += got;
	if (mark->fd < 0 || (++mark->calls < CALLS && !waited_in_vain))
		return;
	int64_t now = clock_now_us();
	int64_t most = most_of_buffer(mark->fd);
	int64_t want = now > mark->at_us ? (int64_t)mark->bytes * WORTH_US / (now - mark->at_us)
					 : mark->mark;

	if (waited_in_vain || want < 1)
		want = 1;
	if (want > most)
		want = most > 1 ? most : 1;
	restart(mark, now);
	/* Within a factor of 2 it is not worth a call. */
	if (want > 2 * mark->mark || 2 * want < mark->mark || (want == most && want > mark->mark))
		set(mark, (int)want);
}
