#include "udp_relay.h"

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "driven.h"

enum { DATAGRAM_MAX = 2048, HEADER = 24 };

struct passage {
	int guest, host; /* the control connection's two halves */
	int in, out;     /* datagrams from the connecting end; to the listening end */
	const struct relay_plan *plan;
	struct relay_counts counts;
	unsigned char held[DATAGRAM_MAX];
	size_t held_length;
};

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

void relay_open(struct relay *relay)
{
	struct sockaddr_in address = loopback(0);
	socklen_t size = sizeof(address);

	relay->listener = socket(AF_INET, SOCK_STREAM, 0);
	relay->in = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(relay->listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(relay->listener, 1), 0);
	assert_int_equal(getsockname(relay->listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(bind(relay->in, (struct sockaddr *)&address, size), 0);
	relay->port = ntohs(address.sin_port);
}

void relay_close(struct relay *relay)
{
	close(relay->listener);
	close(relay->in);
}

static int dial(int type, int port)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, type, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void put(const struct passage *passage, const unsigned char *bytes, size_t length)
{
	assert_int_equal(send(passage->out, bytes, length, 0), (ssize_t)length);
}

static void put_held(struct passage *passage)
{
	if (passage->held_length > 0)
		put(passage, passage->held, passage->held_length);
	passage->held_length = 0;
}

/* None of these may count: a wrong token, too short, too long, an absurd number, nothing. */
static void forge(struct passage *passage, const unsigned char *bytes, size_t length)
{
	unsigned char forged[DATAGRAM_MAX];

	memcpy(forged, bytes, length);
	forged[7] ^= 1;
	put(passage, forged, length);
	put(passage, bytes, length - 1);
	put(passage, bytes, HEADER);
	put(passage, bytes, 8);
	forged[7] ^= 1;
	forged[length] = 0;
	put(passage, forged, length + 1);
	forged[8] = 0x7f;
	put(passage, forged, length);
	put(passage, NULL, 0);
	passage->counts.forged += 7;
}

static void pass_datagram(struct passage *passage)
{
	const struct relay_plan *plan = passage->plan;
	unsigned char bytes[DATAGRAM_MAX];
	ssize_t got = recv(passage->in, bytes, sizeof(bytes), 0);
	size_t length = (size_t)got;

	assert_true(got >= 0);
	if (plan->deaf)
		return;
	if (length < HEADER) {
		put(passage, bytes, length);
		return;
	}
	/* The last four of its eight bytes: no test sends more. */
	int digit = (int)(((uint32_t)bytes[12] << 24 | (uint32_t)bytes[13] << 16 |
				  (uint32_t)bytes[14] << 8 | bytes[15]) %
			  10);

	passage->counts.seen++;
	if (digit == plan->swap) {
		put_held(passage);
		memcpy(passage->held, bytes, length);
		passage->held_length = length;
		passage->counts.swapped++;
		return;
	}
	if (digit == plan->lose) {
		passage->counts.lost++;
	} else {
		put(passage, bytes, length);
		if (digit == plan->twice) {
			put(passage, bytes, length);
			passage->counts.doubled++;
		}
		put_held(passage);
	}
	if (digit == plan->forge)
		forge(passage, bytes, length);
}

/* Returns false at the end of that side. */
static bool pass_control(int from, int to)
{
	char bytes[256];
	ssize_t got = recv(from, bytes, sizeof(bytes), 0);

	if (got > 0 && send(to, bytes, (size_t)got, MSG_NOSIGNAL) == got)
		return true;
	shutdown(to, SHUT_WR);
	return false;
}

static bool has_datagram(const struct passage *passage)
{
	struct pollfd fd = {.fd = passage->in, .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

void relay_run(
	struct relay *relay, int port, const struct relay_plan *plan, struct relay_counts *ret)
{
	struct passage passage = {.plan = plan, .in = relay->in, .out = dial(SOCK_DGRAM, port)};
	bool guest = true, host = true;

	passage.host = dial(SOCK_STREAM, port);
	passage.guest = accept(relay->listener, NULL, NULL);
	assert_true(passage.guest >= 0);
	while (guest || host) {
		struct pollfd fds[] = {
			{.fd = guest ? passage.guest : -1, .events = POLLIN},
			{.fd = host ? passage.host : -1, .events = POLLIN},
			{.fd = passage.in, .events = POLLIN},
		};

		if (poll(fds, 3, DRIVEN_PATIENCE_MS) <= 0)
			fail_msg("nothing passed the relay for %d ms", DRIVEN_PATIENCE_MS);
		/* Datagrams first: the sender's last word must not overtake them. */
		if (fds[2].revents) {
			do
				pass_datagram(&passage);
			while (has_datagram(&passage));
		}
		if (fds[0].revents) {
			while (has_datagram(&passage))
				pass_datagram(&passage);
			put_held(&passage);
			guest = pass_control(passage.guest, passage.host);
		}
		if (fds[1].revents)
			host = pass_control(passage.host, passage.guest);
	}
	*ret = passage.counts;
	close(passage.guest);
	close(passage.host);
	close(passage.out);
}
