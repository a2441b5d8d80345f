#include "streams.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "files.h"
#include "trial_socket.h"

enum {
	STACK_SIZE = 128 << 10, /* address space; a thread touches a few pages of it */
	SEND_BLOCK = 128 << 10,
	RECEIVE_BLOCK = 1 << 20,
	COPY_BLOCK = 32 << 10,
};

static void announce(const struct streams *streams)
{
	uint64_t one = 1;
	ssize_t put = write(streams->event, &one, sizeof(one));

	(void)put;
}

static void count(struct stream *stream, size_t size)
{
	atomic_fetch_add_explicit(&stream->bytes, size, memory_order_relaxed);
}

static bool stopped(struct streams *streams)
{
	return atomic_load_explicit(&streams->stop, memory_order_relaxed);
}

static void mark_first(struct streams *streams)
{
	if (atomic_exchange(&streams->claimed, true))
		return;
	streams->first_us = clock_now_us();
	atomic_store(&streams->started, true);
	announce(streams);
}

static void send_all(struct stream *stream)
{
	const struct streams *all = stream->all;

	while (!stopped(stream->all)) {
		ssize_t put = send(stream->fd, all->block, all->block_size, MSG_NOSIGNAL);

		if (put >= 0)
			count(stream, (size_t)put);
		else if (errno != EINTR)
			return;
	}
}

/* Returns 0 at the connection's end, or -errno when the kernel cannot do without a copy. */
static int receive_uncopied(struct stream *stream)
{
	bool first = true;

	while (!stopped(stream->all)) {
		/* The bytes are dropped in the kernel: no copy, no cache line touched. */
		ssize_t got = recv(stream->fd, NULL, stream->all->block_size, MSG_TRUNC);

		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return errno == EFAULT || errno == EINVAL || errno == EOPNOTSUPP ? -errno
											 : 0;
		if (got > 0)
			count(stream, (size_t)got);
		if (first && got > 0) {
			mark_first(stream->all);
			first = false;
		}
	}
	return 0;
}

static void __attribute__((noinline)) receive_copied(struct stream *stream)
{
	char bytes[COPY_BLOCK];

	atomic_store(&stream->all->copying, true);
	while (!stopped(stream->all)) {
		ssize_t got = recv(stream->fd, bytes, sizeof(bytes), 0);

		if (got == 0 || (got < 0 && errno != EINTR))
			return;
		if (got > 0) {
			count(stream, (size_t)got);
			mark_first(stream->all);
		}
	}
}

static char *decimal(int number, char *end)
{
	*--end = '\0';
	do {
		*--end = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	return end;
}

/* Of this process, so never below a root of fake files. */
static bool read_scheduling(int task, int64_t *ret_run_us, int64_t *ret_wait_us)
{
	char path[64], digits[16], text[96];
	const char *at = text;
	int64_t run, wait;

	if (!files_join(path, sizeof(path), "/proc/self/task/",
		    decimal(task, digits + sizeof(digits)), "/schedstat", NULL) ||
		files_read(path, text, sizeof(text)) <= 0 || !files_parse_number(&at, &run) ||
		!files_parse_number(&at, &wait))
		return false;
	*ret_run_us = run / 1000;
	*ret_wait_us = wait / 1000;
	return true;
}

static void *run_stream(void *argument)
{
	struct stream *stream = argument;
	int task = (int)syscall(SYS_gettid);

	atomic_store(&stream->task, task);
	if (stream->all->sends)
		send_all(stream);
	else if (receive_uncopied(stream) < 0)
		receive_copied(stream);
	stream->told = read_scheduling(task, &stream->run_us, &stream->wait_us);
	atomic_store(&stream->finished, true);
	atomic_fetch_add(&stream->all->ended, 1);
	announce(stream->all);
	return NULL;
}

/* Not all zeros: a link that compresses must not look faster than it is. (Marsaglia's xorshift32,
 * Journal of Statistical Software 8(14), 2003.) */
static void fill_block(char *block, size_t size)
{
	uint32_t state = 2463534242u;

	for (size_t i = 0; i < size; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		block[i] = (char)(state >> 24);
	}
}

static int start_threads(struct streams *streams)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int result = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < streams->count && result == 0; i++) {
		struct stream *stream = &streams->each[i];

		result = pthread_create(&stream->thread, &attributes, run_stream, stream);
		stream->running = result == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -result;
}

