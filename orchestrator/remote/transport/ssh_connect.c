/* From a name to a connected descriptor: TCP to each address in turn, or a proxy command. */
#include "ssh.h"

#include "deadline.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ATTEMPT_MS 3000 /* for an address when there are further ones */

static enum transport_status fail(struct ssh_transport *ssh, struct error *err, const char *what)
{
	error_set(err, ERROR_HOST, ssh->host->name, "%s", what);
	return TRANSPORT_FAILED;
}

static enum transport_status start_proxy(struct ssh_transport *ssh, struct error *err)
{
	const char *argv[] = {"sh", "-c", ssh->host->ssh.proxy_command, NULL};
	int result = child_start(argv, CHILD_SOCKETPAIR, &ssh->proxy);

	if (result < 0) {
		error_set(err, ERROR_HOST, ssh->host->name, "connect: proxy_command: %s",
			strerror(-result));
		return TRANSPORT_FAILED;
	}
	ssh->proxied = true;
	ssh->socket = ssh->proxy.input;
	return TRANSPORT_DONE;
}

void ssh_drain_proxy(struct ssh_transport *ssh)
{
	if (ssh->proxied && !ssh->proxy_errors_ended)
		ssh->proxy_errors_ended =
			tail_read(&ssh->proxy_errors, ssh->proxy.errors) != -EAGAIN;
}

/*
 * A dead peer is noticed by TCP alone: libssh2's own keepalive never looks for answers. These
 * notice it within 5 s (seen); the patience of a busy session stretches the user timeout.
 */
static void tune(int descriptor)
{
	static const struct {
		int level, option, value;
	} options[] = {
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 2},
		{IPPROTO_TCP, TCP_KEEPINTVL, 1},
		{IPPROTO_TCP, TCP_KEEPCNT, 3},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, 4000},
		{IPPROTO_TCP, TCP_NODELAY, 1},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		setsockopt(descriptor, options[i].level, options[i].option, &options[i].value,
			sizeof(options[i].value));
}

static void refuse(struct ssh_transport *ssh, int error)
{
	size_t used = strlen(ssh->refusals);

	snprintf(ssh->refusals + used, sizeof(ssh->refusals) - used, "%s%s: %s", used ? ", " : "",
		ssh->addresses[ssh->address].text, strerror(error));
	if (ssh->socket >= 0)
		close(ssh->socket);
	ssh->socket = -1;
	ssh->address++;
}

static enum transport_status all_refused(struct ssh_transport *ssh, struct error *err)
{
	bool up = strstr(ssh->refusals, strerror(ECONNREFUSED)) != NULL;

	error_set(err, ERROR_HOST, ssh->host->name, "connect to %s failed (%s);\n%s", ssh->target,
		ssh->refusals,
		up ? "is sshd running there, on this port?"
		   : "is it up, and does the route to it work?");
	return TRANSPORT_FAILED;
}

/* Begins with the next address that takes a connect. Its end is poll's to tell. */
static enum transport_status dial_next(struct ssh_transport *ssh, struct error *err)
{
	while (ssh->address < ssh->address_count) {
		const struct resolve_address *to = &ssh->addresses[ssh->address];

		ssh->socket = socket(
			to->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (ssh->socket >= 0) {
			tune(ssh->socket);
			snprintf(ssh->activity, sizeof(ssh->activity), "connecting to %s port %d",
				to->text, ssh->host->ssh.port);
			ssh->attempt_deadline = ssh->address + 1 < ssh->address_count
							? deadline_now() + ATTEMPT_MS
							: DEADLINE_NEVER;
			if (connect(ssh->socket, (const struct sockaddr *)&to->address,
				    to->length) == 0 ||
				errno == EINPROGRESS)
				return TRANSPORT_DONE;
		}
		refuse(ssh, errno);
	}
	return all_refused(ssh, err);
}

static enum transport_status dial(struct ssh_transport *ssh, struct error *err)
{
	struct pollfd entry;
	socklen_t size = sizeof(int);
	int error = 0;

	for (;;) {
		if (ssh->socket < 0 && dial_next(ssh, err) != TRANSPORT_DONE)
			return TRANSPORT_FAILED;
		entry = (struct pollfd){ssh->socket, POLLOUT, 0};
		if (poll(&entry, 1, 0) > 0) {
			getsockopt(ssh->socket, SOL_SOCKET, SO_ERROR, &error, &size);
			if (!error)
				return TRANSPORT_DONE;
			refuse(ssh, error);
		} else if (deadline_now() >= ssh->attempt_deadline) {
			refuse(ssh, ETIMEDOUT);
		} else {
			return TRANSPORT_AGAIN;
		}
	}
}

enum transport_status ssh_reach(struct ssh_transport *ssh, struct error *err)
{
	enum transport_status status;

	if (ssh->host->ssh.proxy_command)
		return start_proxy(ssh, err);
	if (!ssh->host->ssh.host)
		return fail(ssh, err, "connect: no host name is given");
	if (!ssh->resolve) {
		snprintf(ssh->activity, sizeof(ssh->activity), "looking up \"%.100s\"",
			ssh->host->ssh.host);
		ssh->resolve = resolve_create(
			ssh->host->name, ssh->host->ssh.host, ssh->host->ssh.port, err);
		if (!ssh->resolve)
			return TRANSPORT_FAILED;
	}
	if (!ssh->addresses) {
		status = resolve_step(ssh->resolve, &ssh->addresses, &ssh->address_count, err);
		if (status != TRANSPORT_DONE)
			return status;
	}
	return dial(ssh, err);
}
