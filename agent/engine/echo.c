/* A latency test as a job: the two ends meet, find each other's sockets, then the thread runs. */
#include "echo_end.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netinet/tcp.h>

#include "agent.h"
#include "clock.h"
#include "echo_options.h"
#include "echo_report.h"
#include "echo_socket.h"
#include "rendezvous.h"
#include "tests.h"
#include "trial_socket.h"

enum {
	FOUND = 'U',      /* the listener has seen where the connector's datagrams come from */
	HELLO_US = 50000, /* between datagrams that show it */
	OPEN_MAX = 16,    /* open questions without pace */
	SOCKET_TRIES = 8, /* ports that are free for TCP but not for UDP */
};

/* PAIRING: datagrams only. */
enum echo_state { MEETING, PAIRING, RUNNING };

struct echo {
	struct job job;
	struct echo_options options;
	struct rendezvous meeting;
	int64_t asked_us; /* when the request came */
	enum echo_state state;
	int control;      /* the meeting's connection; -1 when it is the stream itself */
	int second;       /* datagrams, or the second listener; -1 when the end has it */
	int64_t hello_us; /* when the next hello is due */
	int64_t begun_us;
	unsigned int marks;
	struct echo_end end;
};

static struct echo *echo_of(struct job *job)
{
	return (struct echo *)job;
}

static const struct echo *const_echo_of(const struct job *job)
{
	return (const struct echo *)job;
}

static size_t echo_watch(
	const struct job *job, const struct agent *agent, struct pollfd *fds, size_t max)
{
	const struct echo *echo = const_echo_of(job);
	size_t count = 0;

	(void)agent;
	if (echo->state == MEETING)
		return rendezvous_watch(&echo->meeting, fds, max);
	if (echo->control >= 0 && count < max)
		fds[count++] = (struct pollfd){.fd = echo->control, .events = POLLIN};
	if (echo->state == PAIRING && echo->options.trial.listens && count < max)
		fds[count++] = (struct pollfd){.fd = echo->second, .events = POLLIN};
	if (echo->state == RUNNING && count < max)
		fds[count++] = (struct pollfd){.fd = echo->end.event, .events = POLLIN};
	return count;
}

static int64_t setup_end(const struct echo *echo)
{
	return echo->asked_us + echo->options.trial.setup_ms * 1000;
}

/* Beyond it nothing is waited for: the asker's own end is a straggler's time after its last. */
static int64_t run_end(const struct echo *echo)
{
	const struct trial_options *options = &echo->options.trial;

	return echo->begun_us + (options->duration_ms + options->stall_ms) * 1000 + ECHO_LATE_US;
}

static int64_t echo_deadline(const struct job *job)
{
	const struct echo *echo = const_echo_of(job);

	if (echo->state == RUNNING)
		return run_end(echo);
	if (echo->state == PAIRING && !echo->options.trial.listens &&
		echo->hello_us < setup_end(echo))
		return echo->hello_us;
	return setup_end(echo);
}

/* The socket of the questions' way, as far as it can be made before the two ends have met. */
static int open_second(struct echo *echo, const char **ret_what)
{
	const struct echo_options *options = &echo->options;

	if (options->transport->datagrams) {
		echo->second = echo_socket_open(&options->trial, echo->meeting.port, ret_what);
		return echo->second < 0 ? echo->second : 0;
	}
	if (!options->transport->connections || !options->trial.listens)
		return 0;
	echo->second = trial_socket_open(&options->trial, &echo->meeting.device_bound, ret_what);
	if (echo->second < 0)
		return echo->second;
	return trial_socket_listen(echo->second, &options->trial, ret_what);
}

/* Returns the second port (0: none) or -errno. What was opened is closed by the job's end. */
static int open_sockets(struct echo *echo, const char **ret_what)
{
	int result = -EADDRINUSE;

	for (int i = 0; i < SOCKET_TRIES && result == -EADDRINUSE; i++) {
		result = rendezvous_init(&echo->meeting, &echo->options.trial, ret_what);
		if (result == 0) {
			result = open_second(echo, ret_what);
			if (result < 0)
				rendezvous_finish(&echo->meeting, true);
		}
		/* Of a range the next trial socket takes the same port again. */
		if (echo->options.trial.port != 0)
			break;
	}
	return result;
}

static int start_running(struct echo *echo)
{
	const struct trial_options *options = &echo->options.trial;
	bool stream = echo->second < 0;
	int fd = stream ? echo->control : echo->second, one = 1, result = 0;
	int64_t pace_ms = echo->options.pace_ms;

	if (echo->options.transport->connections && !options->listens) {
		trial_socket_set_port(&echo->options.trial.peer, (uint16_t)echo->options.to_port2);
		fd = -1;
	} else if (stream) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		echo->control = -1;
	} else {
		echo->second = -1;
	}
	echo->end = (struct echo_end){.options = options,
		.size = (size_t)echo->options.size,
		.pace_us = pace_ms * 1000,
		.fd = fd,
		.wake = -1,
		.event = -1};
	echo->begun_us = clock_now_us();
	echo->state = RUNNING;
	if (options->sends)
		result = echo_count_init(&echo->end.count,
			pace_ms > 0 ? (size_t)(ECHO_LATE_US / (pace_ms * 1000)) + 2 : OPEN_MAX,
			options->duration_ms * 1000, options->interval_ms * 1000);
	if (result < 0)
		return result;
	return echo_end_start(&echo->end,
		options->sends ? echo->options.transport->ask : echo->options.transport->answer,
		fd);
}

