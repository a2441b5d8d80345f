/*
 * Names to addresses in a child process (getent ahosts), because getaddrinfo() would block the loop
 * for as long as a name server takes.
 */
#ifndef RESOLVE_H
#define RESOLVE_H

#include <poll.h>
#include <sys/socket.h>

#include "transport.h"

#define RESOLVE_ADDRESSES_MAX 16

struct resolve_address {
	struct sockaddr_storage address; /* with the port */
	socklen_t length;
	char text[72]; /* numeric */
};

struct resolve;

/* name may be numeric already. host is for messages. */
struct resolve *resolve_create(const char *host, const char *name, int port, struct error *err);
void resolve_free(struct resolve *resolve); /* takes NULL */

/* DONE: ret_addresses (owned by resolve) holds at least one. */
enum transport_status resolve_step(struct resolve *resolve,
	const struct resolve_address **ret_addresses, size_t *ret_count, struct error *err);

size_t resolve_poll(const struct resolve *resolve, struct pollfd *fds);

#endif
