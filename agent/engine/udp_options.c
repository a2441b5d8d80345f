#include "udp_options.h"

#include <string.h>

#include "udp_receive.h"
#include "udp_send.h"

#define RATE_MAX INT64_C(1000000000000)

static bool read_number(const struct wire_record *request, const char *key, int64_t least,
	int64_t most, int64_t *ret)
{
	return wire_record_number(request, key, ret) == 0 && *ret >= least && *ret <= most;
}

const char *udp_options_read(
	const struct wire_record *request, bool listens, struct udp_options *ret)
{
	struct udp_options options = {0};
	const char *wrong = trial_options_read(request, listens, &options.trial);
	const char *method = wire_record_text(request, "method");

	if (wrong)
		return wrong;
	if (options.trial.sends && options.trial.receives)
		return "role= of a udp test must be send or receive";
	if (options.trial.streams != 1)
		return "streams= of a udp test must be 1";
	if (!read_number(request, "size", UDP_HEADER_SIZE, UDP_SIZE_MAX, &options.size))
		return "size= is missing or not a number of 24..65507";
	if (!read_number(request, "rate", 0, RATE_MAX, &options.rate))
		return "rate= is missing or not a number of 0..1000000000000";
	if (method &&
		!(options.trial.sends ? udp_sender_knows(method) : udp_receiver_knows(method)))
		return options.trial.sends ? "method= of a sender must be gso, sendmmsg or sendto"
					   : "method= of a receiver must be gro, recvmmsg or recv";
	if (method)
		strcpy(options.method, method);
	*ret = options;
	return NULL;
}
