/* What a `test=echo` request asks for beyond struct trial_options, checked. */
#ifndef ECHO_OPTIONS_H
#define ECHO_OPTIONS_H

#include "echo_end.h"

struct echo_transport {
	const char *name;
	echo_loop *ask, *answer;
	int64_t least_size; /* bytes of a question */
	bool datagrams;     /* a UDP socket at both ends */
	bool connections;   /* a second listening port */
};

struct echo_options {
	struct trial_options trial;
	const struct echo_transport *transport;
	int64_t size, pace_ms;
	int64_t to_port2; /* connect, of the connecting end */
};

/* Returns NULL, or a message for `code=bad` that says which key is wrong. */
const char *echo_options_read(
	const struct wire_record *request, bool listens, struct echo_options *ret);

#endif
