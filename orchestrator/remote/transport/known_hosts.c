#include "known_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEYS_MAX 64

/* What libssh2 1.10 can check, best first. */
static const char *const types[] = {
	"ssh-ed25519",
	"ecdsa-sha2-nistp256",
	"ecdsa-sha2-nistp384",
	"ecdsa-sha2-nistp521",
	"ssh-rsa",
};
#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

/* known_hosts patterns have * and ? only; fnmatch would read "[host]:22" as a set of letters. */
static bool pattern_matches(const char *pattern, size_t length, const char *name)
{
	char escaped[600];
	size_t used = 0;

	for (size_t i = 0; i < length && used + 3 < sizeof(escaped); i++) {
		if (strchr("[]\\", pattern[i]))
			escaped[used++] = '\\';
		escaped[used++] = pattern[i];
	}
	escaped[used] = '\0';
	return fnmatch(escaped, name, FNM_CASEFOLD) == 0;
}

static bool list_matches(const char *list, const char *name)
{
	bool found = false;

	while (*list) {
		size_t length = strcspn(list, ",");
		bool negated = list[0] == '!';

		if (pattern_matches(list + negated, length - negated, name)) {
			if (negated)
				return false;
			found = true;
		}
		list += length + (list[length] == ',');
	}
	return found;
}

/* "|1|SALT|HASH": libssh2 1.10 leaks a digest context when HASH is not the 20 bytes of SHA-1. */
static bool hash_is_whole(const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *hash = strncmp(text, "|1|", 3) == 0 ? strchr(text + 3, '|') : NULL;

	return hash && strspn(hash + 1, digits) == 27 && strcmp(hash + 28, "=") == 0;
}

/* A key that no host has: a line of this name answers MISMATCH, any other NOTFOUND. */
static bool hash_matches(LIBSSH2_SESSION *session, const char *hash, const char *name)
{
	static const char nobody[] = "nobody's key";
	LIBSSH2_KNOWNHOSTS *one = libssh2_knownhost_init(session);
	char line[400];
	int length = snprintf(line, sizeof(line),
		"%s ssh-ed25519 "
		"AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		hash);
	bool found = false;

	if (!one)
		return false;
	if (hash_is_whole(hash) && length > 0 && (size_t)length < sizeof(line) &&
		libssh2_knownhost_readline(
			one, line, (size_t)length, LIBSSH2_KNOWNHOST_FILE_OPENSSH) == 0)
		found = libssh2_knownhost_check(one, name, nobody, sizeof(nobody) - 1,
				LIBSSH2_KNOWNHOST_TYPE_PLAIN | LIBSSH2_KNOWNHOST_KEYENC_RAW,
				NULL) == LIBSSH2_KNOWNHOST_CHECK_MISMATCH;
	libssh2_knownhost_free(one);
	return found;
}

static int add(struct known_hosts *known, const char *type, const char *key, bool revoked)
{
	struct known_key *grown;

	if (known->count == KEYS_MAX)
		return 0;
	grown = realloc(known->keys, (known->count + 1) * sizeof(*grown));
	if (!grown)
		return -1;
	known->keys = grown;
	grown += known->count;
	snprintf(grown->type, sizeof(grown->type), "%s", type);
	grown->key = strdup(key);
	grown->revoked = revoked;
	if (!grown->key)
		return -1;
	known->count++;
	return 0;
}

/* [@MARKER] NAMES TYPE KEY [COMMENT]; what is not understood says nothing of this host. */
static int take_line(
	struct known_hosts *known, LIBSSH2_SESSION *session, char *line, const char *name)
{
	char *rest = NULL;
	char *names = strtok_r(line, " \t\r\n", &rest);
	bool revoked = false;
	const char *type, *key;

	if (!names || names[0] == '#')
		return 0;
	if (names[0] == '@') {
		revoked = strcmp(names, "@revoked") == 0;
		if (!revoked)
			return 0;
		names = strtok_r(NULL, " \t\r\n", &rest);
	}
	type = strtok_r(NULL, " \t\r\n", &rest);
	key = strtok_r(NULL, " \t\r\n", &rest);
	if (!names || !type || !key)
		return 0;
	if (names[0] == '|' ? !hash_matches(session, names, name) : !list_matches(names, name))
		return 0;
	return add(known, type, key, revoked);
}

int known_hosts_load(struct known_hosts *known, LIBSSH2_SESSION *session, const char *path,
	const char *name, const char *host, struct error *err)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int result = 0;

	*known = (struct known_hosts){0};
	if (!file && errno == ENOENT)
		return 0;
	if (!file)
		return error_set(err, ERROR_HOST, host, "host key: cannot read %s: %s", path,
			strerror(errno));
	while (result == 0 && getline(&line, &size, file) > 0)
		result = take_line(known, session, line, name);
	free(line);
	fclose(file);
	if (result < 0) {
		known_hosts_finish(known);
		return error_set(err, ERROR_SYSTEM, host, "out of memory");
	}
	return 0;
}

