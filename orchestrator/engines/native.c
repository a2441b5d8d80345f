#include "native.h"

#include <stdio.h>
#include <string.h>

static const char *role_of(const struct engine_trial *trial, bool listens)
{
	if (trial->direction == TOPOLOGY_BIDIR && trial->duration_ms > 0)
		return "both";
	return listens == trial->listener_sends ? "send" : "receive";
}

void native_write_end(const struct engine_trial *trial, bool listens, const char *test,
	struct wire_writer *writer)
{
	const struct binding *end = listens ? trial->listener : trial->connector;
	bool probe = trial->duration_ms == 0;

	wire_writer_text(writer, "test", test);
	wire_writer_text(writer, "role", role_of(trial, listens));
	wire_writer_text(writer, "token", trial->token);
	wire_writer_number(writer, "family", end->family);
	wire_writer_text(writer, "address", end->address);
	wire_writer_text(writer, "interface", end->device);
	wire_writer_number(writer, "streams", probe ? 1 : trial->test->streams);
	wire_writer_number(writer, "duration_ms", trial->duration_ms);
	wire_writer_number(writer, "omit_ms", probe || trial->test->bytes ? 0 : trial->test->omit);
	wire_writer_number(writer, "interval_ms", probe ? 0 : trial->test->interval);
	wire_writer_number(writer, "setup_ms", trial->setup_ms);
	wire_writer_number(writer, "stall_ms", ENGINE_STALL_MS);
	if (listens) {
		wire_writer_number(writer, "port", trial->test->port_first);
		wire_writer_number(writer, "port_last", trial->test->port_last);
	}
}

void native_write_target(const struct engine_trial *trial, const struct wire_record *ready,
	struct wire_writer *writer)
{
	const char *port = wire_record_text(ready, "port");
	char to[FACTS_ADDRESS_MAX];

	wire_writer_text(writer, "to", binding_address_from(trial->listener, trial->connector, to));
	wire_writer_text(writer, "to_port", port ? port : "0");
}

const struct wire_record *native_find_record(const struct engine_answer *answer, const char *type)
{
	for (size_t i = 0; i < answer->count; i++) {
		if (!strcmp(answer->records[i]->type, type))
			return answer->records[i];
	}
	return NULL;
}

void native_read_text(const struct wire_record *record, const char *key, char *buffer, size_t size)
{
	const char *text = record ? wire_record_text(record, key) : NULL;

	snprintf(buffer, size, "%s", text ? text : "");
}
