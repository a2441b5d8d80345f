/* The asking end of a latency test: when it asks, and when an answer counts. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "echo_end.h"
#include "trial_socket.h"

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

enum {
	TIMEOUT_US = 1000000, /* without pace: when a datagram's answer is waited for no longer */
	REFUSED_US = 10000,   /* before the next connection after one that failed at once */
	PATIENCE_US = 20000,
	CROWD_MAX = 32, /* half of what a listener's queue holds */
	STEP_US = 5,    /* between two clocks' readings that count as one */
	STEPS_MAX = 4,
};

struct asking {
	struct echo_end *end;
	int64_t limit_us;    /* no question after it */
	int64_t next_us;     /* when the next question is due */
	int64_t asked_us;    /* when the last one was asked */
	int64_t answered_us; /* when the last answer came */
	bool over;           /* no further question, since over_us */
	int64_t over_us;
	unsigned int marks;
};

static struct asking begin_asking(struct echo_end *end)
{
	int64_t now = clock_now_us();

	echo_count_begin(&end->count, now, end->options->omit_ms * 1000);
	return (struct asking){
		.end = end,
		.limit_us = now + end->options->duration_ms * 1000,
		.next_us = now,
		.asked_us = now,
		.answered_us = now,
	};
}

static void take_marks(struct asking *asking, int64_t now)
{
	for (; asking->marks != atomic_load(&asking->end->marks); asking->marks++)
		echo_count_mark(&asking->end->count, now);
}

/* Is there to be another question at all? */
static bool goes_on(struct asking *asking, int64_t now)
{
	take_marks(asking, now);
	if (asking->over)
		return false;
	asking->over = now >= asking->limit_us || atomic_load(&asking->end->ending);
	asking->over_us = now < asking->limit_us ? now : asking->limit_us;
	return !asking->over;
}

static void finish(const struct asking *asking)
{
	echo_count_end(&asking->end->count, asking->over ? asking->over_us : clock_now_us());
}

static bool is_stalled(const struct asking *asking, int64_t now)
{
	const struct echo_end *end = asking->end;

	return end->count.open > 0 && now - asking->answered_us >= end->options->stall_ms * 1000;
}

/*
 * How long after the last question an answer may come: twice as long as the slowest so far took. It
 * is a matter of when the test ends, not of what counts.
 */
static int64_t straggler_limit(const struct asking *asking)
{
	int64_t longest = asking->end->count.longest_us;
	int64_t patience = longest > 0 ? 2 * longest + PATIENCE_US : TIMEOUT_US;

	return asking->asked_us + (patience < ECHO_LATE_US ? patience : ECHO_LATE_US);
}

/*
 * When the kernel got the datagram: what passed until this thread ran is the host's, not the
 * network's. The stamp is of the wall clock, so only its difference to that clock's now is used,
 * and not when the clock was set in between.
 */
static int64_t arrival_us(struct msghdr *message)
{
	/* Nothing else was asked for, so it is the first item or none. */
	const struct cmsghdr *item = CMSG_FIRSTHDR(message);
	int64_t now = clock_now_us(), before, late_us;
	struct timespec stamp, wall;

	if (!item || item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_TIMESTAMPNS ||
		item->cmsg_len < CMSG_LEN(sizeof(stamp)))
		return now;
	memcpy(&stamp, CMSG_DATA(item), sizeof(stamp));
	/* Both clocks at one instant: again, when this thread was interrupted between them. */
	for (int i = 0; i == 0 || (i < STEPS_MAX && now - before > STEP_US); i++) {
		before = now;
		clock_gettime(CLOCK_REALTIME, &wall);
		now = clock_now_us();
	}
	late_us = (int64_t)(wall.tv_sec - stamp.tv_sec) * 1000000 +
		  (wall.tv_nsec - stamp.tv_nsec) / 1000;
	return late_us > 0 && late_us < 1000000 ? now - late_us : now;
}

static void take_answers(struct asking *asking, unsigned char *bytes)
{
	struct echo_end *end = asking->end;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct timespec)) + 64];
	} control;
	uint64_t number;

	for (;;) {
		struct iovec part = {.iov_base = bytes, .iov_len = end->size};
		struct msghdr message = {.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control)};
		ssize_t got = recvmsg(end->fd, &message, MSG_DONTWAIT);

		if (got < 0 && errno == EAGAIN)
			return;
		/* An ICMP error of an earlier question is told once; its answer is lost anyway. */
		if (got != (ssize_t)end->size ||
			!echo_get_header(bytes, (size_t)got, end->options, &number))
			continue;
		if (!echo_count_answer(&end->count, number, arrival_us(&message)))
			continue;
		asking->answered_us = clock_now_us();
		/* One at a time: the answer lets the next question go. */
		if (end->pace_us == 0 && number + 1 == end->count.next)
			asking->next_us = asking->answered_us;
	}
}

static void ask_datagram(struct asking *asking, unsigned char *bytes)
{
	struct echo_end *end = asking->end;
	int64_t now = clock_now_us();

	echo_put_header(bytes, end->options, echo_count_ask(&end->count, now));
	asking->asked_us = now;
	/* What the host itself drops is as lost as any other. */
	ssize_t put = send(end->fd, bytes, end->size, MSG_NOSIGNAL | MSG_DONTWAIT);

	(void)put;
	if (end->pace_us == 0) {
		asking->next_us = now + TIMEOUT_US;
		return;
	}
	/* The times stay on their grid; those that were missed are not made up for in a burst. */
	while (asking->next_us <= now)
		asking->next_us += end->pace_us;
}

static bool may_end(struct asking *asking, int64_t now)
{
	return asking->end->count.open == 0 || now >= straggler_limit(asking);
}

