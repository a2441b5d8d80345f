/*
 * A client of ssh-agent whose calls end: libssh2's own would wait for ever for an agent that does
 * not answer. One request at a time, at most SSH_AGENT_MS each.
 */
#ifndef SSH_AGENT_H
#define SSH_AGENT_H

#include <stddef.h>

#define SSH_AGENT_MS     2000
#define SSH_AGENT_ANSWER 65536

struct ssh_agent_key {
	const unsigned char *blob;
	size_t blob_length;
	char comment[128];
};

/*
 * Asks the agent at $SSH_AUTH_SOCK for its keys; calls take for each that libssh2 can use until it
 * returns nonzero. Returns 0 also without an agent; -1 when it does not answer.
 */
int ssh_agent_list(int (*take)(const struct ssh_agent_key *key, void *context), void *context);

/* Signs data; *ret_signature is malloc'd, without its type's name. -1 when refused or late. */
int ssh_agent_sign(const unsigned char *blob, size_t blob_length, const unsigned char *data,
	size_t data_length, unsigned char **ret_signature, size_t *ret_length);

#endif
