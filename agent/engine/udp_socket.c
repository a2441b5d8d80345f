#include "udp_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trial_socket.h"

/* Kernel headers of old toolchains lack these; the kernels decide. */
#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

enum {
	/* A second of 16 Mbit/s, 16 ms of a gigabit: what a busy reader may be away. */
	BUFFER_SIZE = 2 << 20,
	MEMINFO_DROPS = 8, /* index in the SO_MEMINFO array, SK_MEMINFO_DROPS */
	MEMINFO_MAX = 16,
};

/* What the limits of the system allow, or beyond them where that is permitted. */
static int set_buffers(int fd, const struct udp_options *options)
{
	int size = options->trial.window == TRIAL_UNSET ? BUFFER_SIZE : (int)options->trial.window;
	bool asked = options->trial.window != TRIAL_UNSET;

	/* At a fixed rate the host's queue shall be what overflows, not the socket before it. */
	if (!asked && options->trial.sends && options->rate > 0 &&
		setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if (!asked && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) == 0)
		return 0;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) < 0)
		return -1;
	return asked ? setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) : 0;
}

static int prepare(int fd, const struct udp_options *options, int port, const char **ret_what)
{
	const struct trial_options *trial = &options->trial;
	struct sockaddr_storage local = trial->local;
	bool bound;

	*ret_what = "binding the UDP socket to the device";
	if (trial_socket_bind_device(fd, trial, &bound) < 0)
		return -1;
	*ret_what = "dscp";
	if (trial_socket_set_dscp(fd, trial) < 0)
		return -1;
	*ret_what = "window";
	if (set_buffers(fd, options) < 0)
		return -1;
	*ret_what = "binding the UDP socket";
	trial_socket_set_port(&local, (uint16_t)port);
	if (bind(fd, (struct sockaddr *)&local, trial->address_size) < 0)
		return -1;
	*ret_what = "connecting the UDP socket";
	return trial->listens
		       ? 0
		       : connect(fd, (const struct sockaddr *)&trial->peer, trial->address_size);
}

int udp_socket_open(const struct udp_options *options, int port, const char **ret_what)
{
	int fd = socket(options->trial.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*ret_what = "UDP socket";
	if (fd < 0)
		return -errno;
	if (prepare(fd, options, port, ret_what) < 0) {
		int result = -errno;

		close(fd);
		return result;
	}
	return fd;
}

void udp_socket_greet(int fd, const struct udp_options *options)
{
	/* Lost or refused, it is sent again. */
	send(fd, options->trial.token, TRIAL_TOKEN_SIZE, 0);
}

int udp_socket_meet(int fd, const struct udp_options *options)
{
	for (;;) {
		unsigned char hello[TRIAL_TOKEN_SIZE + 1];
		struct sockaddr_storage peer;
		socklen_t size = sizeof(peer);
		ssize_t got =
			recvfrom(fd, hello, sizeof(hello), 0, (struct sockaddr *)&peer, &size);

		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got != TRIAL_TOKEN_SIZE ||
			memcmp(hello, options->trial.token, TRIAL_TOKEN_SIZE) != 0)
			continue;
		return connect(fd, (struct sockaddr *)&peer, size) < 0 ? -errno : 1;
	}
}

void udp_socket_arm(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

int64_t udp_socket_drops(int fd)
{
	uint32_t memory[MEMINFO_MAX];
	socklen_t size = sizeof(memory);

	/* Since 4.12; the counter itself is as wide as this. */
	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &size) < 0 ||
		size <= MEMINFO_DROPS * sizeof(memory[0]))
		return -1;
	return memory[MEMINFO_DROPS];
}
