#include "echo_end.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "rendezvous.h"

enum {
	STACK_SIZE = 128 << 10, /* address space; a thread touches a few pages of it */
	NICE = -10,
};

struct start {
	struct echo_end *end;
	echo_loop *loop;
};

static void announce(int event)
{
	uint64_t one = 1;
	ssize_t put = write(event, &one, sizeof(one));

	(void)put;
}

static void *run_end(void *argument)
{
	struct start start = *(struct start *)argument;

	/*
	 * A busy CPU must not look like a queue: where it is permitted, an answer goes before data
	 * threads. It takes some microseconds each.
	 */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
	announce(start.end->event);
	start.loop(start.end);
	atomic_store(&start.end->finished, true);
	announce(start.end->event);
	return NULL;
}

/* The thread has taken `start` off the stack when its first announcement comes. */
static int start_thread(struct echo_end *end, echo_loop *loop)
{
	struct start start = {.end = end, .loop = loop};
	struct pollfd begun = {.fd = end->event, .events = POLLIN};
	pthread_attr_t attributes;
	sigset_t all, before;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int result = pthread_create(&end->thread, &attributes, run_end, &start);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	end->running = result == 0;
	while (end->running && poll(&begun, 1, -1) < 0 && errno == EINTR)
		continue;
	return -result;
}

int echo_end_start(struct echo_end *end, echo_loop *loop, int fd)
{
	end->fd = fd;
	end->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	end->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (end->wake < 0 || end->event < 0)
		return -errno;
	return start_thread(end, loop);
}

void echo_end_wake(struct echo_end *end)
{
	announce(end->wake);
}

void echo_end_stop(struct echo_end *end)
{
	int *const fds[] = {&end->fd, &end->wake, &end->event};

	atomic_store(&end->stop, true);
	if (end->running) {
		announce(end->wake);
		pthread_join(end->thread, NULL);
	}
	end->running = false;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

int echo_end_wait(struct echo_end *end, int fd, int events, int64_t until_us)
{
	struct pollfd fds[] = {
		{.fd = end->wake, .events = POLLIN}, {.fd = fd, .events = (short)events}};
	int64_t left_us = until_us - clock_now_us();
	struct timespec left = {0};
	uint64_t times;

	if (left_us > 0)
		left = (struct timespec){.tv_sec = (time_t)(left_us / 1000000),
			.tv_nsec = (long)(left_us % 1000000) * 1000};
	if (ppoll(fds, fd >= 0 ? 2 : 1, &left, NULL) <= 0)
		return 0;
	if (fds[0].revents) {
		ssize_t got = read(end->wake, &times, sizeof(times));

		(void)got;
	}
	return fds[1].revents;
}

bool echo_end_stopped(struct echo_end *end)
{
	return atomic_load_explicit(&end->stop, memory_order_relaxed);
}

void echo_put_header(unsigned char *bytes, const struct trial_options *options, uint64_t number)
{
	memcpy(bytes, options->token, TRIAL_TOKEN_SIZE);
	for (size_t i = 0; i < 8; i++)
		bytes[TRIAL_TOKEN_SIZE + i] = (unsigned char)(number >> (56 - 8 * i));
}

bool echo_get_header(const unsigned char *bytes, size_t size, const struct trial_options *options,
	uint64_t *ret_number)
{
	uint64_t number = 0;

	if (size < ECHO_HEADER || !rendezvous_token_is_right(bytes, options->token))
		return false;
	for (size_t i = 0; i < 8; i++)
		number = number << 8 | bytes[TRIAL_TOKEN_SIZE + i];
	*ret_number = number;
	return true;
}
