/* The sockets of a trial: bound to its address and device, with its options. */
#ifndef TRIAL_SOCKET_H
#define TRIAL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "trial_options.h"

/* What failed when the host does not offer or permit the congestion control. */
#define TRIAL_SOCKET_CONGESTION "congestion control"

/*
 * A non-blocking socket that is bound to the device (*ret_bound says whether the kernel permitted
 * it) and has the options that must be set before connecting. Returns it, or -errno with *ret_what
 * saying what failed.
 */
int trial_socket_open(const struct trial_options *options, bool *ret_bound, const char **ret_what);

/* Listens on the first free port of the range. Returns the port, or -errno. */
int trial_socket_listen(int fd, const struct trial_options *options, const char **ret_what);

/* Binds the local address and begins to connect. Returns 0 or -errno. */
int trial_socket_connect(int fd, const struct trial_options *options, const char **ret_what);

/* 0 when a begun connection stands, -EINPROGRESS while it does not, or -errno. */
int trial_socket_connected(int fd);

/* What the kernel granted on a connected socket. */
struct trial_grants {
	int mss, send_buffer, receive_buffer; /* bytes */
	int nodelay, dscp;
	int64_t pacing; /* bit/s; -1 without a bound, or where the kernel does not tell */
	char congestion[16];
};

void trial_socket_describe(int fd, struct trial_grants *ret);

/* Makes a connected socket ready for its data thread: blocking, and closing with a reset. */
void trial_socket_arm(int fd);

/* Lets it close in order: the other end has all it was sent. */
void trial_socket_disarm(int fd);

/* Parts of the above, for the sockets that go with a trial's connection. -1 with errno. */
int trial_socket_bind_device(int fd, const struct trial_options *options, bool *ret_bound);
int trial_socket_set_dscp(int fd, const struct trial_options *options);
void trial_socket_set_port(struct sockaddr_storage *address, uint16_t port);

#endif
