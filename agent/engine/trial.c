/* One native TCP trial as a job. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "meter.h"
#include "rendezvous.h"
#include "streams.h"
#include "tests.h"
#include "trial_options.h"
#include "trial_report.h"
#include "trial_socket.h"

enum {
	LOOK_US = 500000, /* how often the counters are looked at, for stalls and wrapping words */
	PROGRESS_US = 1000000,
};

struct trial {
	struct job job;
	struct trial_options options;
	struct rendezvous meeting;
	int64_t asked_us; /* when the request came */
	bool running;
	/* From here on only when running. */
	struct streams streams;
	struct meter meter;
	int64_t begun_us; /* all streams stood */
	int64_t zero_us;  /* the trial's time 0; 0 until the receiver has the first byte */
	int64_t moved_us; /* when bytes were last seen to move */
	int64_t looked_us, progress_us;
	int64_t bytes, acked;
	bool scheduled;
	int64_t run_us, wait_us; /* at the start of the window */
	int64_t app_limited;
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

	(void)agent;
	if (!trial->running)
		return rendezvous_watch(&trial->meeting, fds, max);
	if (max == 0)
		return 0;
	fds[0] = (struct pollfd){.fd = trial->streams.event, .events = POLLIN};
	return 1;
}

static int64_t setup_end(const struct trial *trial)
{
	return trial->asked_us + trial->options.setup_ms * 1000;
}

