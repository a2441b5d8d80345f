/* One command on a logged-in session, as a pair of streams. */
#include "ssh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ample for an agent, and bounds what libssh2 holds unread. */
#define WINDOW_SIZE (256 * 1024)
#define PACKET_SIZE 32768

static enum transport_status fail(struct ssh_transport *ssh, struct error *err, const char *what)
{
	char cause[600];

	error_set(err, ERROR_HOST, ssh->host->name, "%s on %s: %s", what, ssh->target,
		ssh_cause(ssh, cause, sizeof(cause)));
	return TRANSPORT_FAILED;
}

static enum transport_status open_channel(struct ssh_transport *ssh, struct error *err)
{
	static const char session[] = "session";

	ssh->channel = libssh2_channel_open_ex(
		ssh->session, session, sizeof(session) - 1, WINDOW_SIZE, PACKET_SIZE, NULL, 0);
	if (!ssh->channel) {
		if (libssh2_session_last_errno(ssh->session) == LIBSSH2_ERROR_EAGAIN)
			return TRANSPORT_AGAIN;
		return fail(ssh, err, "shell: cannot open a channel");
	}
	ssh->channel_state = SSH_CHANNEL_EXEC;
	return TRANSPORT_DONE;
}

enum transport_status ssh_start(struct transport *transport, const char *command, struct error *err)
{
	struct ssh_transport *ssh = ssh_of(transport);
	int result;

	if (ssh->channel_state == SSH_CHANNEL_NONE) {
		free(ssh->command);
		ssh->command = strdup(command);
		if (!ssh->command)
			return fail(ssh, err, "out of memory");
		ssh->channel_state = SSH_CHANNEL_OPENING;
		ssh->outbox_length = 0;
		ssh->output_ended = ssh->read_pending = false;
		ssh->unread = ssh->write_refused = false;
		tail_clear(&ssh->errors);
	}
	if (ssh->channel_state == SSH_CHANNEL_OPENING) {
		enum transport_status status = open_channel(ssh, err);

		if (status != TRANSPORT_DONE)
			return status;
	}
	result = libssh2_channel_exec(ssh->channel, ssh->command);
	if (result == LIBSSH2_ERROR_EAGAIN && !libssh2_channel_eof(ssh->channel))
		return TRANSPORT_AGAIN;
	/* libssh2 would wait for an answer that no longer comes. */
	if (result == LIBSSH2_ERROR_EAGAIN)
		return fail(ssh, err, "shell: the server closed the channel unasked");
	if (result < 0)
		return fail(ssh, err, "shell: the server refuses to run a command");
	ssh->channel_state = SSH_CHANNEL_OPEN;
	ssh->unread = true; /* output may have come with the answer */
	return TRANSPORT_DONE;
}

static bool half_sent(const struct ssh_transport *ssh)
{
	return libssh2_session_block_directions(ssh->session) & LIBSSH2_SESSION_BLOCK_OUTBOUND;
}

/* Sends what write() took. Returns 0, -EAGAIN or -EPIPE. */
static int flush(struct ssh_transport *ssh)
{
	while (ssh->outbox_length) {
		ssize_t put = libssh2_channel_write(ssh->channel, ssh->outbox, ssh->outbox_length);

		ssh->unread = true;
		if (put == LIBSSH2_ERROR_EAGAIN || put == 0)
			return -EAGAIN;
		if (put < 0)
			return -EPIPE;
		ssh->outbox_length -= (size_t)put;
		memmove(ssh->outbox, ssh->outbox + put, ssh->outbox_length);
	}
	return 0;
}

bool ssh_channel_due(const struct ssh_transport *ssh)
{
	if (ssh->channel_state != SSH_CHANNEL_OPEN || half_sent(ssh))
		return false;
	return ssh->unread || ((ssh->write_refused || ssh->outbox_length) &&
				      libssh2_channel_window_write(ssh->channel) > 0);
}

