/*
 * How a host is reached: a transport brings up one connection and then runs one command after the
 * other on it, each a pair of byte streams. Nothing here ever blocks: every call does what it can
 * and says AGAIN; the caller polls on transport's descriptors and calls again.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "topology.h"

#define TRANSPORT_POLL_MAX 4

enum transport_status { TRANSPORT_AGAIN, TRANSPORT_DONE, TRANSPORT_FAILED };

struct transport; /* the common head of every transport's own struct */

struct transport_ops {
	const char *name;
	struct transport *(*create)(const struct topology *topology,
		const struct topology_host *host, struct error *err);
	void (*destroy)(struct transport *transport); /* takes NULL; ends children */

	/* Brings the connection up; DONE when commands can be started. Errors name host and step.
	 */
	enum transport_status (*connect)(struct transport *transport, struct error *err);

	/* Starts a command line for the host's shell. Only one command at a time. */
	enum transport_status (*start)(
		struct transport *transport, const char *command, struct error *err);

	/* As read(2)/write(2): bytes moved, 0 at the end (read), -EAGAIN, or another -errno. */
	ssize_t (*read)(struct transport *transport, void *buffer, size_t size);
	ssize_t (*write)(struct transport *transport, const void *data, size_t size);

	enum transport_status (*close_input)(struct transport *transport, struct error *err);

	/*
	 * Ends the command: DONE when its output is at the end and its exit status is known
	 * (128 + signal for a signal). ret_errors gets what it said on stderr, the last part of it.
	 */
	enum transport_status (*finish)(struct transport *transport, int *ret_status,
		const char **ret_errors, struct error *err);

	/*
	 * Ends the command without its output: DONE when the next one can be started. Nobody asks
	 * what became of it.
	 */
	enum transport_status (*abandon)(struct transport *transport);

	/* What to poll for now; returns how many entries were filled, at most TRANSPORT_POLL_MAX.
	 */
	size_t (*poll)(const struct transport *transport, struct pollfd *fds);

	/* When to call again though no descriptor woke (deadline.h); DEADLINE_NEVER when not. */
	int64_t (*timer)(const struct transport *transport);

	/* What connect is busy with, for the message when time is up: "connecting to ...". */
	const char *(*step)(const struct transport *transport);

	/*
	 * How long the connection may be silent before it counts as dead: short between trials,
	 * longer than the trial while the tested link may be the one that carries it.
	 */
	void (*patience)(struct transport *transport, int64_t milliseconds);
};

struct transport {
	const struct transport_ops *ops;
};

extern const struct transport_ops transport_exec;
extern const struct transport_ops transport_local;
extern const struct transport_ops transport_ssh;

/* The row for a host's transport, or NULL with ERROR_UNBUILT/ERROR_TOPOLOGY. */
const struct transport_ops *transport_find(
	const struct topology *topology, const struct topology_host *host, struct error *err);

#endif
