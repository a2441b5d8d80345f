/*
 * All hosts of a run in one poll loop: reached in parallel, their agents uploaded and started, then
 * asked. An `ask` is one request and all that came back for it. Waiting pumps the loop for every
 * host (heartbeats included), so that straight-line code above never blocks it. One dead host
 * never ends the process: its asks fail, the others go on.
 */
#ifndef FLEET_H
#define FLEET_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "facts.h"
#include "topology.h"
#include "wire.h"

struct fleet;

struct fleet_settings {
	int64_t connect_ms; /* deadline for reaching a host and starting its agent; 0 = 15 s */
	const char *agent_folder; /* folder of orch-agent-FAMILY files; NULL = search
				     (docs/bootstrap.md) */
	const bool *wanted;       /* per host: false = not needed by the plan; NULL = all */
};

/*
 * Ignores SIGPIPE from here on: a host that goes away is an error of that host. A host that nothing
 * can be started on is one that is not ready; only ERROR_SYSTEM fails.
 */
struct fleet *fleet_create(
	const struct topology *topology, const struct fleet_settings *settings, struct error *err);

/*
 * Says bye, waits at most a second for the agents' ends, ends children; takes NULL. Asks must be
 * freed before.
 */
void fleet_free(struct fleet *fleet);

/*
 * Reaches every wanted host, uploads and starts agents, gets hello. Returns 0 when the loop is
 * through, also with hosts that failed (fleet_host_error); -1 only for ERROR_INTERRUPTED/SYSTEM.
 */
int fleet_start(struct fleet *fleet, struct error *err);

bool fleet_host_ready(const struct fleet *fleet, size_t host);
const struct error *fleet_host_error(const struct fleet *fleet, size_t host); /* why not ready */
const struct facts *fleet_host_facts(const struct fleet *fleet, size_t host);

/* Milliseconds on CLOCK_MONOTONIC. */
int64_t fleet_now(void);

/*
 * One request to one host. Records stay valid until the ask is freed; they hold no more fields than
 * field_count says, so never copy one by value. An agent that sends more than 100,000 records or
 * 32 MB for one ask is dropped.
 */
struct ask {
	struct fleet *fleet;
	size_t host;
	uint32_t id;
	bool done;                          /* final record came, or the host was lost */
	bool ok;                            /* final record was `ok` */
	struct error error;                 /* set when done and not ok; names the host */
	const struct wire_record **records; /* all but the final one, in order */
	size_t record_count;
	const struct wire_record
		*final;   /* the `ok` or `error` record; NULL when the host was lost */
	struct ask *next; /* the fleet's */
};

/* Begins a request: gives it an id and begins writer with it. Fails when the host is not ready. */
struct ask *fleet_ask(struct fleet *fleet, size_t host, const char *type,
	struct wire_writer *writer, struct error *err);

/* Ends the writer's line and sends it. */
int fleet_send(struct ask *ask, struct wire_writer *writer, struct error *err);

/*
 * Pumps until every ask is done or deadline (fleet_now() time) passes (ERROR_TRIAL naming the hosts
 * that did not answer) or the user interrupts (ERROR_INTERRUPTED). Returns 0 when all are done,
 * whether ok or not. Stops early, with 0, as soon as one ask is done and not ok.
 */
int fleet_await(struct fleet *fleet, struct ask *const *asks, size_t count, int64_t deadline,
	struct error *err);

/* Pumps until a record of this type came for the ask, or it is done. NULL with err set otherwise.
 */
const struct wire_record *fleet_await_record(struct fleet *fleet, struct ask *ask, const char *type,
	int64_t deadline, struct error *err);

/* Pumps the loop for a while (heartbeats, late records); -1 when interrupted. */
int fleet_idle(struct fleet *fleet, int64_t until, struct error *err);

void ask_free(struct ask *ask); /* cancels it on the host when it is not done; takes NULL */

/* Routes SIGINT, SIGTERM and SIGHUP to the loop; the second one ends the process at once. */
int fleet_catch_signals(struct fleet *fleet, struct error *err);

/*
 * For short steps that must not be left half done (a lab, a run file): the same signals wait, for
 * fleet_catch_signals() or for the mask that was before. ret_before may be NULL.
 */
void fleet_hold_signals(sigset_t *ret_before);

#endif
