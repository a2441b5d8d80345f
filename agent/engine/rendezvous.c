#include "rendezvous.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trial_socket.h"

enum { WELCOME = 'G' };

static int open_streams(struct rendezvous *meeting, const char **ret_what)
{
	for (int64_t i = 0; i < meeting->options->connections; i++) {
		int fd = trial_socket_open(meeting->options, &meeting->device_bound, ret_what);

		if (fd < 0)
			return fd;
		meeting->streams[i] = fd;
		int result = trial_socket_connect(fd, meeting->options, ret_what);

		if (result < 0)
			return result;
	}
	return 0;
}

static int open_listener(struct rendezvous *meeting, const char **ret_what)
{
	meeting->listener = trial_socket_open(meeting->options, &meeting->device_bound, ret_what);
	if (meeting->listener < 0)
		return meeting->listener;
	meeting->port = trial_socket_listen(meeting->listener, meeting->options, ret_what);
	return meeting->port < 0 ? meeting->port : 0;
}

int rendezvous_init(
	struct rendezvous *meeting, const struct trial_options *options, const char **ret_what)
{
	memset(meeting, 0, sizeof(*meeting));
	meeting->options = options;
	meeting->listener = -1;
	for (size_t i = 0; i < TRIAL_CONNECTIONS_MAX; i++)
		meeting->streams[i] = -1;
	int result = options->listens ? open_listener(meeting, ret_what)
				      : open_streams(meeting, ret_what);

	if (result < 0)
		rendezvous_finish(meeting, true);
	return result;
}

size_t rendezvous_watch(const struct rendezvous *meeting, struct pollfd *fds, size_t max)
{
	size_t count = 0;

	if (meeting->listener >= 0 && count < max)
		fds[count++] = (struct pollfd){.fd = meeting->listener, .events = POLLIN};
	for (size_t i = 0; i < meeting->waiting_count && count < max; i++)
		fds[count++] = (struct pollfd){.fd = meeting->waiting[i].fd, .events = POLLIN};
	if (meeting->options->listens)
		return count;
	for (int64_t i = 0; i < meeting->options->connections && count < max; i++) {
		if (!meeting->welcome[i])
			fds[count++] = (struct pollfd){.fd = meeting->streams[i],
				.events = meeting->introduced[i] ? POLLIN : POLLOUT};
	}
	return count;
}

static void drop_guest(struct rendezvous *meeting, size_t index)
{
	if (meeting->waiting[index].fd >= 0)
		close(meeting->waiting[index].fd);
	meeting->waiting_count--;
	memmove(&meeting->waiting[index], &meeting->waiting[index + 1],
		(meeting->waiting_count - index) * sizeof(meeting->waiting[0]));
}

