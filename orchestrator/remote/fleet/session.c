#include "session.h"

#include "bootstrap.h"
#include "deadline.h"
#include "tail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PING_MS       5000 /* an idle agent hears from us this often */
#define PONG_MS       5000 /* and has so long to answer */
#define PATIENCE_IDLE 4000
#define PATIENCE_BUSY 120000 /* control over an overloaded tested link must survive the trial */
#define ENDING_MS     1000
#define UNSENT_MAX    (1u << 20)
#define READ_AT_ONCE  (1u << 20) /* then the other hosts have their turn */

struct session {
	const struct topology_host *host;
	const char *agent_folder;
	enum session_phase phase;
	struct transport *transport;
	struct bootstrap *bootstrap;
	struct wire_reader reader;
	struct asks asks;
	struct ask *hello, *ping;
	struct facts facts;
	struct error error;
	int64_t deadline; /* of the phase */
	int64_t heard, said;
	int64_t patience;
	char *unsent;
	size_t unsent_length;
	bool running;      /* a command runs on the transport */
	bool input_closed; /* while ending */
	bool agent_ended;  /* its end is the error: quote its last words */
	bool more;         /* there is something to do that no descriptor tells of */
};

static const struct transport_ops *ops(const struct session *session)
{
	return session->transport->ops;
}

struct session *session_create(const struct topology *topology, const struct topology_host *host,
	const char *agent_folder, struct error *err)
{
	struct session *session = calloc(1, sizeof(*session));
	const struct transport_ops *found;

	if (!session) {
		error_set(err, ERROR_SYSTEM, host->name, "out of memory");
		return NULL;
	}
	session->host = host;
	session->agent_folder = agent_folder;
	session->phase = SESSION_WAITING;
	session->deadline = DEADLINE_NEVER;
	wire_reader_init(&session->reader);
	found = transport_find(topology, host, &session->error);
	if (found)
		session->transport = found->create(topology, host, &session->error);
	if (!session->transport)
		session->phase = SESSION_OVER;
	return session;
}

static void end_transport(struct session *session)
{
	bootstrap_free(session->bootstrap);
	session->bootstrap = NULL;
	if (session->transport)
		ops(session)->destroy(session->transport);
	session->transport = NULL;
}

/* The last step of a life: whoever still waits hears why. */
static void become_over(struct session *session)
{
	end_transport(session);
	session->phase = SESSION_OVER;
	session->deadline = DEADLINE_NEVER;
	asks_fail(&session->asks, &session->error);
}

void session_free(struct session *session)
{
	if (!session)
		return;
	become_over(session);
	if (session->hello)
		asks_release(&session->asks, session->hello);
	if (session->ping)
		asks_release(&session->asks, session->ping);
	facts_finish(&session->facts);
	free(session->unsent);
	free(session);
}

void session_begin(struct session *session, int64_t deadline)
{
	if (session->phase != SESSION_WAITING)
		return;
	session->phase = SESSION_CONNECTING;
	session->deadline = deadline;
}

enum session_phase session_phase(const struct session *session)
{
	return session->phase;
}

const struct error *session_error(const struct session *session)
{
	return &session->error;
}

const struct facts *session_facts(const struct session *session)
{
	return &session->facts;
}

struct asks *session_asks(struct session *session)
{
	return &session->asks;
}

/* Goes to ENDING: what was left on the host gets the time to clean up after itself. */
static void begin_ending(struct session *session)
{
	if (session->phase >= SESSION_ENDING)
		return;
	session->running = session->phase == SESSION_STARTING
				   ? bootstrap_running(session->bootstrap)
				   : session->phase > SESSION_STARTING;
	session->phase = SESSION_ENDING;
	session->more = true; /* the input must end, though no descriptor may tell of it */
	session->deadline = deadline_now() + ENDING_MS;
	if (!session->running)
		become_over(session);
}

void session_drop(struct session *session, const struct error *cause)
{
	if (session->phase >= SESSION_ENDING)
		return;
	session->error = *cause;
	begin_ending(session);
}

static void drop(struct session *session, const char *what)
{
	struct error cause;

	error_set(&cause, ERROR_HOST, session->host->name, "%s", what);
	session_drop(session, &cause);
}

static void connecting(struct session *session)
{
	struct error err;

	switch (ops(session)->connect(session->transport, &err)) {
	case TRANSPORT_AGAIN:
		return;
	case TRANSPORT_FAILED:
		session_drop(session, &err);
		return;
	case TRANSPORT_DONE:
		break;
	}
	session->bootstrap = bootstrap_create(
		session->transport, session->host, session->agent_folder, &session->reader, &err);
	if (!session->bootstrap) {
		session_drop(session, &err);
		return;
	}
	session->phase = SESSION_STARTING;
}

