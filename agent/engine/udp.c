/*
 * One native UDP test as a job: the rendezvous of a TCP test with one stream, whose connection
 * stays as control; a hello by UDP through whatever NAT is between; datagrams; the sender's word of
 * how many they were.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "clock.h"
#include "meter.h"
#include "rendezvous.h"
#include "tests.h"
#include "udp_options.h"
#include "udp_receive.h"
#include "udp_report.h"
#include "udp_send.h"
#include "udp_socket.h"
#include "udp_wire.h"

enum {
	MET = 'U',
	GREET_US = 50000, /* between two hellos */
	PORTS_TRIED = 16,
	WORD_SIZE = 8,        /* how many datagrams were sent */
	STRAGGLE_US = 250000, /* without a straggler is the end of them */
	STRAGGLE_MAX_US = 2000000,
	LOOK_US = 500000,
	PROGRESS_US = 1000000,
};

enum phase { PHASE_MEET, PHASE_GREET, PHASE_RUN, PHASE_CLOSE };

struct udp_test {
	struct job job;
	struct udp_options options;
	struct rendezvous meeting;
	enum phase phase;
	int fd;      /* the datagrams' */
	int control; /* -1 until the rendezvous is over */
	int64_t asked_us, greeted_us;
	struct udp_sender sender;
	struct udp_receiver receiver;
	bool running; /* the one of the two that this end is */
	struct meter meter;
	int64_t begun_us;
	int64_t zero_us; /* the test's time 0; 0 until the receiver has the first datagram */
	int64_t looked_us, progress_us, closing_us;
	int64_t bytes, packets, lost, moved_us;
	bool noted, scheduled;
	int64_t run_us, wait_us; /* at the start of the window */
	unsigned char word[WORD_SIZE];
	size_t word_length;
	int64_t word_us; /* when it was whole */
};

static struct udp_test *test_of(struct job *job)
{
	return (struct udp_test *)job;
}

static const struct udp_test *const_test_of(const struct job *job)
{
	return (const struct udp_test *)job;
}

static bool sends(const struct udp_test *test)
{
	return test->options.trial.sends;
}

static int64_t duration_us(const struct udp_test *test)
{
	return test->options.trial.duration_ms * 1000;
}

/* At the lowest rates two datagrams are further apart than the stall time. */
static int64_t stall_us(const struct udp_test *test)
{
	int64_t stall = test->options.trial.stall_ms * 1000;
	int64_t rate = test->options.rate;
	int64_t gap = rate > 0 ? 3 * test->options.size * 8 * 1000000 / rate : 0;

	return gap > stall ? gap : stall;
}

