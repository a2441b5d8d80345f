/*
 * Hosts that a command on this machine reaches: `exec: [docker, exec, -i, NAME]` gets the agent's
 * command line appended as sh -c COMMAND; `local: true` is the same without a prefix.
 */
#include "child.h"
#include "deadline.h"
#include "exit_notice.h"
#include "tail.h"
#include "transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct exec_transport {
	struct transport head;
	const struct topology_host *host;
	struct child child;
	struct exit_notice exit_notice; /* while running */
	bool running, ending, write_blocked;
	bool output_ended, errors_ended;
	struct tail errors;
};

static struct exec_transport *exec_of(struct transport *transport)
{
	return (struct exec_transport *)(void *)transport;
}

static const struct exec_transport *exec_const(const struct transport *transport)
{
	return (const struct exec_transport *)(const void *)transport;
}

static struct transport *create(
	const struct transport_ops *ops, const struct topology_host *host, struct error *err)
{
	struct exec_transport *exec = calloc(1, sizeof(*exec));

	if (!exec) {
		error_set(err, ERROR_SYSTEM, host->name, "out of memory");
		return NULL;
	}
	exec->head.ops = ops;
	exec->host = host;
	return &exec->head;
}

static struct transport *exec_create(
	const struct topology *topology, const struct topology_host *host, struct error *err)
{
	(void)topology;
	return create(&transport_exec, host, err);
}

static struct transport *local_create(
	const struct topology *topology, const struct topology_host *host, struct error *err)
{
	(void)topology;
	return create(&transport_local, host, err);
}

static void end_command(struct exec_transport *exec)
{
	if (!exec->running)
		return;
	child_finish(&exec->child);
	exit_notice_close(&exec->exit_notice);
	exec->running = false;
}

static void exec_destroy(struct transport *transport)
{
	if (!transport)
		return;
	end_command(exec_of(transport));
	free(exec_of(transport));
}

static enum transport_status exec_connect(struct transport *transport, struct error *err)
{
	(void)transport;
	(void)err;
	return TRANSPORT_DONE;
}

static enum transport_status exec_start(
	struct transport *transport, const char *command, struct error *err)
{
	struct exec_transport *exec = exec_of(transport);
	size_t prefix = exec->host->exec_count;
	const char **argv = calloc(prefix + 4, sizeof(*argv));
	int result;

	if (!argv) {
		error_set(err, ERROR_SYSTEM, exec->host->name, "out of memory");
		return TRANSPORT_FAILED;
	}
	for (size_t i = 0; i < prefix; i++)
		argv[i] = exec->host->exec[i];
	argv[prefix] = "sh";
	argv[prefix + 1] = "-c";
	argv[prefix + 2] = command;
	result = child_start(argv, CHILD_PIPES, &exec->child);
	if (result < 0) {
		error_set(err, ERROR_HOST, exec->host->name, "cannot start \"%s\": %s; see %s",
			argv[0], strerror(-result),
			prefix ? "its \"exec:\"" : "whether this machine has a shell");
		free(argv);
		return TRANSPORT_FAILED;
	}
	free(argv);
	result = exit_notice_open(&exec->exit_notice, exec->child.pid);
	if (result < 0) {
		child_finish(&exec->child);
		error_set(err, ERROR_SYSTEM, exec->host->name,
			"this machine cannot watch the command that reaches it: %s",
			strerror(-result));
		return TRANSPORT_FAILED;
	}
	exec->running = true;
	exec->ending = exec->write_blocked = false;
	exec->output_ended = exec->errors_ended = false;
	tail_clear(&exec->errors);
	return TRANSPORT_DONE;
}

/* A program blocked on a full stderr would never get to its output. */
static void drain_errors(struct exec_transport *exec)
{
	int result;

	if (exec->errors_ended)
		return;
	result = tail_read(&exec->errors, exec->child.errors);
	exec->errors_ended = result != -EAGAIN;
}

