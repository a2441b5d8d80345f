#include "echo_socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trial_socket.h"

static int prepare(int fd, const struct trial_options *options, int port, const char **ret_what)
{
	struct sockaddr_storage local = options->local;
	bool bound;

	*ret_what = "binding the datagram socket to the device";
	if (trial_socket_bind_device(fd, options, &bound) < 0)
		return -1;
	*ret_what = "dscp";
	if (trial_socket_set_dscp(fd, options) < 0)
		return -1;
	*ret_what = "binding the datagram socket";
	trial_socket_set_port(&local, (uint16_t)port);
	if (bind(fd, (struct sockaddr *)&local, options->address_size) < 0)
		return -1;
	*ret_what = "connecting the datagram socket";
	if (options->listens)
		return 0;
	return connect(fd, (const struct sockaddr *)&options->peer, options->address_size);
}

int echo_socket_open(const struct trial_options *options, int port, const char **ret_what)
{
	int fd = socket(options->family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*ret_what = "datagram socket";
	if (fd < 0)
		return -errno;
	if (prepare(fd, options, port, ret_what) < 0) {
		int result = -errno;

		close(fd);
		return result;
	}
	return fd;
}
