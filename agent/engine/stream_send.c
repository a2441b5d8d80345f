/* The sending threads: sendfile from a memfd, which copies nothing; else write. */
#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "streams.h"
#include "trial_socket.h"

/* How much the next call may send; 0 when the quota is used up. */
static size_t next_size(const struct stream *stream, int64_t sent)
{
	size_t size = stream->all->block_size;

	if (stream->all->bytes_wanted > 0 && stream->quota - sent < (int64_t)size)
		return (size_t)(stream->quota - sent);
	return size;
}

/* The kernel cannot do it at all; any other failure is the connection's. */
static bool lacks_sendfile(int number)
{
	return number == EINVAL || number == ENOSYS || number == EOPNOTSUPP || number == EPERM;
}

/* Returns bytes sent until the quota, the stop or a failure, which is left in *ret_errno. */
static int64_t send_from_file(struct stream *stream, int *ret_errno)
{
	int64_t sent = 0;
	size_t size;

	while (!stream_stopped(stream) && (size = next_size(stream, sent)) > 0) {
		off_t start = 0;
		ssize_t put = sendfile(stream->fd, stream->all->payload.file, &start, size);

		if (put > 0) {
			stream_count(stream, (size_t)put);
			sent += put;
		} else if (put == 0 || errno != EINTR) {
			*ret_errno = put == 0 ? EINVAL : errno;
			break;
		}
	}
	return sent;
}

static int64_t send_from_memory(struct stream *stream, int64_t sent, int *ret_errno)
{
	const char *bytes = payload_map(&stream->all->payload);
	size_t size;

	if (!bytes) {
		*ret_errno = ENOMEM;
		return sent;
	}
	while (!stream_stopped(stream) && (size = next_size(stream, sent)) > 0) {
		ssize_t put = send(stream->fd, bytes, size, MSG_NOSIGNAL);

		if (put >= 0) {
			stream_count(stream, (size_t)put);
			sent += put;
		} else if (errno != EINTR) {
			*ret_errno = errno;
			break;
		}
	}
	payload_unmap(&stream->all->payload, bytes);
	return sent;
}

/* The quota is written: says so to the receiver, and waits until it has got all and closes. */
static bool close_orderly(struct stream *stream)
{
	char byte;
	ssize_t got;

	if (shutdown(stream->fd, SHUT_WR) < 0)
		return false;
	do {
		got = recv(stream->fd, &byte, 1, 0);
	} while ((got < 0 && errno == EINTR) || got > 0);
	return got == 0 && !stream_stopped(stream);
}

bool stream_send(struct stream *stream)
{
	struct streams *all = stream->all;
	int64_t sent = 0;
	int failure = 0;

	if (all->payload.file >= 0 && !all->copies) {
		sent = send_from_file(stream, &failure);
		if (sent == 0 && lacks_sendfile(failure)) {
			atomic_fetch_or(&all->lacks, STREAMS_LACK_SENDFILE);
			failure = 0;
		}
	}
	if (failure == 0 && next_size(stream, sent) > 0 && !stream_stopped(stream))
		send_from_memory(stream, sent, &failure);
	if (failure != 0 || all->bytes_wanted == 0 || stream_stopped(stream))
		return false;
	return close_orderly(stream);
}
