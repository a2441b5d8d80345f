#include "ssh_keys.h"

#include "ssh_agent.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const default_files[] = {
	"~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa"};
#define DEFAULT_COUNT (sizeof(default_files) / sizeof(default_files[0]))

bool ssh_keys_expand(const char *path, char *buffer, size_t size)
{
	const char *home = getenv("HOME");
	int length;

	if (strncmp(path, "~/", 2) != 0) {
		length = snprintf(buffer, size, "%s", path);
	} else {
		if (!home || !home[0]) {
			const struct passwd *account = getpwuid(getuid());

			home = account ? account->pw_dir : "";
		}
		length = snprintf(buffer, size, "%s%s", home, path + 1);
	}
	return length >= 0 && (size_t)length < size;
}

enum readable { FILE_ABSENT, FILE_ENCRYPTED, FILE_USABLE };

/* A passphrase is never asked for: libssh2 answers the same to a wrong and to a missing one. */
static enum readable look_at(const char *path, bool *ret_rsa)
{
	/* "openssh-key-v1", NUL, then the cipher's name "none", in base64. */
	static const char plain[] = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU";
	char text[4097], *header;
	FILE *file = fopen(path, "re");
	size_t length;

	*ret_rsa = false;
	if (!file)
		return FILE_ABSENT;
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	*ret_rsa = strstr(text, "BEGIN RSA PRIVATE KEY") != NULL;
	if (strstr(text, "ENCRYPTED"))
		return FILE_ENCRYPTED;
	header = strstr(text, "BEGIN OPENSSH PRIVATE KEY");
	if (header && !strstr(header, plain))
		return FILE_ENCRYPTED;
	return FILE_USABLE;
}

/* The public key in PATH.pub as base64, to find the same key in the agent. */
static bool read_public(const char *path, char *ret_base64, size_t size, bool *ret_rsa)
{
	char line[8192], type[64], name[4200];
	FILE *file;
	bool found;

	snprintf(name, sizeof(name), "%s.pub", path);
	file = fopen(name, "re");
	if (!file)
		return false;
	found = fgets(line, sizeof(line), file) && size >= sizeof(line) &&
		sscanf(line, "%63s %8191s", type, ret_base64) == 2;
	fclose(file);
	if (found)
		*ret_rsa = strcmp(type, "ssh-rsa") == 0;
	return found;
}

static size_t base64_decode(const char *text, unsigned char *data, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, held = 0;
	size_t used = 0;

	for (; *text && *text != '=' && used < size; text++) {
		const char *digit = strchr(digits, *text);

		if (!digit)
			return 0;
		bits = bits << 6 | (unsigned)(digit - digits);
		held += 6;
		if (held >= 8) {
			held -= 8;
			data[used++] = (unsigned char)(bits >> held);
		}
	}
	return used;
}

/* What of the agent is wanted: all that fits, or one key. */
struct wish {
	struct ssh_keys *keys;
	size_t most;
	const unsigned char *only;
	size_t only_length;
};

static int take_agent_key(const struct ssh_agent_key *key, void *context)
{
	struct wish *wish = context;
	struct ssh_key *next;

	if (wish->only && (key->blob_length != wish->only_length ||
				  memcmp(key->blob, wish->only, wish->only_length) != 0))
		return 0;
	if (wish->keys->count >= wish->most) {
		wish->keys->left_out++;
		return 0;
	}
	next = &wish->keys->list[wish->keys->count];
	next->blob = malloc(key->blob_length);
	if (!next->blob)
		return 1;
	memcpy(next->blob, key->blob, key->blob_length);
	next->blob_length = key->blob_length;
	next->rsa = key->blob_length > 11 && memcmp(key->blob + 4, "ssh-rsa", 7) == 0;
	snprintf(next->label, sizeof(next->label), "%s from the agent",
		key->comment[0] ? key->comment : "a key");
	wish->keys->count++;
	return wish->only ? 1 : 0;
}

static void add_file(struct ssh_keys *keys, const char *label, const char *path)
{
	struct ssh_key *next;
	char public[8192];
	bool rsa;
	enum readable readable = look_at(path, &rsa);

	if (readable == FILE_ENCRYPTED) {
		size_t used = strlen(keys->unusable);

		snprintf(keys->unusable + used, sizeof(keys->unusable) - used, "%s%s",
			used ? ", " : "", label);
	}
	if (readable != FILE_USABLE || keys->count == SSH_KEYS_MAX)
		return;
	read_public(path, public, sizeof(public), &rsa);
	next = &keys->list[keys->count];
	next->file = strdup(path);
	if (!next->file)
		return;
	next->rsa = rsa;
	snprintf(next->label, sizeof(next->label), "%s", label);
	keys->count++;
}

/* An encrypted file is no loss when the agent holds its key. */
static void add_named(struct ssh_keys *keys, const char *label, const char *path)
{
	char public[8192];
	unsigned char blob[8192];
	struct wish wish = {.keys = keys, .most = SSH_KEYS_MAX, .only = blob};
	bool rsa;

	if (read_public(path, public, sizeof(public), &rsa)) {
		wish.only_length = base64_decode(public, blob, sizeof(blob));
		ssh_agent_list(take_agent_key, &wish);
	}
	if (keys->count == 0)
		add_file(keys, label, path);
}

int ssh_keys_load(struct ssh_keys *keys, const char *identity, const char *host, struct error *err)
{
	char path[4096];
	size_t files = 0;
	struct wish wish = {.keys = keys};

	*keys = (struct ssh_keys){0};
	if (identity) {
		if (!ssh_keys_expand(identity, path, sizeof(path)) || access(path, R_OK) < 0)
			return error_set(err, ERROR_HOST, host,
				"login: cannot read the identity %s: %s", identity,
				strerror(errno));
		add_named(keys, identity, path);
		return 0;
	}
	for (size_t i = 0; i < DEFAULT_COUNT; i++)
		if (ssh_keys_expand(default_files[i], path, sizeof(path)) &&
			access(path, R_OK) == 0)
			files++;
	wish.most = SSH_KEYS_MAX - files;
	ssh_agent_list(take_agent_key, &wish);
	for (size_t i = 0; i < DEFAULT_COUNT; i++)
		if (ssh_keys_expand(default_files[i], path, sizeof(path)))
			add_file(keys, default_files[i], path);
	return 0;
}

void ssh_keys_finish(struct ssh_keys *keys)
{
	for (size_t i = 0; i < keys->count; i++) {
		free(keys->list[i].file);
		free(keys->list[i].blob);
	}
	*keys = (struct ssh_keys){0};
}
