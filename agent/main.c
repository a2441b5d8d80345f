/*
 * The measuring agent. It speaks the conversation of docs/wire.md on its standard streams and
 * leaves nothing behind: no file, no process, no socket.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

#ifndef AGENT_BUILD
#define AGENT_BUILD "unknown"
#endif

enum {
	EXIT_USAGE = 4,
	DEADMAN_DEFAULT_S = 30,
	DEADMAN_MAX_S = 86400,
};

struct self {
	int64_t size;
	uint64_t hash; /* FNV-1a, 64 bit: http://www.isthe.com/chongo/tech/comp/fnv/ */
};

static void complain(const char *text)
{
	ssize_t put = write(STDERR_FILENO, text, strlen(text));

	(void)put;
}

static struct self read_self(void)
{
	struct self self = {.hash = 0xcbf29ce484222325u};
	unsigned char bytes[16384];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return self;
	while ((got = read(fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < got; i++)
			self.hash = (self.hash ^ bytes[i]) * 0x100000001b3u;
		self.size += got;
	}
	close(fd);
	return self;
}

static void unlink_self(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length <= 0)
		return;
	path[length] = '\0';
	unlink(path);
}

static void greet(struct agent *agent, struct self self)
{
	char hex[17];
	struct wire_writer *writer = agent_begin(agent, 0, "hello");

	for (int i = 0; i < 16; i++)
		hex[i] = "0123456789abcdef"[(self.hash >> (60 - 4 * i)) & 15];
	hex[16] = '\0';
	wire_writer_text(writer, "magic", WIRE_MAGIC);
	wire_writer_number(writer, "version", WIRE_VERSION);
	wire_writer_text(writer, "build", AGENT_BUILD);
	wire_writer_number(writer, "size", self.size);
	wire_writer_text(writer, "hash", hex);
	agent_end(agent);
}

/* Returns whether the options make sense. */
static bool read_options(int argc, char **argv, struct agent *agent, bool *ret_unlink)
{
	static const struct option options[] = {
		{"unlink", no_argument, NULL, 'u'},
		{"deadman", required_argument, NULL, 'd'},
		{"root", required_argument, NULL, 'r'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		char *end = NULL;
		long seconds = option == 'd' ? strtol(optarg, &end, 10) : 1;

		if (option == '?' || seconds < 1 || seconds > DEADMAN_MAX_S || (end && *end))
			return false;
		if (option == 'u')
			*ret_unlink = true;
		else if (option == 'd')
			agent->deadman_us = (int64_t)seconds * 1000000;
		else
			agent->root = optarg;
	}
	return optind == argc;
}

int main(int argc, char **argv)
{
	struct self self = read_self();
	struct agent *agent = calloc(1, sizeof(*agent));
	bool unlinks = false;

	if (!agent)
		return EXIT_USAGE;
	agent->root = "";
	agent->deadman_us = (int64_t)DEADMAN_DEFAULT_S * 1000000;
	if (!read_options(argc, argv, agent, &unlinks)) {
		complain("usage: orch-agent [--unlink] [--deadman SECONDS] [--root FOLDER]\n");
		free(agent);
		return EXIT_USAGE;
	}
	if (unlinks)
		unlink_self();
	signal(SIGPIPE, SIG_IGN);
	wire_reader_init(&agent->reader);
	output_init(&agent->output, STDOUT_FILENO);
	greet(agent, self);
	output_flush(&agent->output);
	int status = agent_run(agent);

	output_finish(&agent->output);
	free(agent);
	return status;
}
