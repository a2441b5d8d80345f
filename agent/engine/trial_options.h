/* What a `listen` or `connect` request asks for, checked. */
#ifndef TRIAL_OPTIONS_H
#define TRIAL_OPTIONS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "wire.h"

enum {
	TRIAL_TOKEN_SIZE = 16,
	TRIAL_STREAMS_MAX = 64,
	TRIAL_CONNECTIONS_MAX = 2 * TRIAL_STREAMS_MAX, /* both directions at once */
	TRIAL_INTERVALS_MAX = 4096,
	TRIAL_UNSET = -1, /* an option that was not asked for keeps the kernel's default */
};

/* How bytes are moved: the best the kernel has, or forced. */
enum trial_method {
	TRIAL_BEST,
	TRIAL_SPLICE,
	TRIAL_SENDFILE,
	TRIAL_WRITE,
	TRIAL_RECV_TRUNC,
	TRIAL_RECV
};

struct trial_options {
	bool listens;
	bool sends, receives; /* one of them, or both */
	enum trial_method method;
	unsigned char token[TRIAL_TOKEN_SIZE];
	int family;                          /* AF_INET or AF_INET6 */
	struct sockaddr_storage local, peer; /* port 0 in local */
	socklen_t address_size;
	char interface[IFNAMSIZ]; /* empty: none */
	char congestion[16];      /* empty: default */
	int64_t port, port_last, to_port;
	int64_t streams; /* of each direction */
	int64_t connections;
	int64_t duration_ms, omit_ms, interval_ms, setup_ms, stall_ms;
	int64_t block, window, mss, dscp, nodelay;
	int64_t pacing; /* bit/s of all streams of a direction together */
	int64_t bytes;  /* of all streams of a direction together: the trial's end */
};

/* Returns NULL, or a message for `code=bad` that says which key is wrong. */
const char *trial_options_read(
	const struct wire_record *request, bool listens, struct trial_options *ret);

/* The same for `method=` of a tcp test; other tests have methods of their own. */
const char *trial_options_read_method(
	const struct wire_record *request, struct trial_options *options);

#endif