static ssize_t exec_read(struct transport *transport, void *buffer, size_t size)
{
	struct exec_transport *exec = exec_of(transport);
	ssize_t got;

	drain_errors(exec);
	if (exec->output_ended)
		return 0;
	got = read(exec->child.output, buffer, size);
	if (got < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	exec->output_ended = got == 0;
	return got;
}

static ssize_t exec_write(struct transport *transport, const void *data, size_t size)
{
	struct exec_transport *exec = exec_of(transport);
	ssize_t put;

	if (exec->child.input < 0)
		return -EPIPE;
	put = write(exec->child.input, data, size);
	if (put < 0) {
		exec->write_blocked = errno == EAGAIN;
		return errno == EINTR ? -EAGAIN : -errno;
	}
	exec->write_blocked = (size_t)put < size;
	return put;
}

static enum transport_status exec_close_input(struct transport *transport, struct error *err)
{
	struct exec_transport *exec = exec_of(transport);

	(void)err;
	exec->write_blocked = false;
	child_close_input(&exec->child);
	return TRANSPORT_DONE;
}

static enum transport_status exec_finish(
	struct transport *transport, int *ret_status, const char **ret_errors, struct error *err)
{
	struct exec_transport *exec = exec_of(transport);
	char scrap[4096];

	(void)err;
	exec->ending = true;
	for (int rounds = 0; rounds < 64 && !exec->output_ended; rounds++)
		if (exec_read(transport, scrap, sizeof(scrap)) == -EAGAIN)
			break;
	drain_errors(exec);
	/* The exit decides: a process that it left behind may hold the pipes open for ever. */
	if (!child_reap(&exec->child))
		return TRANSPORT_AGAIN;
	drain_errors(exec);
	*ret_status = WIFSIGNALED(exec->child.status) ? 128 + WTERMSIG(exec->child.status)
						      : WEXITSTATUS(exec->child.status);
	*ret_errors = exec->errors.text;
	end_command(exec);
	return TRANSPORT_DONE;
}

static enum transport_status exec_abandon(struct transport *transport)
{
	end_command(exec_of(transport));
	return TRANSPORT_DONE;
}

static size_t exec_poll(const struct transport *transport, struct pollfd *fds)
{
	const struct exec_transport *exec = exec_const(transport);
	size_t count = 0;

	if (!exec->running)
		return 0;
	if (!exec->output_ended)
		fds[count++] = (struct pollfd){exec->child.output, POLLIN, 0};
	if (!exec->errors_ended)
		fds[count++] = (struct pollfd){exec->child.errors, POLLIN, 0};
	if (exec->write_blocked && exec->child.input >= 0)
		fds[count++] = (struct pollfd){exec->child.input, POLLOUT, 0};
	if (exec->ending)
		fds[count++] = (struct pollfd){exec->exit_notice.descriptor, POLLIN, 0};
	return count;
}

static int64_t exec_timer(const struct transport *transport)
{
	(void)transport;
	return DEADLINE_NEVER; /* every event has a descriptor */
}

static const char *exec_step(const struct transport *transport)
{
	(void)transport;
	return "starting a shell";
}

static void exec_patience(struct transport *transport, int64_t milliseconds)
{
	(void)transport;
	(void)milliseconds;
}

#define EXEC_OPERATIONS                                                                            \
	.destroy = exec_destroy, .connect = exec_connect, .start = exec_start, .read = exec_read,  \
	.write = exec_write, .close_input = exec_close_input, .finish = exec_finish,               \
	.abandon = exec_abandon, .poll = exec_poll, .timer = exec_timer, .step = exec_step,        \
	.patience = exec_patience

const struct transport_ops transport_exec = {
	.name = "exec", .create = exec_create, EXEC_OPERATIONS};

/* A local host has no prefix: exec_count is 0. */
const struct transport_ops transport_local = {
	.name = "local", .create = local_create, EXEC_OPERATIONS};
