/*
 * One host from nothing to an agent that answers, and until its end: transport, bootstrap, facts,
 * requests, heartbeats. Never blocks: session_step() does what can be done now.
 */
#ifndef SESSION_H
#define SESSION_H

#include "asks.h"
#include "facts.h"
#include "transport.h"

struct session;

enum session_phase {
	SESSION_WAITING, /* for session_begin() */
	SESSION_CONNECTING,
	SESSION_STARTING, /* bootstrap */
	SESSION_MEETING,  /* hello */
	SESSION_READY,
	SESSION_ENDING, /* the agent's end is waited for, shortly */
	SESSION_OVER,   /* session_error() says why */
};

/* NULL only when out of memory; a host without transport is OVER at once. */
struct session *session_create(const struct topology *topology, const struct topology_host *host,
	const char *agent_folder, struct error *err);
void session_free(struct session *session); /* takes NULL */

/* Starts connecting; it has until deadline to become ready. */
void session_begin(struct session *session, int64_t deadline);

void session_step(struct session *session);
size_t session_poll(const struct session *session, struct pollfd *fds);
int64_t session_timer(const struct session *session);

enum session_phase session_phase(const struct session *session);
const struct error *session_error(const struct session *session);
const struct facts *session_facts(const struct session *session);

struct asks *session_asks(struct session *session);

/* Queues text for the agent and writes what goes. Fails when the agent does not read. */
int session_send(struct session *session, const char *text, size_t length, struct error *err);

/* Asks the agent to leave (bye), or ends the bootstrap so that it cleans up. */
void session_end(struct session *session);

/* The host does not do what it should: end it, for this reason. */
void session_drop(struct session *session, const struct error *cause);

#endif
