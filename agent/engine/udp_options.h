/* What a UDP test asks for beyond a trial's common keys. */
#ifndef UDP_OPTIONS_H
#define UDP_OPTIONS_H

#include "trial_options.h"

enum {
	UDP_HEADER_SIZE = 24, /* half of the token, number, the sender's time: 8 bytes each */
	UDP_SIZE_MAX = 65507,
};

struct udp_options {
	struct trial_options trial;
	int64_t size;    /* payload bytes of a datagram */
	int64_t rate;    /* payload bit/s; 0 = as fast as possible */
	char method[16]; /* forced; empty = the best the kernel has */
};

/* Returns NULL, or a message for `code=bad` that says which key is wrong. */
const char *udp_options_read(
	const struct wire_record *request, bool listens, struct udp_options *ret);

#endif
