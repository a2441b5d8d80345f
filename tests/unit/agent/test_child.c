#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"

#define PATIENCE_MS 10000

static int count_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Reads until the end, or until a newline with stop_at_line. */
static void read_text(int fd, char *text, size_t size, bool stop_at_line)
{
	size_t length = 0;

	for (;;) {
		struct pollfd wanted = {.fd = fd, .events = POLLIN};

		assert_int_equal(poll(&wanted, 1, PATIENCE_MS), 1);
		ssize_t got = read(fd, text + length, size - 1 - length);

		assert_true(got >= 0);
		length += (size_t)got;
		text[length] = '\0';
		if (got == 0 || (stop_at_line && strchr(text, '\n')))
			return;
	}
}

/* The output's end is seen before the exit; waits for the rest on the process itself. */
static void await_exit(struct child *child)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(child_reap(child));
}

static void tells_of_exec_failure(void **state)
{
	const char *const missing[] = {"/nonexistent/tool", NULL};
	const char *const unsearched[] = {"orch-no-such-tool-anywhere", NULL};
	const char *const folder[] = {"/tmp", NULL};
	struct child child = {.pid = -7};
	int before = count_fds();

	(void)state;
	assert_int_equal(child_start(missing, CHILD_PIPES, &child), -ENOENT);
	assert_int_equal(child_start(unsearched, CHILD_QUIET, &child), -ENOENT);
	assert_int_equal(child_start(folder, CHILD_SOCKETPAIR, &child), -EACCES);
	assert_int_equal(child.pid, -7);
	assert_int_equal(count_fds(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void pipes_all_three(void **state)
{
	const char *const argv[] = {"sh", "-c", "read a; echo out-$a; echo err >&2; exit 3", NULL};
	struct child child;
	char text[100];
	int before = count_fds();

	(void)state;
	assert_int_equal(child_start(argv, CHILD_PIPES, &child), 0);
	assert_false(child_reap(&child));
	assert_true(fcntl(child.output, F_GETFL) & O_NONBLOCK);
	assert_int_equal(write(child.input, "x\n", 2), 2);
	child_close_input(&child);
	assert_int_equal(child.input, -1);
	read_text(child.output, text, sizeof(text), false);
	assert_string_equal(text, "out-x\n");
	read_text(child.errors, text, sizeof(text), false);
	assert_string_equal(text, "err\n");
	await_exit(&child);
	assert_true(WIFEXITED(child.status));
	assert_int_equal(WEXITSTATUS(child.status), 3);
	child_finish(&child);
	child_finish(&child);
	assert_int_equal(child.pid, -1);
	assert_int_equal(WEXITSTATUS(child.status), 3);
	assert_int_equal(count_fds(), before);
}

static void joins_a_socketpair(void **state)
{
	const char *const argv[] = {"cat", NULL};
	struct child child;
	char text[100];
	int before = count_fds();

	(void)state;
	assert_int_equal(child_start(argv, CHILD_SOCKETPAIR, &child), 0);
	assert_int_equal(child.input, child.output);
	assert_int_equal(write(child.input, "hello", 5), 5);
	child_close_input(&child);
	read_text(child.output, text, sizeof(text), false);
	assert_string_equal(text, "hello");
	child_finish(&child);
	assert_int_equal(count_fds(), before);
}

static void passes_no_descriptor(void **state)
{
	const char *const argv[] = {"sh", "-c", "cd /proc/self/fd; echo *", NULL};
	struct child child;
	char text[200];
	int stray = dup2(2, 200);

	(void)state;
	assert_int_equal(stray, 200);
	assert_int_equal(child_start(argv, CHILD_PIPES, &child), 0);
	read_text(child.output, text, sizeof(text), false);
	/* The shell's own glob opens one more, after all were closed. */
	assert_true(strcmp(text, "0 1 2 3\n") == 0 || strcmp(text, "0 1 2\n") == 0);
	child_finish(&child);
	close(stray);
}

static void works_without_standard_streams(void **state)
{
	const char *const argv[] = {"sh", "-c", "cat; echo err >&2", NULL};
	struct child child;
	char out[100], errors[100];
	int kept[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	int result = child_start(argv, CHILD_PIPES, &child);

	for (int i = 0; i < 3; i++) {
		dup2(kept[i], i);
		close(kept[i]);
	}
	assert_int_equal(result, 0);
	assert_int_equal(write(child.input, "in", 2), 2);
	child_close_input(&child);
	read_text(child.output, out, sizeof(out), false);
	read_text(child.errors, errors, sizeof(errors), false);
	assert_string_equal(out, "in");
	assert_string_equal(errors, "err\n");
	child_finish(&child);
}

static bool process_is_there(pid_t pid)
{
	char path[64], text[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return false;
	ssize_t got = read(fd, text, sizeof(text) - 1);

	close(fd);
	const char *state = got > 0 ? strrchr(text, ')') : NULL;

	return state && state[2] != 'Z' && state[2] != 'X';
}

/* A pipe that only the grandchild holds: its end proves the death, without any waiting about. */
static void kill_group(const char *script, bool leader_first)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct child child;
	char text[100] = "";

	assert_int_equal(child_start(argv, CHILD_PIPES, &child), 0);
	read_text(child.output, text, sizeof(text), true);
	pid_t grandchild = atoi(text);

	assert_true(grandchild > 0);
	if (leader_first)
		await_exit(&child);
	assert_true(process_is_there(grandchild));
	int output = dup(child.output);

	child_finish(&child);
	read_text(output, text, sizeof(text), false);
	close(output);
}

static void kills_the_group(void **state)
{
	(void)state;
	kill_group("trap '' TERM; sleep 300 & echo $!; wait", false);
	kill_group("sleep 300 & echo $!; exit 0", true);
}

static void tells_of_signals(void **state)
{
	const char *const argv[] = {"sh", "-c", "kill -TERM $$", NULL};
	struct child child;

	(void)state;
	assert_int_equal(child_start(argv, CHILD_QUIET, &child), 0);
	assert_int_equal(child.input, -1);
	assert_int_equal(child.output, -1);
	assert_int_equal(child.errors, -1);
	await_exit(&child);
	assert_true(WIFSIGNALED(child.status));
	assert_int_equal(WTERMSIG(child.status), SIGTERM);
	child_finish(&child);
	child_finish(NULL);
}

/* An ignored SIGPIPE is inherited over exec; it would keep `yes | head` alive for ever. */
static void resets_signals(void **state)
{
	const char *const argv[] = {"sh", "-c", "kill -PIPE $$; echo alive", NULL};
	struct child child;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(child_start(argv, CHILD_QUIET, &child), 0);
	await_exit(&child);
	assert_true(WIFSIGNALED(child.status));
	assert_int_equal(WTERMSIG(child.status), SIGPIPE);
	child_finish(&child);
	signal(SIGPIPE, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_of_exec_failure),
		cmocka_unit_test(pipes_all_three),
		cmocka_unit_test(joins_a_socketpair),
		cmocka_unit_test(passes_no_descriptor),
		cmocka_unit_test(works_without_standard_streams),
		cmocka_unit_test(kills_the_group),
		cmocka_unit_test(tells_of_signals),
		cmocka_unit_test(resets_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
