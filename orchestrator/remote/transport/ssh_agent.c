#include "ssh_agent.h"

#include "deadline.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Message numbers of draft-miller-ssh-agent. */
enum {
	REQUEST_IDENTITIES = 11,
	IDENTITIES_ANSWER = 12,
	SIGN_REQUEST = 13,
	SIGN_RESPONSE = 14,
};

/* Reads what the agent sent; `left` never runs below 0, `bad` remembers that it would have. */
struct cursor {
	const unsigned char *at;
	size_t left;
	bool bad;
};

static uint32_t take_number(struct cursor *cursor)
{
	uint32_t number;

	if (cursor->bad || cursor->left < sizeof(number)) {
		cursor->bad = true;
		return 0;
	}
	memcpy(&number, cursor->at, sizeof(number));
	cursor->at += sizeof(number);
	cursor->left -= sizeof(number);
	return ntohl(number);
}

static const unsigned char *take_string(struct cursor *cursor, size_t *ret_length)
{
	const unsigned char *start;

	*ret_length = take_number(cursor);
	if (cursor->bad || *ret_length > cursor->left) {
		cursor->bad = true;
		*ret_length = 0;
		return cursor->at;
	}
	start = cursor->at;
	cursor->at += *ret_length;
	cursor->left -= *ret_length;
	return start;
}

static void put_number(unsigned char **at, size_t number)
{
	uint32_t wire = htonl((uint32_t)number);

	memcpy(*at, &wire, sizeof(wire));
	*at += sizeof(wire);
}

static void put_string(unsigned char **at, const unsigned char *data, size_t length)
{
	put_number(at, length);
	memcpy(*at, data, length);
	*at += length;
}

static int connect_agent(void)
{
	const char *path = getenv("SSH_AUTH_SOCK");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int agent;

	if (!path || !path[0] || strlen(path) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, path);
	/* Non-blocking: a full backlog is EAGAIN here, not a wait. */
	agent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (agent >= 0 && connect(agent, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(agent);
		agent = -1;
	}
	return agent;
}

static bool wait_for(int agent, short events, int64_t deadline)
{
	struct pollfd entry = {agent, events, 0};

	return poll(&entry, 1, deadline_timeout(deadline)) > 0;
}

static bool transfer(int agent, bool writing, unsigned char *data, size_t size, int64_t deadline)
{
	while (size) {
		ssize_t moved = writing ? send(agent, data, size, MSG_NOSIGNAL)
					: recv(agent, data, size, 0);

		if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		if (moved > 0) {
			data += moved;
			size -= (size_t)moved;
		} else if (!wait_for(agent, writing ? POLLOUT : POLLIN, deadline)) {
			return false;
		}
	}
	return true;
}

/* Sends a request (length included) and gets the answer without its length. */
static unsigned char *exchange(unsigned char *request, size_t size, size_t *ret_size)
{
	int64_t deadline = deadline_now() + SSH_AGENT_MS;
	int agent = connect_agent();
	unsigned char head[4], *answer = NULL;
	struct cursor cursor = {head, sizeof(head), false};

	if (agent < 0)
		return NULL;
	if (transfer(agent, true, request, size, deadline) &&
		transfer(agent, false, head, sizeof(head), deadline)) {
		*ret_size = take_number(&cursor);
		if (*ret_size > 0 && *ret_size <= SSH_AGENT_ANSWER)
			answer = malloc(*ret_size);
		if (answer && !transfer(agent, false, answer, *ret_size, deadline)) {
			free(answer);
			answer = NULL;
		}
	}
	close(agent);
	return answer;
}

/* Certificates and security keys need more than libssh2 1.10 knows. */
static bool usable(const unsigned char *blob, size_t length)
{
	static const char *const known[] = {"ssh-ed25519", "ecdsa-sha2-nistp256",
		"ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"};
	struct cursor cursor = {blob, length, false};
	size_t type_length;
	const unsigned char *type = take_string(&cursor, &type_length);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i]) == type_length && memcmp(known[i], type, type_length) == 0)
			return true;
	return false;
}

int ssh_agent_list(int (*take)(const struct ssh_agent_key *key, void *context), void *context)
{
	unsigned char request[5] = {0, 0, 0, 1, REQUEST_IDENTITIES};
	const char *path = getenv("SSH_AUTH_SOCK");
	struct ssh_agent_key key;
	struct cursor cursor;
	unsigned char *answer;
	uint32_t count;
	size_t size;

	if (!path || !path[0])
		return 0;
	answer = exchange(request, sizeof(request), &size);
	if (!answer || answer[0] != IDENTITIES_ANSWER) {
		free(answer);
		return -1;
	}
	cursor = (struct cursor){answer + 1, size - 1, false};
	count = take_number(&cursor);
	for (uint32_t i = 0; i < count; i++) {
		const unsigned char *comment;
		size_t length;

		key.blob = take_string(&cursor, &key.blob_length);
		comment = take_string(&cursor, &length);
		if (cursor.bad)
			break;
		snprintf(key.comment, sizeof(key.comment), "%.*s", (int)length,
			(const char *)comment);
		if (usable(key.blob, key.blob_length) && take(&key, context) != 0)
			break;
	}
	free(answer);
	return 0;
}

int ssh_agent_sign(const unsigned char *blob, size_t blob_length, const unsigned char *data,
	size_t data_length, unsigned char **ret_signature, size_t *ret_length)
{
	size_t size = 4 + 1 + 4 + blob_length + 4 + data_length + 4, answer_size, length;
	unsigned char *request = malloc(size), *at = request, *answer;
	const unsigned char *signature;
	struct cursor cursor;
	int result = -1;

	if (!request)
		return -1;
	put_number(&at, size - 4);
	*at++ = SIGN_REQUEST;
	put_string(&at, blob, blob_length);
	put_string(&at, data, data_length);
	put_number(&at, 0); /* flags */
	answer = exchange(request, size, &answer_size);
	free(request);
	if (!answer || answer[0] != SIGN_RESPONSE) {
		free(answer);
		return -1;
	}
	cursor = (struct cursor){answer + 1, answer_size - 1, false};
	signature = take_string(&cursor, &length);
	cursor = (struct cursor){signature, length, cursor.bad};
	take_string(&cursor, &length); /* the type, which libssh2 writes itself */
	signature = take_string(&cursor, &length);
	*ret_signature = cursor.bad ? NULL : malloc(length + 1);
	if (*ret_signature) {
		memcpy(*ret_signature, signature, length);
		*ret_length = length;
		result = 0;
	}
	free(answer);
	return result;
}