ssize_t ssh_write(struct transport *transport, const void *data, size_t size)
{
	struct ssh_transport *ssh = ssh_of(transport);
	int result;

	if (ssh->channel_state != SSH_CHANNEL_OPEN)
		return -EPIPE;
	result = ssh->read_pending ? -EAGAIN : flush(ssh);
	ssh->write_refused = result == -EAGAIN;
	if (result < 0)
		return result;
	/* An own buffer, because a repeated call must show libssh2 the same address. */
	if (size > sizeof(ssh->outbox))
		size = sizeof(ssh->outbox);
	memcpy(ssh->outbox, data, size);
	ssh->outbox_length = size;
	if (flush(ssh) == -EPIPE)
		return -EPIPE;
	return (ssize_t)size;
}

static ssize_t read_stream(struct ssh_transport *ssh, int stream, void *buffer, size_t size)
{
	ssize_t got = libssh2_channel_read_ex(ssh->channel, stream, buffer, size);

	ssh->read_pending = got == LIBSSH2_ERROR_EAGAIN && half_sent(ssh);
	return got;
}

/* Unread stderr would stop stdout when the window is full. */
static void drain_errors(struct ssh_transport *ssh)
{
	char text[4096];

	ssh->unread_errors = false;
	for (int rounds = 0; rounds < 64 && !ssh->read_pending; rounds++) {
		ssize_t got = read_stream(ssh, SSH_EXTENDED_DATA_STDERR, text, sizeof(text));

		if (got <= 0)
			return;
		tail_add(&ssh->errors, text, (size_t)got);
	}
	ssh->unread_errors = true;
}

ssize_t ssh_read(struct transport *transport, void *buffer, size_t size)
{
	struct ssh_transport *ssh = ssh_of(transport);
	ssize_t got;

	ssh_drain_proxy(ssh);
	if (ssh->channel_state != SSH_CHANNEL_OPEN)
		return 0;
	if (!ssh->read_pending && flush(ssh) == -EAGAIN && half_sent(ssh))
		return -EAGAIN;
	if (!ssh->read_pending)
		drain_errors(ssh);
	if (ssh->output_ended)
		return 0;
	got = read_stream(ssh, 0, buffer, size);
	ssh->unread = got > 0 || ssh->unread_errors;
	if (got == LIBSSH2_ERROR_EAGAIN)
		return -EAGAIN;
	if (got < 0)
		return -EIO;
	if (got > 0)
		return got;
	drain_errors(ssh); /* there is no end while it holds unread stderr */
	ssh->output_ended = libssh2_channel_eof(ssh->channel);
	return ssh->output_ended ? 0 : -EAGAIN;
}

enum transport_status ssh_close_input(struct transport *transport, struct error *err)
{
	struct ssh_transport *ssh = ssh_of(transport);
	int result;

	if (ssh->channel_state != SSH_CHANNEL_OPEN)
		return TRANSPORT_DONE;
	if (ssh->read_pending)
		return TRANSPORT_AGAIN;
	result = flush(ssh);
	if (result == -EAGAIN)
		return TRANSPORT_AGAIN;
	if (result == 0) {
		ssh->unread = true;
		result = libssh2_channel_send_eof(ssh->channel);
	}
	if (result == LIBSSH2_ERROR_EAGAIN)
		return TRANSPORT_AGAIN;
	return result < 0 ? fail(ssh, err, "shell: cannot end its input") : TRANSPORT_DONE;
}

/* Signals by name, as the protocol sends them. */
static int signal_number(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {{"ABRT", 6}, {"ALRM", 14}, {"FPE", 8}, {"HUP", 1}, {"ILL", 4}, {"INT", 2},
		{"KILL", 9}, {"PIPE", 13}, {"QUIT", 3}, {"SEGV", 11}, {"TERM", 15}, {"USR1", 10},
		{"USR2", 12}};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (strcmp(signals[i].name, name) == 0)
			return signals[i].number;
	return 0;
}

