/* The keys to log in with: identity files and what an ssh-agent holds, in the order to try them. */
#ifndef SSH_KEYS_H
#define SSH_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* OpenSSH's MaxAuthTries is 6; one is kept for the person who logs in by hand beside us. */
#define SSH_KEYS_MAX 5

struct ssh_key {
	char label[300]; /* "~/.ssh/id_ed25519", "NAME from the agent" */
	char *file;      /* path; NULL when the agent holds it */
	unsigned char *blob;
	size_t blob_length; /* public key, of the agent's */
	bool rsa;
};

struct ssh_keys {
	struct ssh_key list[SSH_KEYS_MAX];
	size_t count;
	size_t left_out;    /* the agent's that did not fit */
	char unusable[300]; /* files that need a passphrase */
};

/*
 * With identity (a path, ~ allowed) only that key; else the default files and the agent's. Fails
 * when identity cannot be read.
 */
int ssh_keys_load(struct ssh_keys *keys, const char *identity, const char *host, struct error *err);
void ssh_keys_finish(struct ssh_keys *keys);

/* Replaces a leading ~ by the home folder; false when it does not fit. */
bool ssh_keys_expand(const char *path, char *buffer, size_t size);

#endif