void known_hosts_finish(struct known_hosts *known)
{
	for (size_t i = 0; i < known->count; i++)
		free(known->keys[i].key);
	free(known->keys);
	*known = (struct known_hosts){0};
}

enum known_verdict known_hosts_check(
	const struct known_hosts *known, const char *type, const char *key)
{
	enum known_verdict verdict = KNOWN_UNKNOWN;

	for (size_t i = 0; i < known->count; i++) {
		const struct known_key *entry = &known->keys[i];
		bool same = strcmp(entry->key, key) == 0;

		if (entry->revoked) {
			if (same)
				return KNOWN_REVOKED;
			continue;
		}
		if (same)
			verdict = KNOWN_MATCH;
		else if (verdict != KNOWN_MATCH && strcmp(entry->type, type) == 0)
			verdict = KNOWN_MISMATCH;
		else if (verdict == KNOWN_UNKNOWN)
			verdict = KNOWN_OTHER_TYPE;
	}
	return verdict;
}

static bool knows_type(const struct known_hosts *known, const char *type)
{
	for (size_t i = 0; i < known->count; i++)
		if (!known->keys[i].revoked && strcmp(known->keys[i].type, type) == 0)
			return true;
	return false;
}

const char *known_hosts_preference(const struct known_hosts *known, char *buffer, size_t size)
{
	size_t length = 0;

	buffer[0] = '\0';
	for (int known_ones = 1; known_ones >= 0; known_ones--) {
		for (size_t i = 0; i < TYPE_COUNT && length < size; i++) {
			if (knows_type(known, types[i]) == (known_ones == 1))
				length += (size_t)snprintf(buffer + length, size - length, "%s%s",
					length ? "," : "", types[i]);
		}
	}
	return buffer;
}

static void make_folder(const char *path)
{
	char folder[4096];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return;
	*slash = '\0';
	mkdir(folder, 0700); /* a failure shows in opening the file */
}

int known_hosts_append(const char *path, const char *name, const char *type, const char *key,
	const char *host, struct error *err)
{
	int file;
	char last = '\n';
	char *line;
	off_t end;
	int length;
	ssize_t put;

	make_folder(path);
	file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (file < 0)
		return error_set(err, ERROR_HOST, host, "host key: cannot write %s: %s", path,
			strerror(errno));
	end = lseek(file, 0, SEEK_END);
	if (end > 0 && pread(file, &last, 1, end - 1) != 1)
		last = '\n';
	length = asprintf(&line, "%s%s %s %s\n", last == '\n' ? "" : "\n", name, type, key);
	put = length < 0 ? -1 : write(file, line, (size_t)length);
	if (length >= 0)
		free(line);
	close(file);
	if (put < 0 || put != length)
		return error_set(err, ERROR_HOST, host, "host key: cannot write %s", path);
	return 0;
}
