/*
 * The sending threads: pages through a pipe (vmsplice, splice) or from a memfd (sendfile), which
 * copies nothing, or sendmsg of one buffer many times over. See docs/engines.md for which, when.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "streams.h"
#include "trial_socket.h"

/* How much the next call may send; 0 when the quota is used up. */
static size_t next_size(const struct stream *stream, int64_t sent, size_t size)
{
	if (stream->all->bytes_wanted > 0 && stream->quota - sent < (int64_t)size)
		return (size_t)(stream->quota - sent);
	return size;
}

/* The kernel cannot do it at all; any other failure is the connection's. */
static bool lacks_call(int number)
{
	return number == EINVAL || number == ENOSYS || number == EOPNOTSUPP || number == EPERM;
}

/* Returns bytes sent until the quota, the stop or a failure, which is left in *ret_errno. */
static int64_t send_from_file(struct stream *stream, int *ret_errno)
{
	int64_t sent = 0;
	size_t size;

	while (!stream_stopped(stream) &&
		(size = next_size(stream, sent, stream->all->block_size)) > 0) {
		off_t start = 0;
		ssize_t put = sendfile(stream->fd, stream->all->file, &start, size);

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

/* Hands the socket what is in the pipe. Returns how much of it, with *ret_errno on a failure. */
static size_t drain_pipe(struct stream *stream, size_t size, bool more, int *ret_errno)
{
	size_t done = 0;

	while (done < size && *ret_errno == 0) {
		ssize_t put = splice(stream->pipe[0], NULL, stream->fd, NULL, size - done,
			more ? SPLICE_F_MORE : 0);

		if (put > 0) {
			stream_count(stream, (size_t)put);
			done += (size_t)put;
		} else if (put == 0 || errno != EINTR || stream_stopped(stream)) {
			*ret_errno = put == 0 ? EPIPE : errno;
		}
	}
	return done;
}

/*
 * The pages may still be on their way when the next call names them again: they never change. The
 * pipe is empty before each vmsplice and has a slot for each page, so that this never waits.
 */
static int64_t send_through_pipe(struct stream *stream, int *ret_errno)
{
	struct streams *all = stream->all;
	struct iovec pieces[STREAMS_PIPE_SIZE / PAYLOAD_SIZE];
	int64_t sent = 0;
	size_t size;

	while (*ret_errno == 0 && !stream_stopped(stream) &&
		(size = next_size(stream, sent, stream->all->block_size)) > 0) {
		size_t count = payload_name(all->bytes, size, PAYLOAD_SIZE, pieces,
			sizeof(pieces) / sizeof(pieces[0]), &size);
		bool last = all->bytes_wanted > 0 && stream->quota - sent == (int64_t)size;
		ssize_t put = vmsplice(stream->pipe[1], pieces, count, 0);

		if (put <= 0)
			*ret_errno = put == 0 ? EINVAL : errno;
		else
			sent += (int64_t)drain_pipe(stream, (size_t)put,
				!all->at_once && !(last && put == (ssize_t)size), ret_errno);
		if (*ret_errno == EINTR)
			*ret_errno = 0;
	}
	return sent;
}

static void send_from_memory(struct stream *stream, int64_t sent, int *ret_errno)
{
	struct iovec pieces[STREAMS_PIECES_MAX];
	size_t size;

	while (!stream_stopped(stream) &&
		(size = next_size(stream, sent, stream->all->write_size)) > 0) {
		size_t count = payload_name(
			stream->all->bytes, size, PAYLOAD_PIECE, pieces, STREAMS_PIECES_MAX, &size);
		struct msghdr message = {.msg_iov = pieces};

		/* Its type is the C library's own matter. */
		message.msg_iovlen = (__typeof__(message.msg_iovlen))count;
		ssize_t put = sendmsg(stream->fd, &message, MSG_NOSIGNAL);

		if (put >= 0) {
			stream_count(stream, (size_t)put);
			sent += put;
		} else if (errno != EINTR) {
			*ret_errno = errno;
			break;
		}
	}
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

/* The way that copies nothing, where there is one. Returns what it sent. */
static int64_t send_uncopied(struct stream *stream, int *ret_errno)
{
	struct streams *all = stream->all;
	bool pipes = all->method == TRIAL_SPLICE;
	int64_t sent = 0;

	if (pipes && stream->pipe[1] >= 0)
		sent = send_through_pipe(stream, ret_errno);
	else if (all->method == TRIAL_SENDFILE && all->file >= 0)
		sent = send_from_file(stream, ret_errno);
	if (sent == 0 && lacks_call(*ret_errno)) {
		atomic_fetch_or(&all->lacks, pipes ? STREAMS_LACK_SPLICE : STREAMS_LACK_SENDFILE);
		*ret_errno = 0;
	}
	return sent;
}

bool stream_send(struct stream *stream)
{
	int failure = 0;
	int64_t sent = send_uncopied(stream, &failure);

	if (failure == 0 && next_size(stream, sent, stream->all->write_size) > 0 &&
		!stream_stopped(stream))
		send_from_memory(stream, sent, &failure);
	if (failure != 0 || stream->all->bytes_wanted == 0 || stream_stopped(stream))
		return false;
	return close_orderly(stream);
}
