/* The UDP socket of a test: bound like its control connection, with its options. */
#ifndef UDP_SOCKET_H
#define UDP_SOCKET_H

#include <stdbool.h>

#include "udp_options.h"

/*
 * Bound to the local address, the device and the port (0 = any); non-blocking; a connecting end's
 * talks to its peer only. Returns it, or -errno with *ret_what saying what failed.
 */
int udp_socket_open(const struct udp_options *options, int port, const char **ret_what);

/* Says hello, so that the listener (and a NAT between) learns where we are. */
void udp_socket_greet(int fd, const struct udp_options *options);

/*
 * Reads until the peer's hello comes, and talks to that peer only from then on. Returns 1, or 0
 * when it has not come, or -errno.
 */
int udp_socket_meet(int fd, const struct udp_options *options);

/* Blocking from now on, for its data thread. */
void udp_socket_arm(int fd);

/* The datagrams that found the socket's buffer full so far; -1 where the kernel does not tell. */
int64_t udp_socket_drops(int fd);

#endif
