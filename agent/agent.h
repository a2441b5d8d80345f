/*
 * The agent: requests come in as lines, are looked up in a table, and either answered at once or
 * turned into a job that the loop keeps until its final record.
 */
#ifndef AGENT_H
#define AGENT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "wire.h"

enum {
	AGENT_JOBS_MAX = 16,
	AGENT_FDS_MAX = 256,
};

#define AGENT_NEVER INT64_MAX

struct agent;
struct job;

struct job_kind {
	/* Fills in at most max descriptors to wait for; returns their number. */
	size_t (*watch)(
		const struct job *job, const struct agent *agent, struct pollfd *fds, size_t max);
	/* When it wants to be advanced at the latest (monotonic us). */
	int64_t (*deadline)(const struct job *job);
	/* Does what can be done without blocking. True once the final record has been said. */
	bool (*advance)(struct job *job, struct agent *agent);
	/* Stops all it started, and frees it. */
	void (*destroy)(struct job *job);
	bool exclusive; /* one at a time */
};

/* The first member of every job's struct. */
struct job {
	uint32_t id;
	const struct job_kind *kind;
};

struct evidence;

struct agent {
	const char *root; /* folder that holds proc and sys; empty for the real ones */
	int64_t deadman_us;
	int64_t heard_us; /* when the last line came or the last job ended */
	bool leaving;
	int children; /* signalfd: a child ended */
	struct job *jobs[AGENT_JOBS_MAX];
	struct evidence *evidence;
	struct output output;
	struct wire_reader reader;
	struct wire_writer writer; /* the record under construction */
};

/* A request handler answers at once, or hands a job to agent_add_job(). */
typedef void agent_request(struct agent *agent, const struct wire_record *request);

agent_request request_hello, request_route, request_spawn, request_listen, request_connect,
	request_evidence, request_mark;

/* Answers one line, whatever is in it. */
void agent_handle_line(struct agent *agent, char *line);

/* Takes the job over. False, with the error said and the job destroyed, when there is no room. */
bool agent_add_job(struct agent *agent, struct job *job);

/* The job of that id, or NULL. */
struct job *agent_find_job(struct agent *agent, uint32_t id);

/* True while an exclusive job runs. */
bool agent_is_busy(const struct agent *agent);

/* Runs until the input ends, `bye`, silence or a broken output. Returns the exit status. */
int agent_run(struct agent *agent);

/* A record: begin, fields into agent->writer, end. */
struct wire_writer *agent_begin(struct agent *agent, uint32_t id, const char *type);
void agent_end(struct agent *agent);

void agent_say_ok(struct agent *agent, uint32_t id);
void agent_say_error(struct agent *agent, uint32_t id, const char *code, const char *message);

/* The message is "what: text of the errno". */
void agent_say_errno(
	struct agent *agent, uint32_t id, const char *code, const char *what, int number);

#endif
