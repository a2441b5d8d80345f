#include "lab_tool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "deadline.h"

#define TOOL_DEADLINE_MS 30000
#define TOOL_ARGUMENTS   32

static const struct {
	const char *name, *package;
} packages[] = {
	{"ip", "iproute2"},
	{"tc", "iproute2"},
	{"nft", "nftables"},
	{"sshd", "openssh-server"},
	{"ssh-keygen", "openssh-client"},
};

/* sudo and cron often leave the sbin folders out of PATH. */
static const char *const folders[] = {
	"/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/local/bin"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct conversation {
	struct child child;
	const char *input;
	size_t left;
	char said[600]; /* the start of what it wrote: its first complaint is the cause */
	size_t length;
	int64_t deadline;
};

const char *lab_tool_find(const char *name, char *buffer, size_t size, struct error *err)
{
	const char *package = name;

	for (size_t i = 0; i < COUNT(folders); i++) {
		snprintf(buffer, size, "%s/%s", folders[i], name);
		if (!access(buffer, X_OK))
			return buffer;
	}
	for (size_t i = 0; i < COUNT(packages); i++)
		if (!strcmp(packages[i].name, name))
			package = packages[i].package;
	error_set(err, ERROR_LAB, "lab",
		"the lab needs the program '%s', which is not installed;\n"
		"install it: apt-get install %s",
		name, package);
	return NULL;
}

static void feed(struct conversation *talk)
{
	ssize_t written = talk->left ? write(talk->child.input, talk->input, talk->left) : 0;

	if (written < 0 && errno == EAGAIN)
		return;
	/* A tool that stops reading has its reason on stderr. */
	if (written < 0)
		talk->left = 0;
	if (written > 0) {
		talk->input += written;
		talk->left -= (size_t)written;
	}
	if (!talk->left)
		child_close_input(&talk->child);
}

/* Keeps what fits. Returns false at the end of the stream. */
static bool collect(struct conversation *talk, int fd)
{
	char chunk[4096];
	ssize_t got = read(fd, chunk, sizeof(chunk));
	size_t room = sizeof(talk->said) - 1 - talk->length;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if ((size_t)got < room)
		room = (size_t)got;
	memcpy(talk->said + talk->length, chunk, room);
	talk->length += room;
	talk->said[talk->length] = '\0';
	return got > 0;
}

/* Returns true when the tool closed its streams before the deadline. */
static bool converse(struct conversation *talk)
{
	int output = talk->child.output, errors = talk->child.errors;

	while (output >= 0 || errors >= 0) {
		struct pollfd fds[] = {
			{talk->child.input, POLLOUT, 0},
			{output, POLLIN, 0},
			{errors, POLLIN, 0},
		};
		int timeout = deadline_timeout(talk->deadline);

		if (timeout == 0)
			return false;
		if (poll(fds, COUNT(fds), timeout) < 0 && errno != EINTR)
			return false;
		if (fds[0].revents)
			feed(talk);
		if (fds[1].revents && !collect(talk, output))
			output = -1;
		if (fds[2].revents && !collect(talk, errors))
			errors = -1;
	}
	return true;
}

static int judge(const struct conversation *talk, const char *name, bool ended, struct error *err)
{
	int status = talk->child.status;

	if (!ended)
		return error_set(err, ERROR_LAB, "lab", "'%s' did not end in %d s: %s", name,
			TOOL_DEADLINE_MS / 1000, talk->said);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return error_set(err, ERROR_LAB, "lab", "'%s' failed: %s", name,
		talk->length ? talk->said : "it said nothing");
}

int lab_tool_run(const char *const argv[], const char *input, struct error *err)
{
	struct conversation talk = {.input = input, .left = input ? strlen(input) : 0};
	const char *arguments[TOOL_ARGUMENTS + 1];
	char path[64];
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	bool ended;
	int failure;

	if (!lab_tool_find(argv[0], path, sizeof(path), err))
		return -1;
	arguments[0] = path;
	for (size_t i = 1; i <= TOOL_ARGUMENTS; i++)
		if (!(arguments[i] = argv[i]))
			break;
	arguments[TOOL_ARGUMENTS] = NULL;
	failure = child_start(arguments, CHILD_PIPES, &talk.child);
	if (failure)
		return error_set(
			err, ERROR_LAB, "lab", "cannot start %s: %s", path, strerror(-failure));
	talk.deadline = deadline_now() + TOOL_DEADLINE_MS;
	if (!talk.left)
		child_close_input(&talk.child);
	/* A tool that gives up early closes its input while it is written to. */
	sigaction(SIGPIPE, &ignore, &before);
	ended = converse(&talk);
	sigaction(SIGPIPE, &before, NULL);
	if (ended) {
		siginfo_t info;

		/* It has closed its streams: it is about to exit. */
		waitid(P_PID, (id_t)talk.child.pid, &info, WEXITED | WNOWAIT);
		child_reap(&talk.child);
	}
	failure = judge(&talk, argv[0], ended, err);
	child_finish(&talk.child);
	return failure;
}