static void accept_guests(struct rendezvous *meeting)
{
	for (;;) {
		int fd = accept4(meeting->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		/* The longest-waiting one is the likeliest to be no stream of ours. */
		if (meeting->waiting_count == RENDEZVOUS_WAITING_MAX)
			drop_guest(meeting, 0);
		meeting->waiting[meeting->waiting_count++] = (struct rendezvous_guest){.fd = fd};
	}
}

/* Takes as long wherever the first difference is, so that nobody can guess byte by byte. */
bool rendezvous_token_is_right(const unsigned char *shown, const unsigned char *token)
{
	volatile unsigned char difference = 0;

	for (size_t i = 0; i < TRIAL_TOKEN_SIZE; i++)
		difference = (unsigned char)(difference | (shown[i] ^ token[i]));
	return difference == 0;
}

/* Returns whether the guest is settled: seated as a stream, or dropped. */
static bool settle_guest(struct rendezvous *meeting, size_t index)
{
	struct rendezvous_guest *guest = &meeting->waiting[index];
	ssize_t got = recv(
		guest->fd, guest->hello + guest->length, sizeof(guest->hello) - guest->length, 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0) {
		drop_guest(meeting, index);
		return true;
	}
	guest->length += (size_t)got;
	if (guest->length < sizeof(guest->hello))
		return false;
	unsigned int number = guest->hello[TRIAL_TOKEN_SIZE];

	if (rendezvous_token_is_right(guest->hello, meeting->options->token) &&
		number < meeting->options->connections && meeting->streams[number] < 0) {
		meeting->streams[number] = guest->fd;
		guest->fd = -1;
	}
	drop_guest(meeting, index);
	return true;
}

/*
 * Nothing may be sent before the answer: it would be counted. Nor may a seat be held by somebody
 * who has left. Both make room for the right one.
 */
static void clear_seats(struct rendezvous *meeting)
{
	for (int64_t i = 0; i < meeting->options->connections; i++) {
		int fd = meeting->streams[i];
		char byte;

		if (fd < 0 || (recv(fd, &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN))
			continue;
		close(fd);
		meeting->streams[i] = -1;
	}
}

static bool all_streams_stand(const struct rendezvous *meeting)
{
	for (int64_t i = 0; i < meeting->options->connections; i++) {
		if (meeting->streams[i] < 0)
			return false;
	}
	return true;
}

static int receive_guests(struct rendezvous *meeting, const char **ret_what)
{
	static const char welcome = WELCOME;

	/* Before, so that a newcomer finds the seat free; after, for whom it just seated. */
	clear_seats(meeting);
	accept_guests(meeting);
	for (size_t i = 0; i < meeting->waiting_count;) {
		if (!settle_guest(meeting, i))
			i++;
	}
	clear_seats(meeting);
	if (!all_streams_stand(meeting))
		return 0;
	for (int64_t i = 0; i < meeting->options->connections; i++) {
		*ret_what = "answering a stream";
		if (send(meeting->streams[i], &welcome, 1, MSG_NOSIGNAL) != 1)
			return -errno;
	}
	return 1;
}

static int introduce(struct rendezvous *meeting, int64_t number, const char **ret_what)
{
	unsigned char hello[RENDEZVOUS_HELLO_SIZE];
	int fd = meeting->streams[number];
	int result = trial_socket_connected(fd);

	if (result == -EINPROGRESS)
		return 0;
	*ret_what = "connect";
	if (result < 0)
		return result;
	memcpy(hello, meeting->options->token, TRIAL_TOKEN_SIZE);
	hello[TRIAL_TOKEN_SIZE] = (unsigned char)number;
	/* The first bytes on a connection always fit its buffer. */
	if (send(fd, hello, sizeof(hello), MSG_NOSIGNAL) != (ssize_t)sizeof(hello))
		return -ECONNABORTED;
	meeting->introduced[number] = true;
	return 0;
}

static int await_welcome(struct rendezvous *meeting, int64_t number)
{
	char answer;
	ssize_t got = recv(meeting->streams[number], &answer, 1, 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got != 1 || answer != WELCOME)
		return -ECONNABORTED;
	meeting->welcome[number] = true;
	return 0;
}

static int join_as_guest(struct rendezvous *meeting, const char **ret_what)
{
	int64_t there = 0;

	for (int64_t i = 0; i < meeting->options->connections; i++) {
		int result = 0;

		if (!meeting->introduced[i])
			result = introduce(meeting, i, ret_what);
		if (result == 0 && meeting->introduced[i] && !meeting->welcome[i])
			result = await_welcome(meeting, i);
		if (result < 0)
			return result;
		there += meeting->welcome[i];
	}
	return there == meeting->options->connections;
}

int rendezvous_advance(struct rendezvous *meeting, const char **ret_what)
{
	return meeting->options->listens ? receive_guests(meeting, ret_what)
					 : join_as_guest(meeting, ret_what);
}

void rendezvous_finish(struct rendezvous *meeting, bool close_streams)
{
	if (meeting->listener >= 0)
		close(meeting->listener);
	meeting->listener = -1;
	while (meeting->waiting_count > 0)
		drop_guest(meeting, meeting->waiting_count - 1);
	for (size_t i = 0; close_streams && i < TRIAL_CONNECTIONS_MAX; i++) {
		if (meeting->streams[i] >= 0)
			close(meeting->streams[i]);
		meeting->streams[i] = -1;
	}
}
