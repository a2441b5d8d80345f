#include "echo_relay.h"

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define HEADER      24
#define TOKEN_SIZE  16
#define SIZE_MAX_   256
#define HELD_MAX    1024
#define PATIENCE_MS 15000

struct held {
	int64_t due_us;
	size_t size;
	unsigned char bytes[SIZE_MAX_];
};

struct passing {
	const struct relay *relay;
	const struct relay_plan *plan;
	struct relay_counts counts;
	int near, far,
		out; /* control to the connector and to the listener, datagrams to the latter */
	struct sockaddr_in from;
	struct held *held;
	size_t held_count;
};

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static struct sockaddr_in loopback(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* The same port for TCP and UDP, as a listener has it. */
void relay_open(struct relay *relay)
{
	struct sockaddr_in address = loopback(0);
	socklen_t size = sizeof(address);

	relay->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	relay->datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(relay->datagrams, (struct sockaddr *)&address, sizeof(address)), 0);
	getsockname(relay->datagrams, (struct sockaddr *)&address, &size);
	assert_int_equal(bind(relay->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(relay->listener, 8), 0);
	relay->port = ntohs(address.sin_port);
}

void relay_close(struct relay *relay)
{
	close(relay->listener);
	close(relay->datagrams);
}

static int connect_to(int type, int port)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* False at the connection's end. */
static bool pass_stream(int from, int to)
{
	char bytes[256];
	ssize_t got = recv(from, bytes, sizeof(bytes), 0);

	return got > 0 && send(to, bytes, (size_t)got, MSG_NOSIGNAL) == got;
}

static uint64_t number_of(const unsigned char *bytes)
{
	uint64_t number = 0;

	for (size_t i = 0; i < 8; i++)
		number = number << 8 | bytes[TOKEN_SIZE + i];
	return number;
}

static void pass_question(struct passing *passing)
{
	unsigned char bytes[SIZE_MAX_];
	socklen_t size = sizeof(passing->from);
	ssize_t got = recvfrom(passing->relay->datagrams, bytes, sizeof(bytes), 0,
		(struct sockaddr *)&passing->from, &size);

	assert_true(got >= HEADER);
	passing->counts.questions += number_of(bytes) != UINT64_MAX;
	send(passing->out, bytes, (size_t)got, 0);
}

static void hold_answer(struct passing *passing)
{
	struct held held = {0};
	ssize_t got = recv(passing->out, held.bytes, sizeof(held.bytes), 0);
	int hold_ms;

	if (got < HEADER)
		return;
	hold_ms = passing->plan->hold_ms[number_of(held.bytes) % passing->plan->hold_count];
	passing->counts.answers++;
	if (hold_ms == RELAY_DROP) {
		passing->counts.dropped++;
		return;
	}
	assert_true(passing->held_count < HELD_MAX);
	held.size = (size_t)got;
	held.due_us = now_us() + hold_ms * 1000;
	passing->held[passing->held_count++] = held;
}

static int release_due(struct passing *passing)
{
	int64_t now = now_us(), next = now + 1000000;

	for (size_t i = 0; i < passing->held_count;) {
		struct held *held = &passing->held[i];

		if (held->due_us <= now) {
			sendto(passing->relay->datagrams, held->bytes, held->size, 0,
				(struct sockaddr *)&passing->from, sizeof(passing->from));
			*held = passing->held[--passing->held_count];
			continue;
		}
		if (held->due_us < next)
			next = held->due_us;
		i++;
	}
	return (int)((next - now + 999) / 1000);
}

void relay_run(
	struct relay *relay, int port, const struct relay_plan *plan, struct relay_counts *ret)
{
	struct passing passing = {.relay = relay, .plan = plan};
	int64_t limit = now_us() + PATIENCE_MS * 1000;
	struct pollfd waiting = {.fd = relay->listener, .events = POLLIN};
	bool open = true;

	assert_int_equal(poll(&waiting, 1, PATIENCE_MS), 1);
	passing.near = accept(relay->listener, NULL, NULL);
	passing.far = connect_to(SOCK_STREAM, port);
	passing.out = connect_to(SOCK_DGRAM, port);
	passing.held = calloc(HELD_MAX, sizeof(*passing.held));
	assert_non_null(passing.held);
	while (open) {
		int wait_ms = release_due(&passing);
		struct pollfd fds[] = {{.fd = passing.near, .events = POLLIN},
			{.fd = passing.far, .events = POLLIN},
			{.fd = relay->datagrams, .events = POLLIN},
			{.fd = passing.out, .events = POLLIN}};

		assert_true(now_us() < limit);
		poll(fds, 4, wait_ms);
		if (fds[2].revents)
			pass_question(&passing);
		if (fds[3].revents)
			hold_answer(&passing);
		if (fds[0].revents)
			open = pass_stream(passing.near, passing.far);
		if (open && fds[1].revents)
			open = pass_stream(passing.far, passing.near);
	}
	free(passing.held);
	close(passing.near);
	close(passing.far);
	close(passing.out);
	*ret = passing.counts;
}
