#include "resolve.h"

#include "child.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct resolve {
	const char *host, *name;
	int port;
	struct child child;
	bool running;
	char output[8192];
	size_t length;
	struct resolve_address addresses[RESOLVE_ADDRESSES_MAX];
	size_t count;
};

/* Numeric text only, so that nothing is looked up. */
static void add_numeric(struct resolve *resolve, const char *text)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	struct resolve_address *next = &resolve->addresses[resolve->count];
	char port[16];

	if (resolve->count == RESOLVE_ADDRESSES_MAX)
		return;
	snprintf(port, sizeof(port), "%d", resolve->port);
	if (getaddrinfo(text, port, &hints, &found) != 0)
		return;
	memcpy(&next->address, found->ai_addr, found->ai_addrlen);
	next->length = found->ai_addrlen;
	snprintf(next->text, sizeof(next->text), "%s", text);
	resolve->count++;
	freeaddrinfo(found);
}

struct resolve *resolve_create(const char *host, const char *name, int port, struct error *err)
{
	const char *argv[] = {"getent", "ahosts", name, NULL};
	struct resolve *resolve = calloc(1, sizeof(*resolve));
	int result;

	if (!resolve) {
		error_set(err, ERROR_SYSTEM, host, "out of memory");
		return NULL;
	}
	resolve->host = host;
	resolve->name = name;
	resolve->port = port;
	add_numeric(resolve, name);
	if (resolve->count)
		return resolve;
	result = name[0] == '-' ? -EINVAL : child_start(argv, CHILD_PIPES, &resolve->child);
	if (result < 0) {
		error_set(err, ERROR_HOST, host, "cannot look up \"%s\": getent: %s", name,
			strerror(-result));
		free(resolve);
		return NULL;
	}
	resolve->running = true;
	return resolve;
}

void resolve_free(struct resolve *resolve)
{
	if (!resolve)
		return;
	if (resolve->running)
		child_finish(&resolve->child);
	free(resolve);
}

/* Lines are "ADDRESS  STREAM|DGRAM|RAW [NAME]"; each address comes once a socket type. */
static void take_output(struct resolve *resolve)
{
	char *rest = NULL;
	char address[72], type[16];

	resolve->output[resolve->length] = '\0';
	for (char *line = strtok_r(resolve->output, "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest)) {
		if (sscanf(line, "%71s %15s", address, type) == 2 && strcmp(type, "STREAM") == 0)
			add_numeric(resolve, address);
	}
}

enum transport_status resolve_step(struct resolve *resolve,
	const struct resolve_address **ret_addresses, size_t *ret_count, struct error *err)
{
	ssize_t got = 0;

	while (resolve->running) {
		size_t room = sizeof(resolve->output) - 1 - resolve->length;

		got = room ? read(resolve->child.output, resolve->output + resolve->length, room)
			   : 0;
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return TRANSPORT_AGAIN;
		if (got > 0) {
			resolve->length += (size_t)got;
			continue;
		}
		child_finish(&resolve->child);
		resolve->running = false;
		take_output(resolve);
	}
	if (!resolve->count) {
		error_set(err, ERROR_HOST, resolve->host,
			"the name \"%s\" has no address;\n"
			"check its spelling, /etc/hosts and the name server",
			resolve->name);
		return TRANSPORT_FAILED;
	}
	*ret_addresses = resolve->addresses;
	*ret_count = resolve->count;
	return TRANSPORT_DONE;
}

size_t resolve_poll(const struct resolve *resolve, struct pollfd *fds)
{
	if (!resolve->running)
		return 0;
	fds[0] = (struct pollfd){resolve->child.output, POLLIN, 0};
	return 1;
}
