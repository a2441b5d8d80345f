/*
 * What the files of the ssh transport share: one struct, and a step function a file. Steps are
 * called again until they say DONE or FAILED; while libssh2 says EAGAIN the same call is repeated
 * with the same arguments before any other on that session, because a half-sent packet must be
 * finished.
 */
#ifndef SSH_H
#define SSH_H

#include <libssh2.h>

#include "child.h"
#include "known_hosts.h"
#include "resolve.h"
#include "ssh_keys.h"
#include "tail.h"
#include "transport.h"

#define SSH_OUTBOX_SIZE 32768

enum ssh_channel_state {
	SSH_CHANNEL_NONE,
	SSH_CHANNEL_OPENING,
	SSH_CHANNEL_EXEC,
	SSH_CHANNEL_OPEN,
	SSH_CHANNEL_CLOSING,
	SSH_CHANNEL_FREEING,
};

struct ssh_transport {
	struct transport head;
	const struct topology_host *host;
	size_t step; /* of connect */
	char activity[300];
	char user[64];
	char target[160];   /* "10.0.0.1 port 22", for messages */
	char key_name[300]; /* the name in known_hosts */
	char known_path[4096];

	struct resolve *resolve;
	const struct resolve_address *addresses;
	size_t address_count, address;
	int64_t attempt_deadline;
	char refusals[400]; /* what became of the addresses tried so far */

	int socket; /* -1 = none; with a proxy it is the child's */
	bool proxied;
	struct child proxy;
	struct tail proxy_errors;
	bool proxy_errors_ended;

	LIBSSH2_SESSION *session;
	struct known_hosts known;
	struct ssh_keys keys;
	size_t key; /* being tried */
	bool listed;
	char tried[400];

	LIBSSH2_CHANNEL *channel;
	enum ssh_channel_state channel_state;
	char *command;
	bool output_ended;
	/*
	 * libssh2 takes packets in while it sends, and window adjustments while it reads: what the
	 * one brought for the other no descriptor tells, so the timer does. A read that got
	 * something may have left more, too.
	 */
	bool unread, unread_errors, write_refused;
	bool read_pending; /* a read must be repeated before anything else is sent */
	char outbox[SSH_OUTBOX_SIZE];
	size_t outbox_length;
	struct tail errors;
	int exit_status;
};

/* ssh_connect.c */
enum transport_status ssh_reach(struct ssh_transport *ssh, struct error *err);
void ssh_drain_proxy(struct ssh_transport *ssh);

/* ssh_hostkey.c */
enum transport_status ssh_handshake(struct ssh_transport *ssh, struct error *err);
enum transport_status ssh_check_host_key(struct ssh_transport *ssh, struct error *err);

/* ssh_auth.c */
enum transport_status ssh_login(struct ssh_transport *ssh, struct error *err);

/* ssh_channel.c */
enum transport_status ssh_start(
	struct transport *transport, const char *command, struct error *err);
ssize_t ssh_read(struct transport *transport, void *buffer, size_t size);
ssize_t ssh_write(struct transport *transport, const void *data, size_t size);
enum transport_status ssh_close_input(struct transport *transport, struct error *err);
enum transport_status ssh_finish(
	struct transport *transport, int *ret_status, const char **ret_errors, struct error *err);
enum transport_status ssh_abandon(struct transport *transport);

/* Is there something to do though no descriptor will wake? */
bool ssh_channel_due(const struct ssh_transport *ssh);

struct ssh_transport *ssh_of(struct transport *transport);

/* The last error of libssh2, and what the proxy command said, as text. Returns buffer. */
const char *ssh_cause(struct ssh_transport *ssh, char *buffer, size_t size);

#endif
