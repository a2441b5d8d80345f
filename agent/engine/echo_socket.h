/* The socket of a latency test's datagrams. */
#ifndef ECHO_SOCKET_H
#define ECHO_SOCKET_H

#include "trial_options.h"

/*
 * Non-blocking, bound to the local address, the device and the port (0 = any); a connecting end's
 * talks to its peer only. Returns it, or -errno with *ret_what saying what failed.
 */
int echo_socket_open(const struct trial_options *options, int port, const char **ret_what);

#endif
