/* Login by public key: each key once, never again after a refusal. */
#include "ssh.h"

#include "ssh_agent.h"

#include <stdio.h>
#include <string.h>

static enum transport_status refused(struct ssh_transport *ssh, const char *why, struct error *err)
{
	bool rsa = false;
	char left_out[80] = "";

	for (size_t i = 0; i < ssh->key && i < ssh->keys.count; i++)
		rsa = rsa || ssh->keys.list[i].rsa;
	if (ssh->keys.left_out)
		snprintf(left_out, sizeof(left_out), "; %zu more of the agent's were not tried",
			ssh->keys.left_out);
	error_set(err, ERROR_HOST, ssh->host->name,
		"login as %s at %s refused: %s (tried %s%s%s%s);\n"
		"add the public key to the host's authorized_keys or name one with \"identity:\"%s",
		ssh->user, ssh->target, why, ssh->tried[0] ? ssh->tried : "none",
		ssh->keys.unusable[0] ? "; needs a passphrase, so load it into ssh-agent: " : "",
		ssh->keys.unusable, left_out,
		rsa ? ";\nlibssh2's RSA signatures are refused by OpenSSH 8.8 and later: "
		      "use an ed25519 key"
		    : "");
	return TRANSPORT_FAILED;
}

/* The server's list of methods; asking for it is a login without credentials, which may succeed. */
static enum transport_status list_methods(struct ssh_transport *ssh, struct error *err)
{
	const char *methods =
		libssh2_userauth_list(ssh->session, ssh->user, (unsigned int)strlen(ssh->user));
	char cause[600], why[100];

	if (!methods) {
		if (libssh2_userauth_authenticated(ssh->session))
			return TRANSPORT_DONE;
		if (libssh2_session_last_errno(ssh->session) == LIBSSH2_ERROR_EAGAIN)
			return TRANSPORT_AGAIN;
		error_set(err, ERROR_HOST, ssh->host->name, "login as %s at %s failed: %s",
			ssh->user, ssh->target, ssh_cause(ssh, cause, sizeof(cause)));
		return TRANSPORT_FAILED;
	}
	if (!strstr(methods, "publickey")) {
		snprintf(why, sizeof(why), "it takes no keys, only %.60s",
			methods[0] ? methods : "nothing at all");
		return refused(ssh, why, err);
	}
	ssh->listed = true;
	return ssh_keys_load(&ssh->keys, ssh->host->ssh.identity, ssh->host->name, err) < 0
		       ? TRANSPORT_FAILED
		       : TRANSPORT_DONE;
}

static int sign_by_agent(LIBSSH2_SESSION *session, unsigned char **signature, size_t *length,
	const unsigned char *data, size_t data_length, void **abstract)
{
	const struct ssh_key *key = *abstract;

	(void)session;
	return ssh_agent_sign(key->blob, key->blob_length, data, data_length, signature, length);
}

static int try_key(struct ssh_transport *ssh, struct ssh_key *key)
{
	void *context = key;

	if (key->file)
		return libssh2_userauth_publickey_fromfile_ex(ssh->session, ssh->user,
			(unsigned int)strlen(ssh->user), NULL, key->file, NULL);
	return libssh2_userauth_publickey(
		ssh->session, ssh->user, key->blob, key->blob_length, sign_by_agent, &context);
}

static bool connection_gone(int result)
{
	return result == LIBSSH2_ERROR_SOCKET_SEND || result == LIBSSH2_ERROR_SOCKET_RECV ||
	       result == LIBSSH2_ERROR_SOCKET_DISCONNECT;
}

static void note_tried(struct ssh_transport *ssh, const char *label)
{
	size_t used = strlen(ssh->tried);

	snprintf(ssh->tried + used, sizeof(ssh->tried) - used, "%s%s", used ? ", " : "", label);
}

enum transport_status ssh_login(struct ssh_transport *ssh, struct error *err)
{
	enum transport_status status;
	int result;

	snprintf(ssh->activity, sizeof(ssh->activity), "logging in as %s at %s", ssh->user,
		ssh->target);
	if (!ssh->listed) {
		status = list_methods(ssh, err);
		if (status != TRANSPORT_DONE || libssh2_userauth_authenticated(ssh->session))
			return status;
	}
	while (ssh->key < ssh->keys.count) {
		struct ssh_key *key = &ssh->keys.list[ssh->key];

		result = try_key(ssh, key);
		if (result == LIBSSH2_ERROR_EAGAIN)
			return TRANSPORT_AGAIN;
		if (result == 0)
			return TRANSPORT_DONE;
		note_tried(ssh, key->label);
		ssh->key++;
		if (connection_gone(result))
			return refused(ssh, "the server closed the connection", err);
	}
	return refused(ssh, "no usable key", err);
}
