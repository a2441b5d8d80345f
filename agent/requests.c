#include <string.h>

#include "agent.h"

static void request_ping(struct agent *agent, const struct wire_record *request)
{
	agent_say_ok(agent, request->id);
}

static void request_bye(struct agent *agent, const struct wire_record *request)
{
	agent_say_ok(agent, request->id);
	agent->leaving = true;
}

static struct job **find_job(struct agent *agent, uint32_t id)
{
	for (int i = 0; i < AGENT_JOBS_MAX; i++) {
		if (agent->jobs[i] && agent->jobs[i]->id == id)
			return &agent->jobs[i];
	}
	return NULL;
}

struct job *agent_find_job(struct agent *agent, uint32_t id)
{
	struct job **job = find_job(agent, id);

	return job ? *job : NULL;
}

static void request_cancel(struct agent *agent, const struct wire_record *request)
{
	int64_t target;

	if (wire_record_number(request, "target", &target) < 0 || target <= 0 ||
		target > UINT32_MAX) {
		agent_say_error(agent, request->id, "bad", "cancel: target= must be an id");
		return;
	}
	struct job **job = find_job(agent, (uint32_t)target);

	/* One that has just ended is no error: its final record crossed the request. */
	if (job) {
		struct job *ended = *job;

		*job = NULL;
		ended->kind->destroy(ended);
		agent_say_error(agent, (uint32_t)target, "cancelled", "cancelled on request");
	}
	agent_say_ok(agent, request->id);
}

static const struct {
	const char *type;
	agent_request *handle;
} requests[] = {
	{"hello", request_hello},
	{"ping", request_ping},
	{"route", request_route},
	{"evidence", request_evidence},
	{"listen", request_listen},
	{"connect", request_connect},
	{"mark", request_mark},
	{"spawn", request_spawn},
	{"cancel", request_cancel},
	{"bye", request_bye},
};

bool agent_is_busy(const struct agent *agent)
{
	for (int i = 0; i < AGENT_JOBS_MAX; i++) {
		if (agent->jobs[i] && agent->jobs[i]->kind->exclusive)
			return true;
	}
	return false;
}

bool agent_add_job(struct agent *agent, struct job *job)
{
	for (int i = 0; i < AGENT_JOBS_MAX; i++) {
		if (!agent->jobs[i]) {
			agent->jobs[i] = job;
			return true;
		}
	}
	agent_say_error(agent, job->id, "busy", "too many unfinished requests");
	job->kind->destroy(job);
	return false;
}

void agent_handle_line(struct agent *agent, char *line)
{
	struct wire_record record;

	if (wire_record_parse(line, &record) < 0) {
		agent_say_error(agent, 0, "bad", "not a record: ID TYPE key=value ...");
		return;
	}
	if (record.id == 0 || find_job(agent, record.id)) {
		agent_say_error(agent, 0, "bad", "the id is 0 or of an unfinished request");
		return;
	}
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (strcmp(record.type, requests[i].type) == 0) {
			requests[i].handle(agent, &record);
			return;
		}
	}
	wire_writer_text(agent_begin(agent, record.id, "unknown"), "type", record.type);
	agent_end(agent);
}