static size_t udp_watch(
	const struct job *job, const struct agent *agent, struct pollfd *fds, size_t max)
{
	const struct udp_test *test = const_test_of(job);
	size_t count = 0;

	(void)agent;
	if (test->phase == PHASE_MEET)
		return rendezvous_watch(&test->meeting, fds, max);
	/* After its word a sender's control has no more to say than its end. */
	if (count < max && test->word_length < WORD_SIZE)
		fds[count++] = (struct pollfd){.fd = test->control, .events = POLLIN};
	else if (count < max && sends(test))
		fds[count++] = (struct pollfd){.fd = test->control, .events = POLLIN};
	if (count < max && test->phase == PHASE_GREET && test->options.trial.listens)
		fds[count++] = (struct pollfd){.fd = test->fd, .events = POLLIN};
	if (count < max && test->running && !sends(test))
		fds[count++] = (struct pollfd){.fd = test->receiver.event, .events = POLLIN};
	return count;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t setup_end(const struct udp_test *test)
{
	return test->asked_us + test->options.trial.setup_ms * 1000;
}

static int64_t straggle_end(const struct udp_test *test)
{
	int64_t quiet =
		(test->moved_us > test->word_us ? test->moved_us : test->word_us) + STRAGGLE_US;

	return least(quiet, test->word_us + STRAGGLE_MAX_US);
}

static int64_t udp_deadline(const struct job *job)
{
	const struct udp_test *test = const_test_of(job);
	int64_t stalled = test->moved_us + stall_us(test);

	if (test->phase == PHASE_MEET ||
		(test->phase == PHASE_GREET && test->options.trial.listens))
		return setup_end(test);
	if (test->phase == PHASE_GREET)
		return least(setup_end(test), test->greeted_us + GREET_US);
	if (test->phase == PHASE_CLOSE)
		return test->word_us && !sends(test)
			       ? straggle_end(test)
			       : test->closing_us + test->options.trial.stall_ms * 1000;
	int64_t next = least(test->looked_us + LOOK_US, stalled);

	if (test->zero_us && sends(test))
		next = least(next, test->zero_us + meter_next_us(&test->meter));
	if (test->zero_us && !test->noted)
		next = least(next, test->zero_us + test->options.trial.omit_ms * 1000);
	return test->zero_us ? least(next, test->zero_us + duration_us(test)) : next;
}

static bool fail(
	const struct udp_test *test, struct agent *agent, const char *code, const char *message)
{
	struct wire_writer *writer = agent_begin(agent, test->job.id, "error");

	wire_writer_text(writer, "code", code);
	wire_writer_text(writer, "message", message);
	if (test->running)
		wire_writer_number(writer, "bytes", test->bytes);
	agent_end(agent);
	return true;
}

static bool fail_errno(
	const struct udp_test *test, struct agent *agent, const char *what, int number)
{
	agent_say_errno(agent, test->job.id, "setup", what, number);
	return true;
}

static bool read_scheduling(const struct udp_test *test, int64_t *ret_run_us, int64_t *ret_wait_us)
{
	return data_thread_scheduling(sends(test) ? &test->sender.thread : &test->receiver.thread,
		ret_run_us, ret_wait_us);
}

/* The sender's; a receiver's are taken by its thread. */
static void take_sample(struct udp_test *test, int64_t now)
{
	const struct meter_sample sample = {
		.at_us = now - test->zero_us,
		.bytes = test->bytes,
		.packets = test->packets,
	};

	meter_add(&test->meter, &sample);
}

static void note_scheduling(struct udp_test *test, int64_t now)
{
	if (test->noted || now - test->zero_us < test->options.trial.omit_ms * 1000)
		return;
	test->noted = true;
	test->scheduled = read_scheduling(test, &test->run_us, &test->wait_us);
}

static void look(struct udp_test *test, int64_t now)
{
	struct udp_received received;
	struct udp_sent sent;

	test->looked_us = now;
	if (sends(test)) {
		udp_sender_look(&test->sender, &sent);
		if (sent.packets != test->packets)
			test->moved_us = now;
		test->packets = sent.packets;
		test->bytes = sent.bytes;
		return;
	}
	udp_receiver_look(&test->receiver, &received);
	test->packets = received.packets;
	test->bytes = received.bytes;
	test->lost = received.lost;
	if (received.last_us > test->moved_us)
		test->moved_us = received.last_us;
	if (!test->zero_us && received.first_us) {
		udp_receiver_await(&test->receiver, INT64_MAX);
		test->zero_us = received.first_us;
	}
}

static void say_connected(const struct udp_test *test, struct agent *agent)
{
	struct wire_writer *writer = agent_begin(agent, test->job.id, "connected");
	int size = 0;
	socklen_t length = sizeof(size);

	wire_writer_number(writer, "streams", 1);
	getsockopt(test->fd, SOL_SOCKET, SO_SNDBUF, &size, &length);
	wire_writer_number(writer, "send_buffer", size);
	length = sizeof(size);
	getsockopt(test->fd, SOL_SOCKET, SO_RCVBUF, &size, &length);
	wire_writer_number(writer, "receive_buffer", size);
	wire_writer_number(writer, "device_bound", test->meeting.device_bound);
	agent_end(agent);
}

static bool probe_ends(const struct udp_test *test, struct agent *agent)
{
	struct wire_writer *writer = agent_begin(agent, test->job.id, "ok");

	wire_writer_number(writer, "bytes", 0);
	wire_writer_number(writer, "window_us", 0);
	wire_writer_number(writer, "total_bytes", 0);
	wire_writer_number(writer, "elapsed_us", 0);
	wire_writer_text(writer, "method", "probe");
	agent_end(agent);
	return true;
}

/* Both ends stand. Returns true when that already was the end. */
static bool begin_run(struct udp_test *test, struct agent *agent)
{
	const struct trial_options *trial = &test->options.trial;

	say_connected(test, agent);
	if (trial->duration_ms == 0)
		return probe_ends(test, agent);
	int result = meter_init(
		&test->meter, duration_us(test), trial->omit_ms * 1000, trial->interval_ms * 1000);

	udp_socket_arm(test->fd);
	test->begun_us = clock_now_us();
	if (result == 0)
		result = sends(test) ? udp_sender_start(&test->sender, &test->options, test->fd)
				     : udp_receiver_start(&test->receiver, &test->options, test->fd,
					       &test->meter);
	if (result < 0)
		return fail_errno(test, agent, "starting the data thread", -result);
	test->running = true;
	test->phase = PHASE_RUN;
	test->moved_us = test->looked_us = test->progress_us = test->begun_us;
	if (sends(test)) {
		test->zero_us = test->begun_us;
		take_sample(test, test->zero_us);
	}
	return false;
}

static bool advance_meeting(struct udp_test *test, struct agent *agent)
{
	const char *what = "";
	int result = rendezvous_advance(&test->meeting, &what);

	if (result == -ECONNABORTED)
		return fail(test, agent, "refused",
			"the other end closed the connection before the start");
	if (result < 0)
		return fail_errno(test, agent, what, -result);
	if (result > 0) {
		test->control = test->meeting.streams[0];
		test->meeting.streams[0] = -1;
		rendezvous_finish(&test->meeting, false);
		test->phase = PHASE_GREET;
		return false;
	}
	if (clock_now_us() < setup_end(test))
		return false;
	return fail(test, agent, "timeout",
		test->options.trial.listens ? "no connection with the token came in setup_ms"
					    : "no connection with an answer stood in setup_ms");
}

/* Returns 1 when the peer said it, 0 when not yet, -1 when it is gone. */
static int hear_control(const struct udp_test *test, void *into, size_t size, size_t *got_before)
{
	ssize_t got = recv(test->control, (char *)into + *got_before, size - *got_before, 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return -1;
	*got_before += (size_t)got;
	return *got_before == size;
}

/* Listening: waits for the hello by UDP, and says so. */
static int await_hello(struct udp_test *test)
{
	static const char met = MET;
	char nothing;
	size_t none = 0;
	int result = udp_socket_meet(test->fd, &test->options);

	if (result == 0)
		return hear_control(test, &nothing, 1, &none);
	if (result > 0 && send(test->control, &met, 1, MSG_NOSIGNAL) != 1)
		return -1;
	return result;
}

/* Connecting: says hello until the listener has heard it. */
static int say_hello(struct udp_test *test, int64_t now)
{
	char answer = 0;
	size_t length = 0;
	int result = hear_control(test, &answer, 1, &length);

	if (result > 0 && answer != MET)
		return -1;
	if (result == 0 && now >= test->greeted_us + GREET_US) {
		udp_socket_greet(test->fd, &test->options);
		test->greeted_us = now;
	}
	return result;
}

static bool advance_greeting(struct udp_test *test, struct agent *agent)
{
	int64_t now = clock_now_us();
	int result = test->options.trial.listens ? await_hello(test) : say_hello(test, now);

	if (result > 0)
		return begin_run(test, agent);
	if (result < 0)
		return fail(test, agent, "refused",
			"the other end closed the connection before the start");
	if (now < setup_end(test))
		return false;
	return fail(test, agent, "timeout",
		test->options.trial.listens
			? "TCP came through, but no UDP in setup_ms: is UDP filtered on the way?"
			: "TCP goes through, but no UDP in setup_ms: is UDP filtered on the way?");
}

static bool finish(struct udp_test *test, struct agent *agent)
{
	struct udp_result result = {0};
	int64_t run_us, wait_us;

	result.scheduled = test->scheduled && read_scheduling(test, &run_us, &wait_us);
	result.run_us = result.scheduled ? run_us - test->run_us : 0;
	result.wait_us = result.scheduled ? wait_us - test->wait_us : 0;
	if (!sends(test))
		udp_receiver_stop(&test->receiver);
	udp_report_intervals(agent, test->job.id, &test->meter, !sends(test));
	if (sends(test))
		udp_report_sent(agent, test->job.id, &test->meter, &test->sender, &result);
	else
		udp_report_received(agent, test->job.id, &test->meter, &test->receiver,
			udp_wire_get(test->word), &result);
	return true;
}

/* The sender's time is up: nothing leaves any more, and the receiver learns how many did. */
static bool close_sender(struct udp_test *test, struct agent *agent)
{
	udp_sender_stop(&test->sender);
	look(test, clock_now_us());
	take_sample(test, test->looked_us);
	udp_wire_put(test->word, (uint64_t)test->packets);
	test->word_length = WORD_SIZE;
	test->word_us = test->looked_us;
	/* The first bytes on the connection since the greeting: they fit its buffer. */
	if (send(test->control, test->word, WORD_SIZE, MSG_NOSIGNAL) != WORD_SIZE)
		return fail(test, agent, "lost", "the receiver closed before the end");
	return false;
}

static bool say_progress(struct udp_test *test, struct agent *agent, int64_t now)
{
	if (now >= test->progress_us + PROGRESS_US) {
		test->progress_us = now;
		wire_writer_number(
			agent_begin(agent, test->job.id, "progress"), "bytes", test->bytes);
		agent_end(agent);
	}
	return false;
}

/* Reads what the other end has to say. Returns false when it is gone too early. */
static bool hear_word(struct udp_test *test, int64_t now)
{
	char nothing;
	size_t none = 0;

	if (sends(test))
		return hear_control(test, &nothing, 1, &none) == 0;
	if (test->word_length == WORD_SIZE)
		return true;
	int result = hear_control(test, test->word, WORD_SIZE, &test->word_length);

	if (result > 0)
		test->word_us = now;
	return result >= 0;
}

static bool advance_run(struct udp_test *test, struct agent *agent)
{
	int64_t now = clock_now_us();

	look(test, now);
	if (!hear_word(test, now))
		return fail(test, agent, "lost", "the peer closed before the end");
	if (!test->zero_us && test->word_us && now >= test->word_us + STRAGGLE_US)
		return fail(test, agent, "stalled", "not one datagram came: is UDP filtered?");
	if (now >= test->moved_us + stall_us(test))
		return fail(test, agent, "stalled", "no datagram moved for stall_ms");
	if (test->zero_us && now - test->zero_us >= duration_us(test)) {
		test->phase = PHASE_CLOSE;
		test->closing_us = now;
		if (sends(test))
			return close_sender(test, agent);
		return false;
	}
	if (test->zero_us)
		note_scheduling(test, now);
	if (sends(test) && now - test->zero_us >= meter_next_us(&test->meter))
		take_sample(test, now);
	return say_progress(test, agent, now);
}

/* The sender waits for the receiver's end; the receiver for the word, and for stragglers. */
static bool advance_closing(struct udp_test *test, struct agent *agent)
{
	int64_t now = clock_now_us();
	bool there = hear_word(test, now);
	bool late = now >= test->closing_us + test->options.trial.stall_ms * 1000;

	if (sends(test)) {
		if (!there)
			return finish(test, agent);
		return late && fail(test, agent, "lost", "the receiver did not end its side");
	}
	look(test, now);
	if (test->word_us &&
		(test->packets >= (int64_t)udp_wire_get(test->word) || now >= straggle_end(test)))
		return finish(test, agent);
	if (!there || (late && !test->word_us))
		return fail(test, agent, "lost", "the sender did not say how many it sent");
	return false;
}

static bool udp_advance(struct job *job, struct agent *agent)
{
	static bool (*const phases[])(struct udp_test * test, struct agent * agent) = {
		[PHASE_MEET] = advance_meeting,
		[PHASE_GREET] = advance_greeting,
		[PHASE_RUN] = advance_run,
		[PHASE_CLOSE] = advance_closing,
	};
	struct udp_test *test = test_of(job);
	enum phase before = test->phase;
	bool over = phases[before](test, agent);

	/* What the next phase waits for may be there already. */
	return over || (test->phase != before && phases[test->phase](test, agent));
}

static void udp_destroy(struct job *job)
{
	struct udp_test *test = test_of(job);

	if (test->running && sends(test)) {
		udp_sender_stop(&test->sender);
		udp_sender_finish(&test->sender);
	} else if (test->running) {
		udp_receiver_stop(&test->receiver);
		udp_receiver_finish(&test->receiver);
	}
	rendezvous_finish(&test->meeting, true);
	if (test->control >= 0)
		close(test->control);
	if (test->fd >= 0)
		close(test->fd);
	meter_finish(&test->meter);
	free(test);
}

static const struct job_kind udp_kind = {
	.watch = udp_watch,
	.deadline = udp_deadline,
	.advance = udp_advance,
	.destroy = udp_destroy,
	.exclusive = true,
};

/* The rendezvous and the UDP socket, at a listener with one port number. */
static int open_both(struct udp_test *test, const char **ret_what)
{
	struct trial_options *trial = &test->options.trial;

	for (int i = 0; i < PORTS_TRIED; i++) {
		int result = rendezvous_init(&test->meeting, trial, ret_what);

		if (result < 0)
			return result;
		test->fd = udp_socket_open(
			&test->options, trial->listens ? test->meeting.port : 0, ret_what);
		if (test->fd >= 0)
			return 0;
		rendezvous_finish(&test->meeting, true);
		/* A UDP socket of somebody else has the number: the next one, or any other. */
		if (test->fd != -EADDRINUSE || !trial->listens ||
			(trial->port && test->meeting.port >= trial->port_last))
			break;
		if (trial->port)
			trial->port = test->meeting.port + 1;
	}
	return test->fd;
}

void udp_begin(struct agent *agent, const struct wire_record *request, bool listens)
{
	struct udp_options options;
	const char *what = udp_options_read(request, listens, &options);

	if (what) {
		agent_say_error(agent, request->id, "bad", what);
		return;
	}
	if (agent_is_busy(agent)) {
		agent_say_error(agent, request->id, "busy", "a trial is running");
		return;
	}
	struct udp_test *test = calloc(1, sizeof(*test));

	if (!test) {
		agent_say_error(agent, request->id, "setup", "out of memory");
		return;
	}
	test->job = (struct job){.id = request->id, .kind = &udp_kind};
	test->options = options;
	test->asked_us = clock_now_us();
	test->control = -1;
	int result = open_both(test, &what);

	if (result < 0) {
		agent_say_errno(agent, request->id, "setup", what, -result);
		free(test);
		return;
	}
	int port = test->meeting.port;

	if (!agent_add_job(agent, &test->job) || !listens)
		return;
	wire_writer_number(agent_begin(agent, request->id, "listening"), "port", port);
	agent_end(agent);
}
