/* `spawn`: a command in its own process group, its output as records. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "child.h"
#include "clock.h"

enum {
	OUTPUT_TOTAL_MAX = 1 << 20,
	DEADLINE_MAX_MS = 24 * 3600 * 1000,
	PIPE_SIZE_MAX = 1 << 20, /* what a killed group can have left in a pipe */
};

struct spawn {
	struct job job;
	struct child child;
	int64_t deadline_us;
	int64_t said, dropped; /* raw bytes of output */
};

static struct spawn *spawn_of(struct job *job)
{
	return (struct spawn *)job;
}

static void say_output(
	struct spawn *spawn, struct agent *agent, int stream, const char *bytes, size_t length)
{
	size_t room = (size_t)(OUTPUT_TOTAL_MAX - spawn->said);
	size_t kept = length < room ? length : room;

	spawn->said += (int64_t)kept;
	spawn->dropped += (int64_t)(length - kept);
	if (kept == 0)
		return;
	struct wire_writer *writer = agent_begin(agent, spawn->job.id, "out");

	wire_writer_number(writer, "stream", stream);
	wire_writer_data(writer, "data", bytes, kept);
	agent_end(agent);
}

/* Passes on at most max bytes of what is there. Closes the descriptor at its end. */
static void pass_on(struct spawn *spawn, struct agent *agent, int *fd, int stream, size_t max)
{
	char bytes[WIRE_CHUNK_MAX];
	ssize_t got = 0;

	for (size_t passed = 0; *fd >= 0 && passed < max; passed += (size_t)got) {
		got = read(*fd, bytes, sizeof(bytes));
		if (got < 0)
			return;
		if (got == 0) {
			close(*fd);
			*fd = -1;
			return;
		}
		say_output(spawn, agent, stream, bytes, (size_t)got);
	}
}

static void pass_both(struct spawn *spawn, struct agent *agent, size_t max)
{
	pass_on(spawn, agent, &spawn->child.output, 1, max);
	pass_on(spawn, agent, &spawn->child.errors, 2, max);
}

static void say_end(const struct spawn *spawn, struct agent *agent)
{
	int status = spawn->child.status;
	struct wire_writer *writer = agent_begin(agent, spawn->job.id, "ok");

	wire_writer_number(writer, "status", WIFEXITED(status) ? WEXITSTATUS(status) : 0);
	wire_writer_number(writer, "signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	if (spawn->dropped > 0)
		wire_writer_number(writer, "dropped", spawn->dropped);
	agent_end(agent);
}

static size_t spawn_watch(
	const struct job *job, const struct agent *agent, struct pollfd *fds, size_t max)
{
	const struct spawn *spawn = (const struct spawn *)job;
	size_t count = 0;

	/* A command that floods has to wait for the orchestrator, as in any pipe. */
	if (output_pending(&agent->output) > OUTPUT_HIGH)
		return 0;
	if (spawn->child.output >= 0 && count < max)
		fds[count++] = (struct pollfd){.fd = spawn->child.output, .events = POLLIN};
	if (spawn->child.errors >= 0 && count < max)
		fds[count++] = (struct pollfd){.fd = spawn->child.errors, .events = POLLIN};
	return count;
}

static int64_t spawn_deadline(const struct job *job)
{
	return ((const struct spawn *)job)->deadline_us;
}

static bool spawn_advance(struct job *job, struct agent *agent)
{
	struct spawn *spawn = spawn_of(job);
	bool late = clock_now_us() >= spawn->deadline_us;
	bool exited = child_reap(&spawn->child);

	if (exited || late) {
		/* First the group, so that nobody goes on writing while the rest is read. */
		kill(-spawn->child.pid, SIGKILL);
		pass_both(spawn, agent, PIPE_SIZE_MAX);
		if (exited)
			say_end(spawn, agent);
		else
			agent_say_error(agent, job->id, "timeout",
				"the command did not end in deadline_ms; killed");
		return true;
	}
	if (output_pending(&agent->output) <= OUTPUT_HIGH)
		pass_both(spawn, agent, WIRE_CHUNK_MAX);
	return false;
}

static void spawn_destroy(struct job *job)
{
	child_finish(&spawn_of(job)->child);
	free(job);
}

static const struct job_kind spawn_kind = {
	.watch = spawn_watch,
	.deadline = spawn_deadline,
	.advance = spawn_advance,
	.destroy = spawn_destroy,
};

/* Fills argv, NULL-terminated. Returns false when an argument is missing or holds a NUL. */
static bool read_arguments(const struct wire_record *request, const char **argv, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		char key[8] = "arg";
		char *at = key + 3;

		if (i >= 10)
			*at++ = (char)('0' + i / 10);
		*at = (char)('0' + i % 10);
		const struct wire_field *field = wire_record_field(request, key);

		if (!field || strlen(field->value) != field->length)
			return false;
		argv[i] = field->value;
	}
	argv[count] = NULL;
	return true;
}

void request_spawn(struct agent *agent, const struct wire_record *request)
{
	const char *argv[WIRE_FIELDS_MAX + 1];
	int64_t count, deadline_ms;

	if (wire_record_number(request, "deadline_ms", &deadline_ms) < 0 || deadline_ms < 1 ||
		deadline_ms > DEADLINE_MAX_MS) {
		agent_say_error(
			agent, request->id, "bad", "spawn: deadline_ms= must be 1..86400000");
		return;
	}
	if (wire_record_number(request, "argc", &count) < 0 || count < 1 ||
		count >= WIRE_FIELDS_MAX || !read_arguments(request, argv, count)) {
		agent_say_error(agent, request->id, "bad", "spawn: argc= and arg0= ... do not fit");
		return;
	}
	struct spawn *spawn = calloc(1, sizeof(*spawn));

	if (!spawn) {
		agent_say_error(agent, request->id, "setup", "out of memory");
		return;
	}
	spawn->job = (struct job){.id = request->id, .kind = &spawn_kind};
	spawn->deadline_us = clock_now_us() + deadline_ms * 1000;
	int result = child_start(argv, CHILD_PIPES, &spawn->child);

	if (result < 0) {
		agent_say_errno(agent, request->id, "setup", argv[0], -result);
		free(spawn);
		return;
	}
	child_close_input(&spawn->child);
	if (!agent_add_job(agent, &spawn->job))
		return;
	wire_writer_number(agent_begin(agent, request->id, "started"), "pid", spawn->child.pid);
	agent_end(agent);
}
