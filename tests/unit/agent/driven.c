#include "driven.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

void driven_start(struct driven *agent, const char *option, const char *value)
{
	const char *const argv[] = {getenv("AGENT"), option, value, NULL};

	assert_non_null(argv[0]);
	wire_reader_init(&agent->reader);
	assert_int_equal(child_start(argv, CHILD_PIPES, &agent->child), 0);
	driven_await(agent, 0, "hello");
}

void driven_start_without(struct driven *agent, const char *what)
{
	const char *const argv[] = {getenv("WITHOUT"), what, getenv("AGENT"), NULL};

	assert_non_null(argv[0]);
	assert_non_null(argv[2]);
	wire_reader_init(&agent->reader);
	assert_int_equal(child_start(argv, CHILD_PIPES, &agent->child), 0);
	if (!driven_read(agent)) {
		print_message("this kernel filters no calls\n");
		child_finish(&agent->child);
		skip();
	}
	assert_string_equal(agent->record.type, "hello");
}

void driven_stop(struct driven *agent)
{
	child_finish(&agent->child);
}

void driven_say(struct driven *agent, const char *format, ...)
{
	char line[WIRE_LINE_MAX * 2];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(line, sizeof(line) - 1, format, arguments);

	va_end(arguments);
	line[length] = '\n';
	assert_int_equal(write(agent->child.input, line, (size_t)length + 1), length + 1);
}

/* False at the end of the stream. */
static bool fill(struct driven *agent)
{
	struct pollfd wanted = {.fd = agent->child.output, .events = POLLIN};
	size_t space;
	char *into = wire_reader_space(&agent->reader, &space);

	if (poll(&wanted, 1, DRIVEN_PATIENCE_MS) != 1)
		fail_msg("the agent said nothing for %d ms", DRIVEN_PATIENCE_MS);
	ssize_t got = read(agent->child.output, into, space);

	assert_true(got >= 0);
	wire_reader_filled(&agent->reader, (size_t)got);
	return got > 0;
}

bool driven_read(struct driven *agent)
{
	char *line;
	int got;

	while ((got = wire_reader_next(&agent->reader, &line)) == 0) {
		if (!fill(agent))
			return false;
	}
	assert_int_equal(got, 1);
	strcpy(agent->line, line);
	assert_int_equal(wire_record_parse(agent->line, &agent->record), 0);
	return true;
}

void driven_await(struct driven *agent, uint32_t id, const char *type)
{
	do {
		if (!driven_read(agent))
			fail_msg("the agent ended before %u %s", id, type);
		if (agent->record.id == id && strcmp(agent->record.type, "error") == 0 &&
			strcmp(type, "error") != 0)
			fail_msg("%u error %s: %s", id, driven_text(agent, "code"),
				driven_text(agent, "message"));
	} while (agent->record.id != id || strcmp(agent->record.type, type) != 0);
}

int64_t driven_number(const struct driven *agent, const char *key)
{
	int64_t number;

	if (wire_record_number(&agent->record, key, &number) < 0)
		fail_msg("%s has no number %s", agent->record.type, key);
	return number;
}

const char *driven_text(const struct driven *agent, const char *key)
{
	const char *text = wire_record_text(&agent->record, key);

	if (!text)
		fail_msg("%s has no %s", agent->record.type, key);
	return text;
}

int driven_exit(struct driven *agent)
{
	while (driven_read(agent))
		continue;
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)agent->child.pid, &info, WEXITED | WNOWAIT), 0);
	return info.si_code == CLD_EXITED ? info.si_status : -1;
}
