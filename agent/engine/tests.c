/* `listen` and `connect`: which test they begin. A test is one row here. */
#include <string.h>

#include "agent.h"
#include "tests.h"

static void begin_test(struct agent *agent, const struct wire_record *request, bool listens)
{
	static const struct {
		const char *name;
		void (*begin)(struct agent *agent, const struct wire_record *request, bool listens);
	} tests[] = {
		{"tcp", trial_begin},
		{"udp", udp_begin},
		{"echo", echo_begin},
	};
	const char *wanted = wire_record_text(request, "test");

	for (size_t i = 0; wanted && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(tests[i].name, wanted) == 0) {
			tests[i].begin(agent, request, listens);
			return;
		}
	}
	agent_say_error(agent, request->id, "bad", "test= is none that this agent has");
}

void request_listen(struct agent *agent, const struct wire_record *request)
{
	begin_test(agent, request, true);
}

void request_connect(struct agent *agent, const struct wire_record *request)
{
	begin_test(agent, request, false);
}
