/* One native TCP trial as a job. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "files.h"
#include "rendezvous.h"
#include "tests.h"
#include "trial_options.h"
#include "trial_report.h"
#include "trial_side.h"
#include "trial_socket.h"

enum { PROGRESS_US = 1000000 };

struct trial {
	struct job job;
	struct trial_options options;
	struct rendezvous meeting;
	int64_t asked_us; /* when the request came */
	bool running;     /* the sides are there */
	struct trial_side sides[2];
	size_t side_count;
	int64_t progress_us;
};

static struct trial *trial_of(struct job *job)
{
	return (struct trial *)job;
}

static const struct trial *const_trial_of(const struct job *job)
{
	return (const struct trial *)job;
}

static size_t trial_watch(
	const struct job *job, const struct agent *agent, struct pollfd *fds, size_t max)
{
	const struct trial *trial = const_trial_of(job);
	size_t count = 0;

	(void)agent;
	if (!trial->running)
		return rendezvous_watch(&trial->meeting, fds, max);
	for (size_t i = 0; i < trial->side_count && count < max; i++) {
		if (!trial->sides[i].over)
			fds[count++] = (struct pollfd){
				.fd = trial->sides[i].streams.event, .events = POLLIN};
	}
	return count;
}

static int64_t setup_end(const struct trial *trial)
{
	return trial->asked_us + trial->options.setup_ms * 1000;
}

static int64_t trial_deadline(const struct job *job)
{
	const struct trial *trial = const_trial_of(job);
	int64_t next = AGENT_NEVER;

	if (!trial->running)
		return setup_end(trial);
	for (size_t i = 0; i < trial->side_count; i++) {
		int64_t wanted = trial->sides[i].over ? next : side_deadline(&trial->sides[i]);

		if (wanted < next)
			next = wanted;
	}
	return next;
}

static int64_t bytes_so_far(const struct trial *trial)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < trial->side_count; i++)
		bytes += trial->sides[i].bytes;
	return bytes;
}

static void say_failure(
	const struct trial *trial, struct agent *agent, const char *code, const char *message)
{
	struct wire_writer *writer = agent_begin(agent, trial->job.id, "error");

	wire_writer_text(writer, "code", code);
	wire_writer_text(writer, "message", message);
	if (trial->running)
		wire_writer_number(writer, "bytes", bytes_so_far(trial));
	agent_end(agent);
}

static void say_connected(const struct trial *trial, struct agent *agent)
{
	struct trial_grants grants;
	struct wire_writer *writer = agent_begin(agent, trial->job.id, "connected");

	trial_socket_describe(trial->meeting.streams[0], &grants);
	wire_writer_number(writer, "streams", trial->options.streams);
	wire_writer_number(writer, "mss", grants.mss);
	wire_writer_text(writer, "congestion", grants.congestion);
	wire_writer_number(writer, "send_buffer", grants.send_buffer);
	wire_writer_number(writer, "receive_buffer", grants.receive_buffer);
	wire_writer_number(writer, "device_bound", trial->meeting.device_bound);
	wire_writer_number(writer, "nodelay", grants.nodelay);
	wire_writer_number(writer, "dscp", grants.dscp);
	if (grants.pacing >= 0)
		wire_writer_number(writer, "pacing", grants.pacing * trial->options.streams);
	agent_end(agent);
}

/*
 * The lower half of the connections carries data from the listener, the upper half to it. One way
 * there is only one half.
 */
static int start_sides(struct trial *trial)
{
	const struct trial_options *options = &trial->options;
	int *fds = trial->meeting.streams;
	bool sends = trial->options.sends;
	int result = 0;

	if (options->sends && options->receives)
		sends = options->listens;
	trial->running = true;
	for (int64_t first = 0; first < options->connections && result == 0;
		first += options->streams) {
		result =
			side_start(&trial->sides[trial->side_count++], options, sends, fds + first);
		memset(fds + first, -1, (size_t)options->streams * sizeof(*fds));
		sends = !sends;
	}
	rendezvous_finish(&trial->meeting, true);
	return result;
}

/* All streams stand. Returns true when that already was the end. */
static bool begin_run(struct trial *trial, struct agent *agent)
{
	say_connected(trial, agent);
	if (trial->options.duration_ms == 0) {
		trial_report_probe(agent, trial->job.id);
		return true;
	}
	int result = start_sides(trial);

	if (result < 0)
		agent_say_errno(agent, trial->job.id, "setup", "starting streams", -result);
	trial->progress_us = clock_now_us();
	return result < 0;
}

static bool advance_setup(struct trial *trial, struct agent *agent)
{
	const char *what = "";
	int result = rendezvous_advance(&trial->meeting, &what);

	if (result > 0)
		return begin_run(trial, agent);
	if (result == -ECONNABORTED) {
		say_failure(trial, agent, "refused",
			"the other end closed the connection before the start");
		return true;
	}
	if (result < 0) {
		agent_say_errno(agent, trial->job.id, "setup", what, -result);
		return true;
	}
	if (clock_now_us() < setup_end(trial))
		return false;
	char message[80];

	snprintf(message, sizeof(message), "%s within %lld ms",
		trial->options.listens ? "nobody connected and showed the token"
				       : "no connection was made and answered",
		(long long)trial->options.setup_ms);
	say_failure(trial, agent, "timeout", message);
	return true;
}

