/* Hosts reached by SSH (libssh2): the row of the table, its life and what it polls for. */
#include "ssh.h"

#include "deadline.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLOSE_TRIES 16 /* libssh2 says EAGAIN a few times even on a socket that is shut down */

static enum transport_status (*const steps[])(struct ssh_transport *ssh, struct error *err) = {
	ssh_reach, ssh_handshake, ssh_check_host_key, ssh_login};
#define STEP_COUNT (sizeof(steps) / sizeof(steps[0]))

struct ssh_transport *ssh_of(struct transport *transport)
{
	return (struct ssh_transport *)(void *)transport;
}

static const struct ssh_transport *const_of(const struct transport *transport)
{
	return (const struct ssh_transport *)(const void *)transport;
}

const char *ssh_cause(struct ssh_transport *ssh, char *buffer, size_t size)
{
	char *text = NULL;
	char line[300] = "";

	ssh_drain_proxy(ssh);
	tail_last_line(ssh->proxy_errors.text, line, sizeof(line));
	if (ssh->session)
		libssh2_session_last_error(ssh->session, &text, NULL, 0);
	snprintf(buffer, size, "%s%s%s", text && text[0] ? text : "no reason given",
		line[0] ? "; proxy_command says: " : "", line);
	return buffer;
}

static void name_target(struct ssh_transport *ssh)
{
	const struct topology_ssh *settings = &ssh->host->ssh;
	const char *user = settings->user ? settings->user : getenv("USER");
	const char *name = settings->host ? settings->host : ssh->host->name;

	if (!user || !user[0]) {
		const struct passwd *account = getpwuid(getuid());

		user = account ? account->pw_name : "root";
	}
	snprintf(ssh->user, sizeof(ssh->user), "%s", user);
	snprintf(ssh->target, sizeof(ssh->target), "%.100s port %d", name, settings->port);
	if (settings->port == 22)
		snprintf(ssh->key_name, sizeof(ssh->key_name), "%s", name);
	else
		snprintf(ssh->key_name, sizeof(ssh->key_name), "[%s]:%d", name, settings->port);
}

static struct transport *create(
	const struct topology *topology, const struct topology_host *host, struct error *err)
{
	struct ssh_transport *ssh = calloc(1, sizeof(*ssh));

	(void)topology;
	if (!ssh || libssh2_init(0) != 0) {
		error_set(err, ERROR_SYSTEM, host->name, "out of memory");
		free(ssh);
		return NULL;
	}
	ssh->head.ops = &transport_ssh;
	ssh->host = host;
	ssh->socket = -1;
	ssh->attempt_deadline = DEADLINE_NEVER;
	strcpy(ssh->activity, "connecting");
	name_target(ssh);
	return &ssh->head;
}

/* The socket is shut first: then libssh2 frees what it holds without waiting for anybody. */
static void end_session(struct ssh_transport *ssh)
{
	if (!ssh->session)
		return;
	libssh2_session_disconnect(ssh->session, "bye");
	shutdown(ssh->socket, SHUT_RDWR);
	for (int tries = 0; tries < CLOSE_TRIES; tries++)
		if (libssh2_session_free(ssh->session) != LIBSSH2_ERROR_EAGAIN)
			break;
	ssh->session = NULL;
}

static void destroy(struct transport *transport)
{
	struct ssh_transport *ssh;

	if (!transport)
		return;
	ssh = ssh_of(transport);
	end_session(ssh);
	if (ssh->proxied)
		child_finish(&ssh->proxy);
	else if (ssh->socket >= 0)
		close(ssh->socket);
	resolve_free(ssh->resolve);
	known_hosts_finish(&ssh->known);
	ssh_keys_finish(&ssh->keys);
	free(ssh->command);
	free(ssh);
	libssh2_exit();
}

static enum transport_status connect_step(struct transport *transport, struct error *err)
{
	struct ssh_transport *ssh = ssh_of(transport);

	ssh_drain_proxy(ssh);
	while (ssh->step < STEP_COUNT) {
		enum transport_status status = steps[ssh->step](ssh, err);

		if (status != TRANSPORT_DONE)
			return status;
		ssh->step++;
	}
	return TRANSPORT_DONE;
}

static size_t poll_for(const struct transport *transport, struct pollfd *fds)
{
	const struct ssh_transport *ssh = const_of(transport);
	short events = POLLIN;
	size_t count = 0;

	if (ssh->resolve && !ssh->addresses)
		return resolve_poll(ssh->resolve, fds);
	if (!ssh->session)
		events = POLLOUT; /* a connect in progress */
	else if (libssh2_session_block_directions(ssh->session) & LIBSSH2_SESSION_BLOCK_OUTBOUND)
		events |= POLLOUT;
	if (ssh->socket >= 0)
		fds[count++] = (struct pollfd){ssh->socket, events, 0};
	if (ssh->proxied && !ssh->proxy_errors_ended)
		fds[count++] = (struct pollfd){ssh->proxy.errors, POLLIN, 0};
	return count;
}

static int64_t timer(const struct transport *transport)
{
	const struct ssh_transport *ssh = const_of(transport);

	if (!ssh->session)
		return ssh->attempt_deadline;
	return ssh_channel_due(ssh) ? 0 : DEADLINE_NEVER;
}

static const char *step(const struct transport *transport)
{
	return const_of(transport)->activity;
}

static void patience(struct transport *transport, int64_t milliseconds)
{
	struct ssh_transport *ssh = ssh_of(transport);
	int value = (int)milliseconds;

	if (!ssh->proxied && ssh->socket >= 0)
		setsockopt(ssh->socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, sizeof(value));
}

const struct transport_ops transport_ssh = {
	.name = "ssh",
	.create = create,
	.destroy = destroy,
	.connect = connect_step,
	.start = ssh_start,
	.read = ssh_read,
	.write = ssh_write,
	.close_input = ssh_close_input,
	.finish = ssh_finish,
	.abandon = ssh_abandon,
	.poll = poll_for,
	.timer = timer,
	.step = step,
	.patience = patience,
};