/* Returns true when that already was the end. */
static bool begin_running(struct echo *echo, struct agent *agent)
{
	int result = start_running(echo);

	if (result < 0) {
		agent_say_errno(agent, echo->job.id, "setup", "starting the test", -result);
		return true;
	}
	struct wire_writer *writer = agent_begin(agent, echo->job.id, "connected");

	wire_writer_number(writer, "streams", 1);
	wire_writer_number(writer, "device_bound", echo->meeting.device_bound);
	if (!echo->options.transport->connections)
		wire_writer_number(writer, "size", echo->options.size);
	agent_end(agent);
	return false;
}

static bool fail_setup(struct echo *echo, struct agent *agent, const char *what, int result)
{
	if (result == -ECONNABORTED)
		agent_say_error(agent, echo->job.id, "refused",
			"the other end closed the connection before the start");
	else
		agent_say_errno(agent, echo->job.id, "setup", what, -result);
	return true;
}

/* The end of setup's time, when it has come. */
static bool check_setup(struct echo *echo, struct agent *agent, const char *what)
{
	char message[100];

	if (clock_now_us() < setup_end(echo))
		return false;
	snprintf(message, sizeof(message), "%s within %lld ms", what,
		(long long)echo->options.trial.setup_ms);
	agent_say_error(agent, echo->job.id, "timeout", message);
	return true;
}

static bool advance_meeting(struct echo *echo, struct agent *agent)
{
	const char *what = "";
	int result = rendezvous_advance(&echo->meeting, &what);

	if (result < 0)
		return fail_setup(echo, agent, what, result);
	if (result == 0)
		return check_setup(echo, agent,
			echo->options.trial.listens ? "nobody connected and showed the token"
						    : "no connection was made and answered");
	echo->control = echo->meeting.streams[0];
	echo->meeting.streams[0] = -1;
	rendezvous_finish(&echo->meeting, true);
	if (!echo->options.transport->datagrams)
		return begin_running(echo, agent);
	echo->state = PAIRING;
	return false;
}

/* 1 when the listener knows where the datagrams come from, 0 to wait, -errno. */
static int pair_as_connector(struct echo *echo)
{
	unsigned char hello[ECHO_HEADER];
	char answer;
	ssize_t got = recv(echo->control, &answer, 1, MSG_DONTWAIT);
	int64_t now = clock_now_us();

	if (got == 1 && answer == FOUND)
		return 1;
	if (got >= 0 || (errno != EAGAIN && errno != EINTR))
		return -ECONNABORTED;
	if (now < echo->hello_us)
		return 0;
	echo_put_header(hello, &echo->options.trial, ECHO_HELLO);
	/* One that is lost is followed by the next. */
	(void)send(echo->second, hello, sizeof(hello), MSG_NOSIGNAL | MSG_DONTWAIT);
	echo->hello_us = now + HELLO_US;
	return 0;
}

static int pair_as_listener(struct echo *echo)
{
	static const char found = FOUND;
	unsigned char hello[ECHO_HEADER + 1];
	struct sockaddr_storage from = {0};
	socklen_t size = sizeof(from);
	uint64_t number;
	ssize_t got;

	while ((got = recvfrom(echo->second, hello, sizeof(hello), MSG_DONTWAIT,
			(struct sockaddr *)&from, &size)) >= 0) {
		if (got == ECHO_HEADER &&
			echo_get_header(hello, (size_t)got, &echo->options.trial, &number) &&
			number == ECHO_HELLO) {
			/* From here on the kernel drops what comes from elsewhere. */
			if (connect(echo->second, (struct sockaddr *)&from, size) < 0)
				return -errno;
			return send(echo->control, &found, 1, MSG_NOSIGNAL) == 1 ? 1
										 : -ECONNABORTED;
		}
		size = sizeof(from);
	}
	got = recv(echo->control, hello, 1, MSG_DONTWAIT);
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -ECONNABORTED;
}

static bool advance_pairing(struct echo *echo, struct agent *agent)
{
	int result = echo->options.trial.listens ? pair_as_listener(echo) : pair_as_connector(echo);

	if (result < 0)
		return fail_setup(echo, agent, "datagrams", result);
	if (result == 0)
		return check_setup(echo, agent, "no datagram of the connecting end came through");
	return begin_running(echo, agent);
}