static struct ask *request(struct session *session, const char *type)
{
	struct wire_writer writer;
	struct ask *ask = asks_add(&session->asks, type);
	struct error err;

	if (!ask) {
		drop(session, "out of memory");
		return NULL;
	}
	wire_writer_begin(&writer, ask->id, type);
	wire_writer_end(&writer);
	asks_sent(ask);
	if (session_send(session, writer.text, writer.length, &err) < 0)
		session_drop(session, &err);
	return ask;
}

static void starting(struct session *session)
{
	struct error err;
	enum transport_status status = bootstrap_step(session->bootstrap, &err);

	if (status == TRANSPORT_AGAIN)
		return;
	if (status == TRANSPORT_FAILED) {
		session_drop(session, &err);
		return;
	}
	bootstrap_free(session->bootstrap);
	session->bootstrap = NULL;
	session->phase = SESSION_MEETING;
	session->more = true; /* lines may have come with the greeting */
	session->heard = deadline_now();
	session->hello = request(session, "hello");
}

static void flush(struct session *session)
{
	size_t done = 0;

	while (done < session->unsent_length) {
		ssize_t put = ops(session)->write(
			session->transport, session->unsent + done, session->unsent_length - done);

		if (put <= 0)
			break; /* a broken connection shows in reading, with its reason */
		done += (size_t)put;
	}
	memmove(session->unsent, session->unsent + done, session->unsent_length - done);
	session->unsent_length -= done;
}

int session_send(struct session *session, const char *text, size_t length, struct error *err)
{
	char *grown;

	if (session->phase != SESSION_READY && session->phase != SESSION_MEETING) {
		if (err)
			*err = session->error;
		return -1;
	}
	if (session->unsent_length + length > UNSENT_MAX)
		return error_set(err, ERROR_HOST, session->host->name,
			"its agent does not read what it is asked");
	grown = realloc(session->unsent, session->unsent_length + length);
	if (!grown)
		return error_set(err, ERROR_SYSTEM, session->host->name, "out of memory");
	session->unsent = grown;
	memcpy(grown + session->unsent_length, text, length);
	session->unsent_length += length;
	session->said = deadline_now();
	flush(session);
	return 0;
}

/* Returns -1 when the host was dropped. */
static int take_line(struct session *session, char *line)
{
	struct wire_record record;
	struct error err;

	if (wire_record_parse(line, &record) < 0) {
		drop(session, "its agent sent a line that is no record; it was dropped");
		return -1;
	}
	if (asks_take(&session->asks, &record, session->host->name, &err) < 0) {
		session_drop(session, &err);
		return -1;
	}
	session->heard = deadline_now();
	return 0;
}

static void read_lines(struct session *session)
{
	size_t taken = 0, space;
	char *line, *free_part;
	ssize_t got;
	int next;

	for (;;) {
		while ((next = wire_reader_next(&session->reader, &line)) == 1)
			if (take_line(session, line) < 0)
				return;
		if (next < 0) {
			drop(session, "its agent sent a line without end; it was dropped");
			return;
		}
		if (taken > READ_AT_ONCE) {
			session->more = true;
			return;
		}
		free_part = wire_reader_space(&session->reader, &space);
		got = ops(session)->read(session->transport, free_part, space);
		if (got == -EAGAIN)
			return;
		if (got <= 0) {
			session->agent_ended = true;
			drop(session, "its agent ended, or the connection to it broke");
			return;
		}
		wire_reader_filled(&session->reader, (size_t)got);
		taken += (size_t)got;
	}
}

static void talk(struct session *session)
{
	session->more = false;
	flush(session);
	read_lines(session);
}

static void meeting(struct session *session)
{
	struct error err;

	talk(session);
	if (session->phase != SESSION_MEETING || !session->hello->done)
		return;
	if (!session->hello->ok) {
		session_drop(session, &session->hello->error);
		return;
	}
	for (size_t i = 0; i < session->hello->record_count; i++) {
		if (facts_add(&session->facts, session->hello->records[i], &err) < 0) {
			session_drop(session, &err);
			return;
		}
	}
	asks_release(&session->asks, session->hello);
	session->hello = NULL;
	session->phase = SESSION_READY;
	session->deadline = DEADLINE_NEVER;
}

static size_t waiting(const struct session *session)
{
	return session->asks.waiting - (session->ping && !session->ping->done ? 1 : 0);
}

