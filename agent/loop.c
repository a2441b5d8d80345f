#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent.h"
#include "clock.h"
#include "evidence.h"

enum {
	EXIT_GONE = 1, /* the reader went or did not keep up, or a line was too long */
	EXIT_DEADMAN = 2,
	LAST_FLUSH_MS = 2000,
};

/* The first descriptors of every poll; the jobs' follow. */
enum { FD_INPUT, FD_OUTPUT, FD_CHILDREN, FD_JOBS };

static bool has_jobs(const struct agent *agent)
{
	for (int i = 0; i < AGENT_JOBS_MAX; i++) {
		if (agent->jobs[i])
			return true;
	}
	return false;
}

static int64_t next_deadline(const struct agent *agent)
{
	int64_t next = evidence_deadline(agent->evidence);

	/* Jobs end by themselves; the silence counts from there. */
	if (!has_jobs(agent) && agent->heard_us + agent->deadman_us < next)
		next = agent->heard_us + agent->deadman_us;
	for (int i = 0; i < AGENT_JOBS_MAX; i++) {
		const struct job *job = agent->jobs[i];

		if (job && job->kind->deadline(job) < next)
			next = job->kind->deadline(job);
	}
	return next;
}

static int timeout_ms(int64_t deadline_us)
{
	int64_t left = deadline_us - clock_now_us();

	if (left <= 0)
		return 0;
	/* Rounded up, so that the deadline has passed when poll() is back. */
	left = (left + 999) / 1000;
	return left > 60000 ? 60000 : (int)left;
}

/* Returns whether the input goes on. */
static bool read_input(struct agent *agent)
{
	size_t space;
	char *into = wire_reader_space(&agent->reader, &space);
	ssize_t got = read(STDIN_FILENO, into, space);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0)
		return false;
	wire_reader_filled(&agent->reader, (size_t)got);
	agent->heard_us = clock_now_us();
	return true;
}

/* Returns 0, or -E2BIG for an endless line. */
static int handle_lines(struct agent *agent)
{
	char *line;
	int got = 0;

	while (!agent->leaving && (got = wire_reader_next(&agent->reader, &line)) == 1)
		agent_handle_line(agent, line);
	return got < 0 ? got : 0;
}

static void advance_jobs(struct agent *agent)
{
	for (int i = 0; i < AGENT_JOBS_MAX; i++) {
		struct job *job = agent->jobs[i];

		if (!job || !job->kind->advance(job, agent))
			continue;
		agent->jobs[i] = NULL;
		job->kind->destroy(job);
		agent->heard_us = clock_now_us();
	}
}

static nfds_t collect_fds(const struct agent *agent, struct pollfd *fds)
{
	size_t count = FD_JOBS;
	bool pending = output_pending(&agent->output) > 0;

	fds[FD_INPUT] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
	fds[FD_OUTPUT] = (struct pollfd){.fd = agent->output.fd, .events = pending ? POLLOUT : 0};
	fds[FD_CHILDREN] = (struct pollfd){.fd = agent->children, .events = POLLIN};
	for (int i = 0; i < AGENT_JOBS_MAX; i++) {
		const struct job *job = agent->jobs[i];

		if (job)
			count += job->kind->watch(job, agent, fds + count, AGENT_FDS_MAX - count);
	}
	return (nfds_t)count;
}

static void forget_child_signal(const struct agent *agent)
{
	struct signalfd_siginfo info;

	while (read(agent->children, &info, sizeof(info)) > 0)
		continue;
}

static void stop_jobs(struct agent *agent)
{
	for (int i = 0; i < AGENT_JOBS_MAX; i++) {
		if (agent->jobs[i])
			agent->jobs[i]->kind->destroy(agent->jobs[i]);
		agent->jobs[i] = NULL;
	}
}

/* Nobody waits for an agent that ends, so its last words get a bounded time. */
static void flush_last(struct agent *agent)
{
	int64_t deadline = clock_now_us() + (int64_t)LAST_FLUSH_MS * 1000;

	output_flush(&agent->output);
	while (output_pending(&agent->output) > 0 && !agent->output.broken) {
		struct pollfd wanted = {.fd = agent->output.fd, .events = POLLOUT};

		if (poll(&wanted, 1, timeout_ms(deadline)) <= 0)
			return;
		output_flush(&agent->output);
	}
}

/* One round of the loop. Returns -1 to go on, else the exit status. */
static int turn(struct agent *agent)
{
	struct pollfd fds[AGENT_FDS_MAX];
	nfds_t count = collect_fds(agent, fds);

	if (poll(fds, count, timeout_ms(next_deadline(agent))) < 0 && errno != EINTR)
		return EXIT_GONE;
	if (fds[FD_INPUT].revents && !read_input(agent))
		return 0;
	if (fds[FD_CHILDREN].revents)
		forget_child_signal(agent);
	if (fds[FD_OUTPUT].revents & POLLERR)
		return EXIT_GONE;
	if (handle_lines(agent) < 0) {
		agent_say_error(agent, 0, "bad", "a line is too long; the agent ends");
		return EXIT_GONE;
	}
	advance_jobs(agent);
	evidence_advance(agent->evidence);
	output_flush(&agent->output);
	if (agent->output.broken)
		return EXIT_GONE;
	if (agent->leaving)
		return 0;
	if (!has_jobs(agent) && clock_now_us() >= agent->heard_us + agent->deadman_us)
		return EXIT_DEADMAN;
	return -1;
}

int agent_run(struct agent *agent)
{
	sigset_t children;
	int status;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	agent->children = signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC);
	agent->heard_us = clock_now_us();
	do {
		status = turn(agent);
	} while (status < 0);
	stop_jobs(agent);
	flush_last(agent);
	evidence_destroy(agent->evidence);
	agent->evidence = NULL;
	if (agent->children >= 0)
		close(agent->children);
	return status;
}