static bool control_closed(const struct echo *echo)
{
	char byte;

	ssize_t got = echo->control < 0 ? 1 : recv(echo->control, &byte, 1, MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void say_end(struct echo *echo, struct agent *agent)
{
	const struct echo_count *count = &echo->end.count;
	uint64_t answers = 0;

	for (size_t i = 0; i <= count->part; i++)
		answers += count->parts[i].times.total;
	if (!echo->options.trial.sends) {
		wire_writer_number(
			agent_begin(agent, echo->job.id, "ok"), "count", echo->end.answered);
		agent_end(agent);
	} else if (echo->end.outcome == ECHO_LOST) {
		agent_say_error(agent, echo->job.id, "lost", "the peer closed before the end");
	} else if (echo->end.outcome == ECHO_STALLED || answers == 0) {
		agent_say_error(agent, echo->job.id, "stalled",
			answers == 0 ? "no question was answered"
				     : "no answer came for the stall time");
	} else {
		echo_report(agent, echo->job.id, count);
	}
}

static bool advance_running(struct echo *echo, struct agent *agent)
{
	bool asks = echo->options.trial.sends, closed = control_closed(echo);
	bool finished = atomic_load(&echo->end.finished);
	uint64_t times;
	ssize_t got = read(echo->end.event, &times, sizeof(times));

	(void)got;
	/* The answerer ends with its asker; the asker's own end comes first. */
	if (!finished && !closed && clock_now_us() < run_end(echo))
		return false;
	echo_end_stop(&echo->end);
	if (asks && !finished)
		echo->end.outcome = closed ? ECHO_LOST : ECHO_STALLED;
	say_end(echo, agent);
	return true;
}

static bool echo_advance(struct job *job, struct agent *agent)
{
	static bool (*const states[])(struct echo * echo, struct agent * agent) = {
		[MEETING] = advance_meeting,
		[PAIRING] = advance_pairing,
		[RUNNING] = advance_running,
	};
	struct echo *echo = echo_of(job);

	return states[echo->state](echo, agent);
}

static void echo_destroy(struct job *job)
{
	struct echo *echo = echo_of(job);

	if (echo->state == RUNNING)
		echo_end_stop(&echo->end);
	echo_count_finish(&echo->end.count);
	rendezvous_finish(&echo->meeting, true);
	if (echo->control >= 0)
		close(echo->control);
	if (echo->second >= 0)
		close(echo->second);
	free(echo);
}

static const struct job_kind echo_kind = {
	.watch = echo_watch,
	.deadline = echo_deadline,
	.advance = echo_advance,
	.destroy = echo_destroy,
};

static void say_listening(struct agent *agent, uint32_t id, int port, int second)
{
	struct wire_writer *writer = agent_begin(agent, id, "listening");

	wire_writer_number(writer, "port", port);
	if (second > 0)
		wire_writer_number(writer, "port2", second);
	agent_end(agent);
}

void echo_begin(struct agent *agent, const struct wire_record *request, bool listens)
{
	struct echo_options options;
	const char *what = echo_options_read(request, listens, &options);
	struct echo *echo;

	if (what) {
		agent_say_error(agent, request->id, "bad", what);
		return;
	}
	echo = calloc(1, sizeof(*echo));
	if (!echo) {
		agent_say_error(agent, request->id, "setup", "out of memory");
		return;
	}
	echo->job = (struct job){.id = request->id, .kind = &echo_kind};
	echo->options = options;
	echo->asked_us = clock_now_us();
	echo->control = -1;
	echo->second = -1;
	int second = open_sockets(echo, &what);

	if (second < 0) {
		agent_say_errno(agent, request->id, "setup", what, -second);
		echo_destroy(&echo->job);
		return;
	}
	int port = echo->meeting.port;

	if (agent_add_job(agent, &echo->job) && listens)
		say_listening(agent, request->id, port, second);
}

void request_mark(struct agent *agent, const struct wire_record *request)
{
	int64_t target = 0, end = 0;
	struct job *job;

	if (wire_record_number(request, "target", &target) < 0 || target <= 0 ||
		target > UINT32_MAX ||
		(wire_record_field(request, "end") &&
			wire_record_number(request, "end", &end) < 0)) {
		agent_say_error(agent, request->id, "bad", "mark: target= must be an id");
		return;
	}
	job = agent_find_job(agent, (uint32_t)target);
	struct echo *echo = job && job->kind == &echo_kind ? echo_of(job) : NULL;

	if (!echo || !echo->options.trial.sends || echo->state != RUNNING) {
		agent_say_error(agent, request->id, "bad", "mark: target= asks no questions now");
		return;
	}
	if (end) {
		atomic_store(&echo->end.ending, true);
	} else if (++echo->marks < ECHO_PARTS_MAX) {
		atomic_store(&echo->end.marks, echo->marks);
	} else {
		agent_say_error(agent, request->id, "bad", "mark: at most 3 a test");
		return;
	}
	echo_end_wake(&echo->end);
	agent_say_ok(agent, request->id);
}
