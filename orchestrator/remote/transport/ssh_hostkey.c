/* The handshake, and whether the host is the one that it should be. */
#include "ssh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum transport_status prepare(struct ssh_transport *ssh, struct error *err)
{
	const char *path = ssh->host->ssh.known_hosts;
	char preference[300];

	ssh->session = libssh2_session_init_ex(NULL, NULL, NULL, ssh);
	if (!ssh->session) {
		error_set(err, ERROR_SYSTEM, ssh->host->name, "out of memory");
		return TRANSPORT_FAILED;
	}
	libssh2_session_set_blocking(ssh->session, 0);
	if (!ssh_keys_expand(
		    path ? path : "~/.ssh/known_hosts", ssh->known_path, sizeof(ssh->known_path))) {
		error_set(err, ERROR_HOST, ssh->host->name, "host key: the path is too long");
		return TRANSPORT_FAILED;
	}
	if (ssh->host->ssh.host_keys != TOPOLOGY_OFF &&
		known_hosts_load(&ssh->known, ssh->session, ssh->known_path, ssh->key_name,
			ssh->host->name, err) < 0)
		return TRANSPORT_FAILED;
	/* The default order asks for ecdsa first: a file that holds only ed25519 would not match.
	 */
	libssh2_session_method_pref(ssh->session, LIBSSH2_METHOD_HOSTKEY,
		known_hosts_preference(&ssh->known, preference, sizeof(preference)));
	snprintf(
		ssh->activity, sizeof(ssh->activity), "shaking hands with sshd of %s", ssh->target);
	return TRANSPORT_DONE;
}

enum transport_status ssh_handshake(struct ssh_transport *ssh, struct error *err)
{
	char cause[600];
	int result;

	if (!ssh->session && prepare(ssh, err) != TRANSPORT_DONE)
		return TRANSPORT_FAILED;
	result = libssh2_session_handshake(ssh->session, ssh->socket);
	if (result == LIBSSH2_ERROR_EAGAIN)
		return TRANSPORT_AGAIN;
	if (result == 0)
		return TRANSPORT_DONE;
	ssh_cause(ssh, cause, sizeof(cause));
	error_set(err, ERROR_HOST, ssh->host->name, "handshake with %s failed: %s%s", ssh->target,
		cause,
		result == LIBSSH2_ERROR_KEX_FAILURE || result == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE
			? ";\nlibssh2 and this server share no algorithm; give the server an "
			  "ed25519 host key"
			: "");
	return TRANSPORT_FAILED;
}

static char *base64(const unsigned char *data, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((size + 2) / 3 * 4 + 1), *at = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i += 3) {
		unsigned bits = (unsigned)data[i] << 16;

		bits |= i + 1 < size ? (unsigned)data[i + 1] << 8 : 0;
		bits |= i + 2 < size ? data[i + 2] : 0;
		*at++ = digits[bits >> 18];
		*at++ = digits[bits >> 12 & 63];
		*at++ = i + 1 < size ? digits[bits >> 6 & 63] : '=';
		*at++ = i + 2 < size ? digits[bits & 63] : '=';
	}
	*at = '\0';
	return text;
}

/* As ssh-keygen -l prints it. */
static void fingerprint(struct ssh_transport *ssh, char *buffer, size_t size)
{
	const char *hash = libssh2_hostkey_hash(ssh->session, LIBSSH2_HOSTKEY_HASH_SHA256);
	char *text = hash ? base64((const unsigned char *)hash, 32) : NULL;

	snprintf(
		buffer, size, "SHA256:%.*s", text ? (int)strcspn(text, "=") : 1, text ? text : "?");
	free(text);
}

/* A key's blob begins with its type, as a counted string. */
static void type_of(const unsigned char *blob, size_t size, char *buffer, size_t buffer_size)
{
	size_t length = size > 4 ? (size_t)blob[2] << 8 | blob[3] : 0;

	if (length + 4 > size)
		length = 0;
	snprintf(buffer, buffer_size, "%.*s", (int)length, (const char *)blob + 4);
}

static enum transport_status judge(struct ssh_transport *ssh, const char *type, const char *key,
	const char *print, struct error *err)
{
	const char *host = ssh->host->name;
	bool accept = ssh->host->ssh.host_keys == TOPOLOGY_ACCEPT_NEW;

	switch (known_hosts_check(&ssh->known, type, key)) {
	case KNOWN_MATCH:
		return TRANSPORT_DONE;
	case KNOWN_REVOKED:
		error_set(err, ERROR_HOST, host, "host key of %s is revoked in %s (%s %s)",
			ssh->target, ssh->known_path, type, print);
		return TRANSPORT_FAILED;
	case KNOWN_MISMATCH:
		error_set(err, ERROR_HOST, host,
			"host key of %s is not the one in %s:\n"
			"it shows %s %s. Another machine, a reinstalled one, or an attack; if it "
			"is "
			"the right one: ssh-keygen -R '%s' -f %s",
			ssh->target, ssh->known_path, type, print, ssh->key_name, ssh->known_path);
		return TRANSPORT_FAILED;
	case KNOWN_OTHER_TYPE:
		error_set(err, ERROR_HOST, host,
			"host key of %s: it shows %s %s, and %s\n"
			"knows only keys of other types; check it and add it there",
			ssh->target, type, print, ssh->known_path);
		return TRANSPORT_FAILED;
	case KNOWN_UNKNOWN:
		break;
	}
	if (accept)
		return known_hosts_append(ssh->known_path, ssh->key_name, type, key, host, err) < 0
			       ? TRANSPORT_FAILED
			       : TRANSPORT_DONE;
	error_set(err, ERROR_HOST, host,
		"host key of %s is unknown (%s %s);\n"
		"log in once by ssh to check it, or set \"host_keys: accept-new\" (file: %s)",
		ssh->target, type, print, ssh->known_path);
	return TRANSPORT_FAILED;
}

enum transport_status ssh_check_host_key(struct ssh_transport *ssh, struct error *err)
{
	enum transport_status status;
	char type[64], print[64];
	size_t size;
	int kind;
	const char *blob = libssh2_session_hostkey(ssh->session, &size, &kind);
	char *key;

	if (ssh->host->ssh.host_keys == TOPOLOGY_OFF)
		return TRANSPORT_DONE;
	key = blob ? base64((const unsigned char *)blob, size) : NULL;
	if (!key) {
		error_set(err, ERROR_HOST, ssh->host->name, "host key of %s: none was shown",
			ssh->target);
		return TRANSPORT_FAILED;
	}
	type_of((const unsigned char *)blob, size, type, sizeof(type));
	fingerprint(ssh, print, sizeof(print));
	status = judge(ssh, type, key, print, err);
	free(key);
	return status;
}