static void say_progress(struct trial *trial, struct agent *agent)
{
	int64_t now = clock_now_us();

	if (now < trial->progress_us + PROGRESS_US)
		return;
	trial->progress_us = now;
	wire_writer_number(
		agent_begin(agent, trial->job.id, "progress"), "bytes", bytes_so_far(trial));
	agent_end(agent);
}

static void say_stalled(
	const struct trial *trial, struct agent *agent, const struct trial_side *side)
{
	char message[80];

	snprintf(message, sizeof(message), "no byte %s in the last %lld ms of %lld ms",
		side->sends ? "left" : "came", (long long)side->silent_us / 1000,
		(long long)(side->looked_us - side->begun_us) / 1000);
	say_failure(trial, agent, "stalled", message);
}

static void say_end(const struct trial *trial, struct agent *agent, enum side_state state)
{
	static const struct {
		const char *code, *message;
	} ends[] = {
		[SIDE_LOST] = {"lost", "the peer closed before half of the time"},
		[SIDE_TOO_MUCH] = {"bad", "the peer sent more bytes than the trial has"},
		[SIDE_TOO_LITTLE] = {"lost", "the peer ended before all bytes had come"},
	};

	say_failure(trial, agent, ends[state].code, ends[state].message);
}

static bool advance_run(struct trial *trial, struct agent *agent)
{
	bool over = true;

	for (size_t i = 0; i < trial->side_count; i++) {
		struct trial_side *side = &trial->sides[i];
		enum side_state state = side->over ? SIDE_OVER : side_advance(side);

		if (state == SIDE_STALLED) {
			say_stalled(trial, agent, side);
			return true;
		}
		if (state > SIDE_OVER) {
			say_end(trial, agent, state);
			return true;
		}
		over = over && state == SIDE_OVER;
	}
	if (over)
		trial_report_sides(agent, trial->job.id, trial->sides, trial->side_count);
	else
		say_progress(trial, agent);
	return over;
}

static bool trial_advance(struct job *job, struct agent *agent)
{
	struct trial *trial = trial_of(job);

	return trial->running ? advance_run(trial, agent) : advance_setup(trial, agent);
}

static void trial_destroy(struct job *job)
{
	struct trial *trial = trial_of(job);

	for (size_t i = 0; i < trial->side_count; i++)
		side_finish(&trial->sides[i]);
	if (!trial->running)
		rendezvous_finish(&trial->meeting, true);
	free(trial);
}

static const struct job_kind trial_kind = {
	.watch = trial_watch,
	.deadline = trial_deadline,
	.advance = trial_advance,
	.destroy = trial_destroy,
	.exclusive = true,
};

/* Appends, cut to what fits. */
static void add_text(char *message, size_t size, const char *text)
{
	strncat(message, text, size - strlen(message) - 1);
}

/* Which ones there are is the host's matter: the user cannot know it. */
static void say_no_congestion(
	struct agent *agent, uint32_t id, const struct trial_options *options, int number)
{
	bool barred = number == EPERM;
	char path[FILES_PATH_MAX], offered[256] = "", message[400] = "congestion control \"";

	if (files_join(path, sizeof(path), agent->root, "/proc/sys/net/ipv4/tcp_",
		    barred ? "allowed" : "available", "_congestion_control", NULL))
		files_read(path, offered, sizeof(offered));
	offered[strcspn(offered, "\n")] = '\0';
	add_text(message, sizeof(message), options->congestion);
	add_text(message, sizeof(message),
		barred ? "\" is not permitted; this host permits "
		       : "\" is not there; this host offers ");
	add_text(message, sizeof(message), *offered ? offered : "none that it tells");
	agent_say_error(agent, id, "setup", message);
}

void trial_begin(struct agent *agent, const struct wire_record *request, bool listens)
{
	struct trial_options options;
	const char *what = trial_options_read(request, listens, &options);

	if (!what)
		what = trial_options_read_method(request, &options);
	if (what) {
		agent_say_error(agent, request->id, "bad", what);
		return;
	}
	if (agent_is_busy(agent)) {
		agent_say_error(agent, request->id, "busy", "a trial is running");
		return;
	}
	struct trial *trial = calloc(1, sizeof(*trial));

	if (!trial) {
		agent_say_error(agent, request->id, "setup", "out of memory");
		return;
	}
	trial->job = (struct job){.id = request->id, .kind = &trial_kind};
	trial->options = options;
	trial->asked_us = clock_now_us();
	int result = rendezvous_init(&trial->meeting, &trial->options, &what);

	if (result < 0) {
		if (strcmp(what, TRIAL_SOCKET_CONGESTION) == 0)
			say_no_congestion(agent, request->id, &options, -result);
		else
			agent_say_errno(agent, request->id, "setup", what, -result);
		free(trial);
		return;
	}
	int port = trial->meeting.port;

	if (!agent_add_job(agent, &trial->job) || !listens)
		return;
	wire_writer_number(agent_begin(agent, request->id, "listening"), "port", port);
	agent_end(agent);
}
