#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	END_OURS,
	END_THEIRS,
	REPORT_FD = 3,
	MAX_GUESSED_FD = 65536, /* where the limit is higher and close_range() missing */
};

/* What the child gets as 0, 1 and 2 ([..][END_THEIRS]), and what we keep of them. */
struct plumbing {
	int fds[3][2];
	int report[2]; /* errno of a failed exec; closed by a good one */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void plumbing_finish(struct plumbing *plumbing)
{
	int kept = errno;

	for (int i = 0; i < 3; i++) {
		close_fd(&plumbing->fds[i][END_OURS]);
		close_fd(&plumbing->fds[i][END_THEIRS]);
	}
	close_fd(&plumbing->report[END_OURS]);
	close_fd(&plumbing->report[END_THEIRS]);
	errno = kept;
}

/* Above REPORT_FD nothing that dup2() makes for the child can hit a descriptor still needed. */
static int raise_fd(int *fd)
{
	if (*fd > REPORT_FD)
		return 0;
	int raised = fcntl(*fd, F_DUPFD_CLOEXEC, REPORT_FD + 1);

	if (raised < 0)
		return -1;
	close(*fd);
	*fd = raised;
	return 0;
}

static int open_pipe(int *read_end, int *write_end)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	*read_end = ends[0];
	*write_end = ends[1];
	return raise_fd(read_end) < 0 || raise_fd(write_end) < 0 ? -1 : 0;
}

static int open_socketpair(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	return raise_fd(&ends[0]) < 0 || raise_fd(&ends[1]) < 0 ? -1 : 0;
}

static int open_null(int *fd)
{
	*fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return *fd < 0 ? -1 : raise_fd(fd);
}

static int open_pipes(struct plumbing *plumbing)
{
	if (open_pipe(&plumbing->fds[0][END_THEIRS], &plumbing->fds[0][END_OURS]) < 0)
		return -1;
	if (open_pipe(&plumbing->fds[1][END_OURS], &plumbing->fds[1][END_THEIRS]) < 0)
		return -1;
	return open_pipe(&plumbing->fds[2][END_OURS], &plumbing->fds[2][END_THEIRS]);
}

static int open_pair_and_errors(struct plumbing *plumbing)
{
	if (open_socketpair(plumbing->fds[0]) < 0)
		return -1;
	plumbing->fds[1][END_THEIRS] =
		fcntl(plumbing->fds[0][END_THEIRS], F_DUPFD_CLOEXEC, REPORT_FD + 1);
	if (plumbing->fds[1][END_THEIRS] < 0)
		return -1;
	return open_pipe(&plumbing->fds[2][END_OURS], &plumbing->fds[2][END_THEIRS]);
}

static int open_quiet(struct plumbing *plumbing)
{
	for (int i = 0; i < 3; i++) {
		if (open_null(&plumbing->fds[i][END_THEIRS]) < 0)
			return -1;
	}
	return 0;
}

static int (*const open_streams[])(struct plumbing *) = {
	[CHILD_PIPES] = open_pipes,
	[CHILD_SOCKETPAIR] = open_pair_and_errors,
	[CHILD_QUIET] = open_quiet,
};

static void close_above(unsigned int first)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0u, 0u) == 0)
		return;
#endif
	struct rlimit limit;
	rlim_t last = MAX_GUESSED_FD;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < last)
		last = limit.rlim_cur;
	for (unsigned int fd = first; fd < last; fd++)
		close((int)fd);
}

static void reset_signals(void)
{
	sigset_t none;
	struct sigaction standard = {.sa_handler = SIG_DFL};

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &standard, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn))
run_child(const char *const argv[], const struct plumbing *plumbing)
{
	/* execvp() takes char *const[] and changes nothing. */
	union {
		const char *const *given;
		char *const *wanted;
	} arguments = {.given = argv};

	setpgid(0, 0);
	reset_signals();
	if (dup3(plumbing->report[END_THEIRS], REPORT_FD, O_CLOEXEC) == REPORT_FD &&
		dup2(plumbing->fds[0][END_THEIRS], 0) == 0 &&
		dup2(plumbing->fds[1][END_THEIRS], 1) == 1 &&
		dup2(plumbing->fds[2][END_THEIRS], 2) == 2) {
		close_above(REPORT_FD + 1);
		execvp(argv[0], arguments.wanted);
	}
	int reason = errno;
	ssize_t told = write(REPORT_FD, &reason, sizeof(reason));

	_exit(told == (ssize_t)sizeof(reason) ? 127 : 126);
}

/* Waits for exec to work (the descriptor closes) or to fail. Returns 0 or -errno. */
static int await_exec(int report)
{
	int reason = 0;
	ssize_t got;

	do {
		got = read(report, &reason, sizeof(reason));
	} while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(reason) ? -reason : 0;
}

static int take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	if (taken >= 0)
		fcntl(taken, F_SETFL, fcntl(taken, F_GETFL) | O_NONBLOCK);
	return taken;
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

int child_start(const char *const argv[], enum child_streams streams, struct child *ret)
{
	struct plumbing plumbing = {.fds = {{-1, -1}, {-1, -1}, {-1, -1}}, .report = {-1, -1}};
	int result;

	if (open_pipe(&plumbing.report[END_OURS], &plumbing.report[END_THEIRS]) < 0 ||
		open_streams[streams](&plumbing) < 0) {
		result = -errno;
		goto out;
	}
	pid_t pid = fork();

	if (pid == 0)
		run_child(argv, &plumbing);
	if (pid < 0) {
		result = -errno;
		goto out;
	}
	close_fd(&plumbing.report[END_THEIRS]);
	result = await_exec(plumbing.report[END_OURS]);
	if (result < 0) {
		wait_for(pid);
		goto out;
	}
	ret->pid = pid;
	ret->exited = false;
	ret->status = 0;
	ret->input = take(&plumbing.fds[0][END_OURS]);
	ret->output = streams == CHILD_SOCKETPAIR ? ret->input : take(&plumbing.fds[1][END_OURS]);
	ret->errors = take(&plumbing.fds[2][END_OURS]);
out:
	plumbing_finish(&plumbing);
	return result;
}

/* The status as waitpid() would have given it. */
static int status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	return info->si_status | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

bool child_reap(struct child *child)
{
	siginfo_t info = {0};

	if (child->exited || child->pid <= 0)
		return child->exited;
	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
		child->exited = errno == ECHILD;
	} else if (info.si_pid == child->pid) {
		child->exited = true;
		child->status = status_of(&info);
	}
	return child->exited;
}

void child_close_input(struct child *child)
{
	if (child->input >= 0 && child->input == child->output) {
		shutdown(child->input, SHUT_WR);
		return;
	}
	close_fd(&child->input);
}

void child_finish(struct child *child)
{
	if (!child)
		return;
	if (child->pid > 0) {
		kill(-child->pid, SIGKILL);
		if (!child_reap(child)) {
			siginfo_t info = {0};

			while (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT) < 0 &&
				errno == EINTR)
				continue;
			child->exited = true;
			child->status = status_of(&info);
		}
		wait_for(child->pid);
		child->pid = -1;
	}
	if (child->output == child->input)
		child->output = -1;
	close_fd(&child->input);
	close_fd(&child->output);
	close_fd(&child->errors);
}
