#include <string.h>

#include "agent.h"

struct wire_writer *agent_begin(struct agent *agent, uint32_t id, const char *type)
{
	wire_writer_begin(&agent->writer, id, type);
	return &agent->writer;
}

void agent_end(struct agent *agent)
{
	int length = wire_writer_end(&agent->writer);

	if (length > 0)
		output_add(&agent->output, agent->writer.text, (size_t)length);
}

void agent_say_ok(struct agent *agent, uint32_t id)
{
	agent_begin(agent, id, "ok");
	agent_end(agent);
}

void agent_say_error(struct agent *agent, uint32_t id, const char *code, const char *message)
{
	struct wire_writer *writer = agent_begin(agent, id, "error");

	wire_writer_text(writer, "code", code);
	wire_writer_text(writer, "message", message);
	agent_end(agent);
}

void agent_say_errno(
	struct agent *agent, uint32_t id, const char *code, const char *what, int number)
{
	char message[256] = "";
	size_t room = sizeof(message) - 1;

	strncat(message, what, room);
	strncat(message, ": ", room - strlen(message));
	strncat(message, strerror(number), room - strlen(message));
	agent_say_error(agent, id, code, message);
}
