/* Asking and waiting: what straight-line code above the loop uses. */
#include "fleet_internal.h"

#include <stdio.h>
#include <string.h>

struct ask *fleet_ask(struct fleet *fleet, size_t host, const char *type,
	struct wire_writer *writer, struct error *err)
{
	struct ask *ask;

	if (!fleet_host_ready(fleet, host)) {
		if (err)
			*err = *fleet_host_error(fleet, host);
		return NULL;
	}
	ask = asks_add(session_asks(fleet->sessions[host]), type);
	if (!ask) {
		error_set(err, ERROR_SYSTEM, fleet->topology->hosts[host].name, "out of memory");
		return NULL;
	}
	ask->fleet = fleet;
	ask->host = host;
	wire_writer_begin(writer, ask->id, type);
	return ask;
}

int fleet_send(struct ask *ask, struct wire_writer *writer, struct error *err)
{
	struct session *session = ask->fleet->sessions[ask->host];
	const char *name = ask->fleet->topology->hosts[ask->host].name;
	int length = wire_writer_end(writer);

	if (length < 0)
		return error_set(
			err, ERROR_TRIAL, name, "a request of more than %d bytes", WIRE_LINE_MAX);
	if (ask->done) { /* the host was lost between ask and send */
		if (err)
			*err = ask->error;
		return -1;
	}
	asks_sent(ask);
	return session_send(session, writer->text, (size_t)length, err);
}

static bool any_failed(struct ask *const *asks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (asks[i]->done && !asks[i]->ok)
			return true;
	return false;
}

static bool all_done(struct ask *const *asks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!asks[i]->done)
			return false;
	return true;
}

/* Names each host once that has not answered. */
static int late(struct ask *const *asks, size_t count, struct error *err)
{
	char names[300] = "";
	size_t length = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = asks[i]->fleet->topology->hosts[asks[i]->host].name;
		bool named = asks[i]->done;

		for (size_t j = 0; j < i; j++)
			named = named || (!asks[j]->done && asks[j]->host == asks[i]->host);
		if (!named && length < sizeof(names))
			length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s",
				length ? ", " : "", name);
	}
	return error_set(err, ERROR_TRIAL, names, "no answer before the deadline");
}

int fleet_await(struct fleet *fleet, struct ask *const *asks, size_t count, int64_t deadline,
	struct error *err)
{
	while (!all_done(asks, count) && !any_failed(asks, count)) {
		if (fleet_now() >= deadline)
			return late(asks, count, err);
		if (fleet_pump(fleet, deadline, err) < 0)
			return -1;
	}
	return 0;
}

const struct wire_record *fleet_await_record(
	struct fleet *fleet, struct ask *ask, const char *type, int64_t deadline, struct error *err)
{
	for (;;) {
		for (size_t i = 0; i < ask->record_count; i++)
			if (strcmp(ask->records[i]->type, type) == 0)
				return ask->records[i];
		if (ask->done && !ask->ok) {
			if (err)
				*err = ask->error;
			return NULL;
		}
		if (ask->done) {
			error_set(err, ERROR_TRIAL, fleet->topology->hosts[ask->host].name,
				"its agent answered without a record \"%s\"", type);
			return NULL;
		}
		if (fleet_now() >= deadline) {
			late(&ask, 1, err);
			return NULL;
		}
		if (fleet_pump(fleet, deadline, err) < 0)
			return NULL;
	}
}

int fleet_idle(struct fleet *fleet, int64_t until, struct error *err)
{
	do {
		if (fleet_pump(fleet, until, err) < 0)
			return -1;
	} while (fleet_now() < until);
	return 0;
}

/* The agent's answer to the cancel interests nobody, only that the request ends. */
static void cancel(struct session *session, uint32_t target)
{
	struct wire_writer writer;
	struct ask *ask = asks_add(session_asks(session), "cancel");
	int length;

	if (!ask)
		return;
	wire_writer_begin(&writer, ask->id, "cancel");
	wire_writer_number(&writer, "target", target);
	length = wire_writer_end(&writer);
	asks_sent(ask);
	if (length > 0)
		session_send(session, writer.text, (size_t)length, NULL);
	asks_release(session_asks(session), ask);
}

void ask_free(struct ask *ask)
{
	struct session *session;
	bool unanswered;
	uint32_t id;

	if (!ask)
		return;
	session = ask->fleet->sessions[ask->host];
	unanswered = !ask->done && asks_was_sent(ask);
	id = ask->id;
	asks_release(session_asks(session), ask);
	if (unanswered)
		cancel(session, id);
}
