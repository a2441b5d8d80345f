#include "echo_options.h"

#include <errno.h>
#include <string.h>

enum { PACE_MAX_MS = 60000, SIZE_DEFAULT = 64 };

static const struct echo_transport *find_transport(const char *name)
{
	static const struct echo_transport transports[] = {
		{
			.name = "udp",
			.ask = echo_ask_datagrams,
			.answer = echo_answer_datagrams,
			.least_size = ECHO_HEADER,
			.datagrams = true,
		},
		{
			.name = "tcp",
			.ask = echo_ask_stream,
			.answer = echo_answer_stream,
			.least_size = 1,
		},
		{
			.name = "connect",
			.ask = echo_ask_connections,
			.answer = echo_answer_connections,
			.connections = true,
		},
	};

	for (size_t i = 0; name && i < sizeof(transports) / sizeof(transports[0]); i++) {
		if (strcmp(transports[i].name, name) == 0)
			return &transports[i];
	}
	return NULL;
}

static bool read_number(const struct wire_record *request, const char *key, int64_t standard,
	int64_t least, int64_t most, int64_t *ret)
{
	int result = wire_record_number(request, key, ret);

	if (result == -ENOENT) {
		*ret = standard;
		return true;
	}
	return result == 0 && *ret >= least && *ret <= most;
}

const char *echo_options_read(
	const struct wire_record *request, bool listens, struct echo_options *ret)
{
	struct echo_options options = {0};
	const char *wrong = trial_options_read(request, listens, &options.trial);

	if (wrong)
		return wrong;
	options.transport = find_transport(wire_record_text(request, "transport"));
	if (!options.transport)
		return "transport= must be udp, tcp or connect";
	if (options.trial.sends && options.trial.receives)
		return "role= must be send or receive for test=echo";
	if (options.trial.streams != 1)
		return "streams= must be 1 for test=echo";
	if (options.trial.duration_ms == 0)
		return "duration_ms= must be above 0 for test=echo";
	if (!read_number(request, "size", SIZE_DEFAULT, options.transport->least_size,
		    ECHO_SIZE_MAX, &options.size))
		return "size= is not a number of 1 (udp: 24) .. 65507";
	if (!read_number(request, "pace_ms", 0, 0, PACE_MAX_MS, &options.pace_ms))
		return "pace_ms= is not a number of 0..60000";
	if (options.pace_ms > 0 && !options.transport->datagrams)
		return "pace_ms= needs transport=udp: the others ask one question at a time";
	if (options.transport->connections && options.trial.sends == listens)
		return "transport=connect: the connecting end asks (role=send)";
	if (options.transport->connections && !listens &&
		!read_number(request, "to_port2", 0, 1, 65535, &options.to_port2))
		return "to_port2= is not a number of 1..65535";
	if (options.transport->connections && !listens && options.to_port2 == 0)
		return "to_port2= is missing: the port that transport=connect connects to";
	*ret = options;
	return NULL;
}