/* A signalled process has exit status 0 here, so the signal is looked for first. */
static int exit_status(struct ssh_transport *ssh)
{
	char *name = NULL;
	int status = libssh2_channel_get_exit_status(ssh->channel);

	libssh2_channel_get_exit_signal(ssh->channel, &name, NULL, NULL, NULL, NULL, NULL);
	if (name) {
		status = 128 + signal_number(name);
		libssh2_free(ssh->session, name);
	}
	return status;
}

/*
 * Closes, and waits until the server has closed too: dropbear drops the connection else, or takes
 * the end of this command's process for the end of the next channel's. libssh2_channel_close alone
 * returns at the first packet of any kind; waiting for the close needs the end of output first.
 */
static int close_both_sides(struct ssh_transport *ssh)
{
	static int (*const calls[])(LIBSSH2_CHANNEL * channel) = {
		libssh2_channel_close, libssh2_channel_wait_eof, libssh2_channel_wait_closed};
	int result = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && result == 0; i++)
		result = calls[i](ssh->channel);
	return result;
}

static enum transport_status close_channel(struct ssh_transport *ssh)
{
	if (ssh->channel_state == SSH_CHANNEL_CLOSING) {
		if (close_both_sides(ssh) == LIBSSH2_ERROR_EAGAIN)
			return TRANSPORT_AGAIN;
		ssh->exit_status = exit_status(ssh);
		ssh->channel_state = SSH_CHANNEL_FREEING;
	}
	if (libssh2_channel_free(ssh->channel) == LIBSSH2_ERROR_EAGAIN)
		return TRANSPORT_AGAIN;
	ssh->channel = NULL;
	ssh->channel_state = SSH_CHANNEL_NONE;
	return TRANSPORT_DONE;
}

/* Reads on to the end of output, for nobody. */
static enum transport_status drain(struct ssh_transport *ssh)
{
	char scrap[4096];
	ssize_t got = 1;

	for (int rounds = 0; rounds < 64 && ssh->channel_state == SSH_CHANNEL_OPEN && got > 0;
		rounds++)
		got = ssh_read(&ssh->head, scrap, sizeof(scrap));
	if (got == 0)
		ssh->channel_state = SSH_CHANNEL_CLOSING;
	if (got < 0 && got != -EAGAIN)
		return TRANSPORT_FAILED;
	return ssh->channel_state == SSH_CHANNEL_OPEN ? TRANSPORT_AGAIN : TRANSPORT_DONE;
}

enum transport_status ssh_finish(
	struct transport *transport, int *ret_status, const char **ret_errors, struct error *err)
{
	struct ssh_transport *ssh = ssh_of(transport);

	switch (drain(ssh)) {
	case TRANSPORT_AGAIN:
		return TRANSPORT_AGAIN;
	case TRANSPORT_FAILED:
		return fail(ssh, err, "the connection broke");
	case TRANSPORT_DONE:
		break;
	}
	if (close_channel(ssh) == TRANSPORT_AGAIN)
		return TRANSPORT_AGAIN;
	*ret_status = ssh->exit_status;
	*ret_errors = ssh->errors.text;
	return TRANSPORT_DONE;
}

/*
 * Drained as well: a server that is told to close while the window is full does not read on from
 * the command, which then never ends (seen with dropbear).
 */
enum transport_status ssh_abandon(struct transport *transport)
{
	struct ssh_transport *ssh = ssh_of(transport);
	enum transport_status status;

	if (ssh->channel_state == SSH_CHANNEL_NONE)
		return TRANSPORT_DONE;
	status = drain(ssh);
	if (status == TRANSPORT_AGAIN)
		return TRANSPORT_AGAIN;
	if (status == TRANSPORT_FAILED) /* which the next command will say */
		ssh->channel_state = SSH_CHANNEL_CLOSING;
	return close_channel(ssh);
}
