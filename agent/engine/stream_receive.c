/* The receiving threads: MSG_TRUNC, which drops the bytes in the kernel; else recv. */
#include <errno.h>
#include <sys/socket.h>

#include "clock.h"
#include "stream_mark.h"
#include "streams.h"
#include "trial_socket.h"

enum { COPY_BLOCK = 32 << 10 };

static void mark_first(struct streams *streams)
{
	if (atomic_exchange(&streams->claimed, true))
		return;
	streams->first_us = clock_now_us();
	atomic_store(&streams->started, true);
	streams_announce(streams);
}

/* 1 at the orderly end of the connection, 0 at another, -errno when it needs a buffer. */
static int receive_uncopied(struct stream *stream)
{
	struct stream_mark mark;
	bool first = true;

	while (!stream_stopped(stream)) {
		/* No copy, no cache line touched. */
		ssize_t got = recv(stream->fd, NULL, stream->all->block_size, MSG_TRUNC);

		if (got == 0)
			return 1;
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return errno == EFAULT || errno == EINVAL || errno == EOPNOTSUPP ? -errno
											 : 0;
		if (got > 0)
			stream_count(stream, (size_t)got);
		if (first && got > 0) {
			mark_first(stream->all);
			stream_mark_begin(&mark, stream->fd);
			first = false;
		} else if (!first) {
			stream_mark_follow(&mark, got > 0 ? (size_t)got : 0);
		}
	}
	return 0;
}

static bool __attribute__((noinline)) receive_copied(struct stream *stream)
{
	char bytes[COPY_BLOCK];
	size_t size =
		stream->all->block_size < sizeof(bytes) ? stream->all->block_size : sizeof(bytes);

	while (!stream_stopped(stream)) {
		ssize_t got = recv(stream->fd, bytes, size, 0);

		if (got == 0)
			return true;
		if (got < 0 && errno != EINTR)
			return false;
		if (got > 0) {
			stream_count(stream, (size_t)got);
			mark_first(stream->all);
		}
	}
	return false;
}

bool stream_receive(struct stream *stream)
{
	struct streams *all = stream->all;
	bool copies = all->method == TRIAL_RECV;
	int result = copies ? -EOPNOTSUPP : receive_uncopied(stream);
	bool at_end = result > 0;

	if (result < 0) {
		if (!copies)
			atomic_fetch_or(&all->lacks, STREAMS_LACK_RECV_TRUNC);
		at_end = receive_copied(stream);
	}
	return at_end && all->bytes_wanted > 0 && !stream_stopped(stream);
}
