/*
 * What a known_hosts file says of one host. libssh2's own reader lacks wildcards and @revoked,
 * stops at a bad line and stumbles over CRLF, so lines are split here; libssh2 compares hashed
 * names.
 */
#ifndef KNOWN_HOSTS_H
#define KNOWN_HOSTS_H

#include <libssh2.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct known_key {
	char type[64]; /* ssh-ed25519 */
	char *key;     /* base64 */
	bool revoked;
};

struct known_hosts {
	struct known_key *keys;
	size_t count;
};

enum known_verdict {
	KNOWN_MATCH,
	KNOWN_UNKNOWN,    /* the file does not name the host */
	KNOWN_OTHER_TYPE, /* it does, with keys of other types */
	KNOWN_MISMATCH,
	KNOWN_REVOKED,
};

/* name is `host`, or `[host]:port` for a port other than 22. A missing file is an empty one. */
int known_hosts_load(struct known_hosts *known, LIBSSH2_SESSION *session, const char *path,
	const char *name, const char *host, struct error *err);
void known_hosts_finish(struct known_hosts *known);

/* What the file says to this key (base64). */
enum known_verdict known_hosts_check(
	const struct known_hosts *known, const char *type, const char *key);

/*
 * The order in which to ask the server for its keys: what is known comes first, or the server might
 * show a key of another type. Returns buffer.
 */
const char *known_hosts_preference(const struct known_hosts *known, char *buffer, size_t size);

/* Appends a line; makes the file (0600) and its folder (0700) when missing. */
int known_hosts_append(const char *path, const char *name, const char *type, const char *key,
	const char *host, struct error *err);

#endif