int streams_start(struct streams *streams, const struct trial_options *options, const int *fds)
{
	size_t standard = options->sends ? SEND_BLOCK : RECEIVE_BLOCK;
	int result = 0;

	memset(streams, 0, sizeof(*streams));
	streams->sends = options->sends;
	streams->count = (int)options->streams;
	streams->block_size = options->block == TRIAL_UNSET ? standard : (size_t)options->block;
	for (int i = 0; i < streams->count; i++) {
		streams->each[i].all = streams;
		streams->each[i].fd = fds[i];
		trial_socket_arm(fds[i]);
	}
	streams->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (streams->event < 0)
		result = -errno;
	if (result == 0 && options->sends) {
		streams->block = malloc(streams->block_size);
		if (streams->block)
			fill_block(streams->block, streams->block_size);
		else
			result = -ENOMEM;
	}
	if (result == 0)
		result = start_threads(streams);
	if (result < 0)
		streams_stop(streams);
	return result;
}

int64_t streams_bytes(struct streams *streams)
{
	for (int i = 0; i < streams->count; i++) {
		struct stream *stream = &streams->each[i];
		unsigned long now = atomic_load_explicit(&stream->bytes, memory_order_relaxed);

		streams->total += (int64_t)(now - stream->seen);
		stream->seen = now;
	}
	return streams->total;
}

bool streams_scheduling(const struct streams *streams, int64_t *ret_run_us, int64_t *ret_wait_us)
{
	int64_t run_us = 0, wait_us = 0;

	for (int i = 0; i < streams->count; i++) {
		const struct stream *stream = &streams->each[i];
		int task = atomic_load(&stream->task);
		int64_t run = 0, wait = 0;
		bool alive = !atomic_load(&stream->finished) && task != 0 &&
			     read_scheduling(task, &run, &wait);

		if (!alive && atomic_load(&stream->finished)) {
			if (!stream->told)
				return false;
			run = stream->run_us;
			wait = stream->wait_us;
		} else if (!alive && task != 0) {
			return false;
		}
		run_us += run;
		wait_us += wait;
	}
	*ret_run_us = run_us;
	*ret_wait_us = wait_us;
	return true;
}

void streams_fds(const struct streams *streams, int *fds)
{
	for (int i = 0; i < streams->count; i++)
		fds[i] = streams->each[i].fd;
}

void streams_acknowledge(const struct streams *streams)
{
	uint64_t times;
	ssize_t got = read(streams->event, &times, sizeof(times));

	(void)got;
}

const char *streams_method(const struct streams *streams)
{
	if (streams->sends)
		return "write";
	return atomic_load(&streams->copying) ? "recv" : "recv_trunc";
}

void streams_stop(struct streams *streams)
{
	atomic_store(&streams->stop, true);
	/* Wakes a thread that waits in the kernel. The receiver sends nothing by it. */
	for (int i = 0; i < streams->count; i++) {
		if (streams->each[i].fd >= 0)
			shutdown(streams->each[i].fd, streams->sends ? SHUT_RDWR : SHUT_RD);
	}
	for (int i = 0; i < streams->count; i++) {
		struct stream *stream = &streams->each[i];

		if (stream->running)
			pthread_join(stream->thread, NULL);
		stream->running = false;
		if (stream->fd >= 0)
			close(stream->fd);
		stream->fd = -1;
	}
	if (streams->event >= 0)
		close(streams->event);
	streams->event = -1;
	free(streams->block);
	streams->block = NULL;
}