void echo_ask_datagrams(struct echo_end *end)
{
	struct asking asking = begin_asking(end);
	unsigned char *bytes = calloc(1, end->size);
	int one = 1;

	setsockopt(end->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	while (bytes && !echo_end_stopped(end)) {
		int64_t now = clock_now_us(), until;

		if (goes_on(&asking, now)) {
			if (is_stalled(&asking, now)) {
				end->outcome = ECHO_STALLED;
				break;
			}
			if (now >= asking.next_us) {
				ask_datagram(&asking, bytes);
				continue;
			}
			until = asking.next_us < asking.limit_us ? asking.next_us : asking.limit_us;
		} else if (may_end(&asking, now)) {
			break;
		} else {
			until = straggler_limit(&asking);
		}
		if (echo_end_wait(end, end->fd, POLLIN, until))
			take_answers(&asking, bytes);
	}
	finish(&asking);
	free(bytes);
}

/* Sends and receives `size` bytes each. False at the connection's end, or when it took too long. */
static bool exchange(struct asking *asking, char *bytes)
{
	struct echo_end *end = asking->end;
	size_t sent = 0, got = 0;
	int64_t limit = clock_now_us() + end->options->stall_ms * 1000;

	while (got < end->size && !echo_end_stopped(end)) {
		ssize_t moved = 0;

		if (sent < end->size) {
			moved = send(end->fd, bytes, end->size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
			if (moved > 0)
				sent += (size_t)moved;
		}
		if (moved >= 0 || errno == EAGAIN) {
			moved = recv(end->fd, bytes, end->size - got, MSG_DONTWAIT);
			if (moved > 0)
				got += (size_t)moved;
		}
		if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR)) {
			end->outcome = ECHO_LOST;
			return false;
		}
		if (got == end->size || moved > 0)
			continue;
		if (clock_now_us() >= limit) {
			end->outcome = ECHO_STALLED;
			return false;
		}
		echo_end_wait(end, end->fd, sent < end->size ? POLLIN | POLLOUT : POLLIN, limit);
	}
	return got == end->size;
}

void echo_ask_stream(struct echo_end *end)
{
	struct asking asking = begin_asking(end);
	char *bytes = calloc(1, end->size);

	while (bytes && !echo_end_stopped(end)) {
		int64_t now = clock_now_us();

		if (!goes_on(&asking, now))
			break;
		uint64_t number = echo_count_ask(&end->count, now);

		if (!exchange(&asking, bytes))
			break;
		echo_count_answer(&end->count, number, clock_now_us());
	}
	finish(&asking);
	free(bytes);
}

/*
 * Connections that stand and were not yet seen to be taken by the other end, oldest first. Without
 * a bound a slow answerer's queue would run over, and its lost SYN would count as a second's wait.
 */
struct crowd {
	int fds[CROWD_MAX];
	size_t first, count;
};

/* Closed by a reset, a connection leaves no port behind that waits. */
static void close_now(int fd)
{
	trial_socket_arm(fd);
	close(fd);
}

static void leave_oldest(struct crowd *crowd)
{
	close_now(crowd->fds[crowd->first]);
	crowd->first = (crowd->first + 1) % CROWD_MAX;
	crowd->count--;
}

/* Waits until the other end has taken, and closed, the oldest one. */
static void make_room(struct echo_end *end, struct crowd *crowd)
{
	int64_t limit = clock_now_us() + ECHO_LATE_US;

	if (crowd->count < CROWD_MAX)
		return;
	while (!echo_end_stopped(end) && clock_now_us() < limit &&
		!echo_end_wait(end, crowd->fds[crowd->first], POLLIN, limit))
		continue;
	leave_oldest(crowd);
}

/* A connection from its socket until it stands; -1 when it does not. */
static int connect_once(struct echo_end *end)
{
	const char *what = "";
	bool bound = false;
	int fd = trial_socket_open(end->options, &bound, &what);
	int64_t limit = clock_now_us() + ECHO_LATE_US;
	int one = 1, result;

	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	result = trial_socket_connect(fd, end->options, &what);
	if (result == 0)
		result = -EINPROGRESS;
	while (result == -EINPROGRESS && !echo_end_stopped(end) && clock_now_us() < limit) {
		echo_end_wait(end, fd, POLLOUT, limit);
		result = trial_socket_connected(fd);
	}
	if (result == 0)
		return fd;
	close_now(fd);
	return -1;
}

/* Asks once; the time ends when the connection stands. */
static void ask_connection(struct asking *asking, struct crowd *crowd)
{
	struct echo_end *end = asking->end;
	uint64_t number = echo_count_ask(&end->count, clock_now_us());
	int fd = connect_once(end);

	if (fd < 0) {
		asking->next_us = clock_now_us() + REFUSED_US;
		return;
	}
	asking->answered_us = clock_now_us();
	echo_count_answer(&end->count, number, asking->answered_us);
	crowd->fds[(crowd->first + crowd->count++) % CROWD_MAX] = fd;
}

void echo_ask_connections(struct echo_end *end)
{
	struct asking asking = begin_asking(end);
	struct crowd crowd = {.count = 0};

	while (!echo_end_stopped(end)) {
		int64_t now = clock_now_us();

		if (!goes_on(&asking, now))
			break;
		if (is_stalled(&asking, now)) {
			end->outcome = ECHO_STALLED;
			break;
		}
		if (now < asking.next_us) {
			echo_end_wait(end, -1, 0, asking.next_us);
			continue;
		}
		make_room(end, &crowd);
		ask_connection(&asking, &crowd);
	}
	while (crowd.count > 0)
		leave_oldest(&crowd);
	finish(&asking);
}