/* The sender's own end, should it never see the receiver's reset. */
static int64_t run_limit(const struct trial *trial)
{
	return trial->begun_us + (trial->options.duration_ms + trial->options.stall_ms) * 1000;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t trial_deadline(const struct job *job)
{
	const struct trial *trial = const_trial_of(job);

	if (!trial->running)
		return setup_end(trial);
	int64_t next = least(run_limit(trial), trial->looked_us + LOOK_US);

	next = least(next, trial->moved_us + trial->options.stall_ms * 1000);
	/* A sender goes on until the reset; its boundaries end with the duration. */
	if (trial->zero_us && !(trial->options.sends && trial->meter.count &&
				      meter_last(&trial->meter)->at_us >= trial->meter.duration_us))
		next = least(next, trial->zero_us + meter_next_us(&trial->meter));
	return next;
}

static void say_failure(
	const struct trial *trial, struct agent *agent, const char *code, const char *message)
{
	struct wire_writer *writer = agent_begin(agent, trial->job.id, "error");

	wire_writer_text(writer, "code", code);
	wire_writer_text(writer, "message", message);
	if (trial->running)
		wire_writer_number(writer, "bytes", trial->bytes);
	agent_end(agent);
}

/*
 * What the sender put on its way. What was written is more by a full socket buffer (megabytes),
 * which the reset throws away: neither a rate nor the path proof may count it. Kernels before 4.19
 * do not tell; there it is what was written.
 */
static int64_t sent_bytes(const struct trial *trial, const struct stream_info *info)
{
	int64_t greeting = trial->options.listens ? RENDEZVOUS_ANSWER_SIZE : RENDEZVOUS_HELLO_SIZE;

	if (info->items[INFO_BYTES_SENT] == INFO_UNKNOWN ||
		info->items[INFO_BYTES_RETRANSMITTED] == INFO_UNKNOWN)
		return trial->bytes;
	return info->items[INFO_BYTES_SENT] - info->items[INFO_BYTES_RETRANSMITTED] -
	       greeting * trial->options.streams;
}

static void take_sample(struct trial *trial, int64_t now)
{
	struct meter_sample sample = {.at_us = now - trial->zero_us, .bytes = trial->bytes};

	if (trial->options.sends) {
		int fds[TRIAL_STREAMS_MAX];

		streams_fds(&trial->streams, fds);
		stream_info_read(fds, trial->streams.count, &sample.info);
		/* The threads may have begun before the first sample was taken. */
		sample.bytes = trial->meter.count > 0 ? sent_bytes(trial, &sample.info) : 0;
		if (sample.info.items[INFO_APP_LIMITED] > 0)
			trial->app_limited++;
	}
	if (meter_add(&trial->meter, &sample))
		trial->scheduled =
			streams_scheduling(&trial->streams, &trial->run_us, &trial->wait_us);
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
	agent_end(agent);
}

/* All streams stand. Returns true when that already was the end. */
static bool begin_run(struct trial *trial, struct agent *agent)
{
	const struct trial_options *options = &trial->options;

	say_connected(trial, agent);
	if (options->duration_ms == 0) {
		const struct trial_result nothing = {.method = "probe"};

		trial_report_ok(agent, trial->job.id, &trial->meter, &nothing);
		return true;
	}
	int result = meter_init(&trial->meter, options->duration_ms * 1000, options->omit_ms * 1000,
		options->interval_ms * 1000);

	rendezvous_finish(&trial->meeting, result < 0);
	if (result == 0)
		result = streams_start(&trial->streams, options, trial->meeting.streams);
	memset(trial->meeting.streams, -1, sizeof(trial->meeting.streams));
	if (result < 0) {
		agent_say_errno(agent, trial->job.id, "setup", "starting streams", -result);
		return true;
	}
	trial->running = true;
	trial->begun_us = clock_now_us();
	trial->moved_us = trial->begun_us;
	trial->looked_us = trial->begun_us;
	trial->progress_us = trial->begun_us;
	if (options->sends) {
		trial->zero_us = trial->begun_us;
		take_sample(trial, trial->zero_us);
	}
	return false;
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
	say_failure(trial, agent, "timeout",
		trial->options.listens ? "no connection with the token came in setup_ms"
				       : "no connection with an answer stood in setup_ms");
	return true;
}

static bool is_stalled(struct trial *trial, int64_t now)
{
	if (now < trial->moved_us + trial->options.stall_ms * 1000)
		return false;
	if (!trial->options.sends)
		return true;
	/* On a slow link one write may take longer than that: what counts is what arrives. */
	struct stream_info info;
	int fds[TRIAL_STREAMS_MAX];

	streams_fds(&trial->streams, fds);
	stream_info_read(fds, trial->streams.count, &info);
	int64_t acked = info.items[INFO_BYTES_ACKED];
	bool moved = acked == INFO_UNKNOWN || acked != trial->acked;

	trial->acked = acked;
	if (moved)
		trial->moved_us = now;
	return !moved;
}

/* Stops counting, then the threads, then says how it went. */
static void finish_run(struct trial *trial, struct agent *agent, int64_t now)
{
	struct trial_result result = {.sends = trial->options.sends};
	int64_t run_us, wait_us;

	if (now - trial->zero_us > meter_last(&trial->meter)->at_us)
		take_sample(trial, now);
	result.scheduled =
		streams_scheduling(&trial->streams, &run_us, &wait_us) && trial->scheduled;
	result.run_us = result.scheduled ? run_us - trial->run_us : 0;
	result.wait_us = result.scheduled ? wait_us - trial->wait_us : 0;
	result.app_limited = trial->app_limited;
	result.method = streams_method(&trial->streams);
	streams_stop(&trial->streams);
	trial_report_intervals(agent, trial->job.id, &trial->meter, result.sends);
	trial_report_ok(agent, trial->job.id, &trial->meter, &result);
}

static void say_progress(struct trial *trial, struct agent *agent, int64_t now)
{
	if (now < trial->progress_us + PROGRESS_US)
		return;
	trial->progress_us = now;
	wire_writer_number(agent_begin(agent, trial->job.id, "progress"), "bytes", trial->bytes);
	agent_end(agent);
}

static void look_at_counters(struct trial *trial, int64_t now)
{
	int64_t bytes = streams_bytes(&trial->streams);

	if (!trial->zero_us && atomic_load(&trial->streams.started)) {
		int64_t counted = trial->bytes;

		trial->zero_us = trial->streams.first_us;
		trial->bytes = 0;
		take_sample(trial, trial->zero_us);
		trial->bytes = counted;
	}
	if (bytes != trial->bytes)
		trial->moved_us = now;
	trial->bytes = bytes;
	trial->looked_us = now;
}

/* The peer has closed. Too early it is a loss; else what was measured until then counts. */
static void meet_the_end(struct trial *trial, struct agent *agent, int64_t now)
{
	int64_t elapsed = trial->zero_us ? now - trial->zero_us : 0;

	if (elapsed < trial->options.duration_ms * 1000 / 2 ||
		elapsed <= trial->options.omit_ms * 1000)
		say_failure(trial, agent, "lost", "the peer closed before half of the time");
	else
		finish_run(trial, agent, now);
}

static bool advance_run(struct trial *trial, struct agent *agent)
{
	streams_acknowledge(&trial->streams);
	bool ended = atomic_load(&trial->streams.ended) > 0;
	int64_t now = clock_now_us();

	look_at_counters(trial, now);
	int64_t elapsed = trial->zero_us ? now - trial->zero_us : -1;
	bool over = trial->options.sends ? now >= run_limit(trial)
					 : elapsed >= trial->meter.duration_us;

	if (over) {
		finish_run(trial, agent, now);
		return true;
	}
	if (ended) {
		meet_the_end(trial, agent, now);
		return true;
	}
	if (is_stalled(trial, now)) {
		say_failure(trial, agent, "stalled", "no byte moved for stall_ms");
		return true;
	}
	if (elapsed >= 0 && meter_last(&trial->meter)->at_us < trial->meter.duration_us &&
		elapsed >= meter_next_us(&trial->meter))
		take_sample(trial, now);
	say_progress(trial, agent, now);
	return false;
}

static bool trial_advance(struct job *job, struct agent *agent)
{
	struct trial *trial = trial_of(job);

	return trial->running ? advance_run(trial, agent) : advance_setup(trial, agent);
}

static void trial_destroy(struct job *job)
{
	struct trial *trial = trial_of(job);

	if (trial->running)
		streams_stop(&trial->streams);
	else
		rendezvous_finish(&trial->meeting, true);
	meter_finish(&trial->meter);
	free(trial);
}

static const struct job_kind trial_kind = {
	.watch = trial_watch,
	.deadline = trial_deadline,
	.advance = trial_advance,
	.destroy = trial_destroy,
	.exclusive = true,
};

void trial_begin(struct agent *agent, const struct wire_record *request, bool listens)
{
	struct trial_options options;
	const char *what = trial_options_read(request, listens, &options);

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