/* Silence counts from the last question, so that none from before a trial is held against it. */
static int64_t pong_deadline(const struct session *session)
{
	return (session->heard > session->said ? session->heard : session->said) + PONG_MS;
}

static void heartbeat(struct session *session)
{
	bool busy = waiting(session) > 0;
	int64_t now = deadline_now();

	if (session->patience != (busy ? PATIENCE_BUSY : PATIENCE_IDLE)) {
		session->patience = busy ? PATIENCE_BUSY : PATIENCE_IDLE;
		ops(session)->patience(session->transport, session->patience);
	}
	if (session->ping && session->ping->done) {
		asks_release(&session->asks, session->ping);
		session->ping = NULL;
	}
	if (busy)
		return; /* whoever waits has a deadline of his own */
	if (session->ping && now >= pong_deadline(session))
		drop(session, "its agent did not answer for 5 s: the host or the link is gone");
	else if (!session->ping && now - session->said >= PING_MS)
		session->ping = request(session, "ping");
}

static void ready(struct session *session)
{
	talk(session);
	if (session->phase == SESSION_READY)
		heartbeat(session);
}

static void quote_end(struct session *session, int status, const char *errors)
{
	char line[300];

	tail_last_line(errors, line, sizeof(line));
	if (status > 128)
		error_set(&session->error, ERROR_HOST, session->host->name,
			"its agent was killed by signal %d%s%s", status - 128, line[0] ? ": " : "",
			line);
	else
		error_set(&session->error, ERROR_HOST, session->host->name,
			"its agent ended with status %d%s%s", status, line[0] ? ": " : "", line);
}

static void ending(struct session *session)
{
	const char *errors;
	struct error err;
	int status;

	session->more = false;
	if (!session->input_closed)
		session->input_closed =
			ops(session)->close_input(session->transport, &err) != TRANSPORT_AGAIN;
	switch (ops(session)->finish(session->transport, &status, &errors, &err)) {
	case TRANSPORT_AGAIN:
		return;
	case TRANSPORT_DONE:
		if (session->agent_ended)
			quote_end(session, status, errors);
		break;
	case TRANSPORT_FAILED:
		if (session->agent_ended)
			session->error = err;
		break;
	}
	become_over(session);
}

static void nothing(struct session *session)
{
	(void)session;
}

static void (*const phases[])(struct session *session) = {
	[SESSION_WAITING] = nothing,
	[SESSION_CONNECTING] = connecting,
	[SESSION_STARTING] = starting,
	[SESSION_MEETING] = meeting,
	[SESSION_READY] = ready,
	[SESSION_ENDING] = ending,
	[SESSION_OVER] = nothing,
};

static void time_is_up(struct session *session)
{
	const char *activity = "asking the agent what the host is";
	struct error cause;

	if (session->phase == SESSION_ENDING) {
		become_over(session);
		return;
	}
	if (session->phase == SESSION_CONNECTING)
		activity = ops(session)->step(session->transport);
	else if (session->phase == SESSION_STARTING)
		activity = bootstrap_activity(session->bootstrap);
	error_set(&cause, ERROR_HOST, session->host->name,
		"not ready in time: still %s when the deadline passed;\n"
		"is it up, and does a firewall let this machine in?",
		activity);
	session_drop(session, &cause);
}

void session_step(struct session *session)
{
	enum session_phase before;

	do {
		before = session->phase;
		phases[before](session);
	} while (session->phase != before);
	if (session->deadline != DEADLINE_NEVER && deadline_now() >= session->deadline)
		time_is_up(session);
}

size_t session_poll(const struct session *session, struct pollfd *fds)
{
	if (!session->transport || session->phase == SESSION_WAITING)
		return 0;
	return ops(session)->poll(session->transport, fds);
}

int64_t session_timer(const struct session *session)
{
	int64_t when = session->deadline, other;

	if (!session->transport || session->phase == SESSION_WAITING)
		return DEADLINE_NEVER;
	if (session->more)
		return 0;
	other = ops(session)->timer(session->transport);
	if (other < when)
		when = other;
	if (session->phase == SESSION_READY && waiting(session) == 0) {
		other = session->ping ? pong_deadline(session) : session->said + PING_MS;
		if (other < when)
			when = other;
	}
	return when;
}

void session_end(struct session *session)
{
	static const char bye[] = " bye\n";
	char line[32];

	if (session->phase >= SESSION_ENDING)
		return;
	if (session->phase == SESSION_READY) {
		snprintf(line, sizeof(line), "%u%s", session->asks.last_id + 1, bye);
		session_send(session, line, strlen(line), NULL);
	}
	drop(session, "the session was ended");
}
