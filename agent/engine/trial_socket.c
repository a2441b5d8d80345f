#include "trial_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#ifndef SO_MAX_PACING_RATE
#define SO_MAX_PACING_RATE 47
#endif

static int set_int(int fd, int level, int option, int64_t value)
{
	int number = (int)value;

	return value == TRIAL_UNSET ? 0 : setsockopt(fd, level, option, &number, sizeof(number));
}

int trial_socket_bind_device(int fd, const struct trial_options *options, bool *ret_bound)
{
	*ret_bound = false;
	if (options->interface[0] == '\0')
		return 0;
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, options->interface,
		    (socklen_t)strlen(options->interface) + 1) == 0) {
		*ret_bound = true;
		return 0;
	}
	/* Before 5.7 it takes CAP_NET_RAW; the address still binds. */
	return errno == EPERM ? 0 : -1;
}

int trial_socket_set_dscp(int fd, const struct trial_options *options)
{
	int64_t traffic_class = options->dscp == TRIAL_UNSET ? TRIAL_UNSET : options->dscp << 2;

	return options->family == AF_INET ? set_int(fd, IPPROTO_IP, IP_TOS, traffic_class)
					  : set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, traffic_class);
}

/* The rate is shared out: what was asked for is the sum of the streams. */
static int set_pacing(int fd, const struct trial_options *options)
{
	if (options->pacing == TRIAL_UNSET)
		return 0;
	uint64_t rate = (uint64_t)(options->pacing / 8 / options->streams);
	uint32_t narrow = rate == 0 ? 1 : (uint32_t)rate;

	/* Kernels before 4.20 take 32 bits only. */
	if (rate > UINT32_MAX)
		return setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
	return setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &narrow, sizeof(narrow));
}

static int set_congestion(int fd, const struct trial_options *options)
{
	const char *name = options->congestion;

	return name[0] == '\0'
		       ? 0
		       : setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name));
}

static int set_options(int fd, const struct trial_options *options, const char **ret_what)
{
	*ret_what = "window";
	if (set_int(fd, SOL_SOCKET, SO_SNDBUF, options->window) < 0 ||
		set_int(fd, SOL_SOCKET, SO_RCVBUF, options->window) < 0)
		return -1;
	*ret_what = "mss";
	if (set_int(fd, IPPROTO_TCP, TCP_MAXSEG, options->mss) < 0)
		return -1;
	*ret_what = "nodelay";
	if (set_int(fd, IPPROTO_TCP, TCP_NODELAY, options->nodelay) < 0)
		return -1;
	*ret_what = TRIAL_SOCKET_CONGESTION;
	if (set_congestion(fd, options) < 0)
		return -1;
	*ret_what = "dscp";
	if (trial_socket_set_dscp(fd, options) < 0)
		return -1;
	*ret_what = "pacing";
	return set_pacing(fd, options);
}

int trial_socket_open(const struct trial_options *options, bool *ret_bound, const char **ret_what)
{
	int fd = socket(options->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*ret_what = "socket";
	if (fd < 0)
		return -errno;
	*ret_what = "binding to the device";
	if (trial_socket_bind_device(fd, options, ret_bound) < 0 ||
		set_options(fd, options, ret_what) < 0) {
		int result = -errno;

		close(fd);
		return result;
	}
	return fd;
}

void trial_socket_set_port(struct sockaddr_storage *address, uint16_t port)
{
	uint16_t in_order = htons(port);
	size_t offset = address->ss_family == AF_INET ? offsetof(struct sockaddr_in, sin_port)
						      : offsetof(struct sockaddr_in6, sin6_port);

	memcpy((char *)address + offset, &in_order, sizeof(in_order));
}

static int bound_port(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t size = sizeof(address);
	uint16_t port;

	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return -errno;
	size_t offset = address.ss_family == AF_INET ? offsetof(struct sockaddr_in, sin_port)
						     : offsetof(struct sockaddr_in6, sin6_port);

	memcpy(&port, (char *)&address + offset, sizeof(port));
	return ntohs(port);
}

int trial_socket_listen(int fd, const struct trial_options *options, const char **ret_what)
{
	int one = 1;
	int result = -EADDRINUSE;

	/* A port of the range may be in TIME_WAIT from the last trial. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	*ret_what = "bind";
	for (int64_t port = options->port; port <= options->port_last; port++) {
		struct sockaddr_storage address = options->local;

		trial_socket_set_port(&address, (uint16_t)port);
		if (bind(fd, (struct sockaddr *)&address, options->address_size) == 0) {
			*ret_what = "listen";
			result = listen(fd, TRIAL_CONNECTIONS_MAX) < 0 ? -errno : bound_port(fd);
			return result;
		}
		result = -errno;
		if (result != -EADDRINUSE)
			return result;
	}
	return result;
}

int trial_socket_connect(int fd, const struct trial_options *options, const char **ret_what)
{
	*ret_what = "bind";
	if (bind(fd, (const struct sockaddr *)&options->local, options->address_size) < 0)
		return -errno;
	*ret_what = "connect";
	if (connect(fd, (const struct sockaddr *)&options->peer, options->address_size) < 0 &&
		errno != EINPROGRESS)
		return -errno;
	return 0;
}

int trial_socket_connected(int fd)
{
	struct pollfd state = {.fd = fd, .events = POLLOUT};
	int failure = 0;
	socklen_t size = sizeof(failure);

	if (poll(&state, 1, 0) == 0)
		return -EINPROGRESS;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) < 0)
		return -errno;
	return -failure;
}

static int granted_dscp(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t size = sizeof(address);
	int traffic_class = 0;

	getsockname(fd, (struct sockaddr *)&address, &size);
	size = sizeof(traffic_class);
	if (address.ss_family == AF_INET)
		getsockopt(fd, IPPROTO_IP, IP_TOS, &traffic_class, &size);
	else
		getsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &traffic_class, &size);
	return traffic_class >> 2;
}

/* The option has 64 bits on new kernels and 32 on old ones, all ones meaning no bound. */
static int64_t granted_pacing(int fd)
{
	uint64_t wide = 0;
	socklen_t size = sizeof(wide);

	if (getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &wide, &size) < 0)
		return -1;
	if (size == sizeof(wide))
		return wide == UINT64_MAX ? -1 : (int64_t)(wide * 8);
	uint32_t narrow;

	memcpy(&narrow, &wide, sizeof(narrow));
	return narrow == UINT32_MAX ? -1 : (int64_t)narrow * 8;
}

void trial_socket_describe(int fd, struct trial_grants *ret)
{
	socklen_t size = sizeof(int);

	*ret = (struct trial_grants){.dscp = granted_dscp(fd), .pacing = granted_pacing(fd)};
	getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &ret->nodelay, &size);
	size = sizeof(int);
	getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &ret->mss, &size);
	size = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &ret->send_buffer, &size);
	size = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &ret->receive_buffer, &size);
	size = sizeof(ret->congestion) - 1;
	getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, ret->congestion, &size);
}

void trial_socket_arm(int fd)
{
	struct linger reset = {.l_onoff = 1};

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

void trial_socket_disarm(int fd)
{
	struct linger off = {0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
}
