#include "evidence.h"

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "source.h"

static const struct evidence_source *const sources[] = {
	&source_cpu,
	&source_counters,
	&source_qdiscs,
	&source_softnet,
	&source_protocols,
	&source_throttle,
	&source_links,
	&source_host,
};

enum {
	SOURCES = sizeof(sources) / sizeof(sources[0]),
	DELAY_MAX_MS = 24 * 3600 * 1000,
};

struct evidence {
	struct evidence_scope scope;
	void *before[SOURCES];
	int64_t began_us; /* of the CPU times' window */
	int64_t late_us;  /* when the late sources are due; INT64_MAX once taken */
};

uint64_t source_delta(uint64_t before, uint64_t now)
{
	if (now >= before)
		return now - before;
	return before <= UINT32_MAX ? (uint32_t)(now - before) : now;
}

bool source_wants(const struct evidence_scope *scope, const char *interface)
{
	for (size_t i = 0; i < scope->interface_count; i++) {
		if (strcmp(scope->interfaces[i], interface) == 0)
			return true;
	}
	return false;
}

static void take(struct evidence *evidence, bool only_late)
{
	for (size_t i = 0; i < SOURCES; i++) {
		if (!sources[i]->take || (only_late && !sources[i]->late))
			continue;
		free(evidence->before[i]);
		evidence->before[i] = sources[i]->take(&evidence->scope);
	}
	evidence->began_us = clock_now_us();
}

int64_t evidence_deadline(const struct evidence *evidence)
{
	return evidence ? evidence->late_us : INT64_MAX;
}

void evidence_advance(struct evidence *evidence)
{
	if (!evidence || clock_now_us() < evidence->late_us)
		return;
	evidence->late_us = INT64_MAX;
	take(evidence, true);
}

void evidence_destroy(struct evidence *evidence)
{
	if (!evidence)
		return;
	for (size_t i = 0; i < SOURCES; i++)
		free(evidence->before[i]);
	free(evidence);
}

/* Splits a comma list. False when a name is none. */
static bool read_interfaces(const char *list, struct evidence_scope *scope)
{
	while (list && *list) {
		size_t length = strcspn(list, ",");

		/* Names become parts of paths. */
		if (length == 0 || length >= IFNAMSIZ || memchr(list, '/', length) ||
			list[0] == '.' || scope->interface_count == EVIDENCE_INTERFACES_MAX)
			return false;
		memcpy(scope->interfaces[scope->interface_count++], list, length);
		list += length + (list[length] == ',');
	}
	return true;
}

static void begin(struct agent *agent, const struct wire_record *request)
{
	int64_t delay_ms = 0;
	struct evidence *evidence = calloc(1, sizeof(*evidence));

	if (!evidence) {
		agent_say_error(agent, request->id, "setup", "out of memory");
		return;
	}
	evidence->scope.root = agent->root;
	if (wire_record_number(request, "delay_ms", &delay_ms) < 0 || delay_ms < 0 ||
		delay_ms > DELAY_MAX_MS) {
		agent_say_error(agent, request->id, "bad", "evidence: delay_ms= is wrong");
		evidence_destroy(evidence);
		return;
	}
	if (!read_interfaces(wire_record_text(request, "interfaces"), &evidence->scope)) {
		agent_say_error(agent, request->id, "bad", "evidence: interfaces= is wrong");
		evidence_destroy(evidence);
		return;
	}
	evidence_destroy(agent->evidence);
	agent->evidence = evidence;
	take(evidence, false);
	evidence->late_us = delay_ms > 0 ? evidence->began_us + delay_ms * 1000 : INT64_MAX;
	agent_say_ok(agent, request->id);
}

static void say(struct agent *agent, const struct wire_record *request)
{
	struct evidence *evidence = agent->evidence;

	if (!evidence) {
		agent_say_error(agent, request->id, "bad", "evidence: nothing was begun");
		return;
	}
	/* One that ends before its delay counts from the first snapshot. */
	int64_t window_us = clock_now_us() - evidence->began_us;

	for (size_t i = 0; i < SOURCES; i++) {
		void *now = sources[i]->take ? sources[i]->take(&evidence->scope) : NULL;

		sources[i]->say(evidence->before[i], now, &evidence->scope, agent, request->id);
		free(now);
	}
	wire_writer_number(agent_begin(agent, request->id, "ok"), "window_us", window_us);
	agent_end(agent);
}

static void end(struct agent *agent, const struct wire_record *request)
{
	say(agent, request);
	evidence_destroy(agent->evidence);
	agent->evidence = NULL;
}

static const struct {
	const char *op;
	agent_request *handle;
} operations[] = {
	{"begin", begin},
	{"read", say},
	{"end", end},
};

void request_evidence(struct agent *agent, const struct wire_record *request)
{
	const char *op = wire_record_text(request, "op");

	for (size_t i = 0; op && i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (strcmp(op, operations[i].op) == 0) {
			operations[i].handle(agent, request);
			return;
		}
	}
	agent_say_error(agent, request->id, "bad", "evidence: op= must be begin, read or end");
}
