#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "data_thread.h"
#include "trial_socket.h"

enum {
	STACK_SIZE = 128 << 10, /* address space; a thread touches a few pages of it */
	/* docs/engines.md, "The receiver" and "The sender" */
	BLOCK = 1 << 20,
	WRITE_BLOCK = 4 << 20,
};

void streams_announce(const struct streams *streams)
{
	uint64_t one = 1;
	ssize_t put = write(streams->event, &one, sizeof(one));

	(void)put;
}

static void *run_stream(void *argument)
{
	struct stream *stream = argument;
	int task = (int)syscall(SYS_gettid);

	atomic_store(&stream->task, task);
	bool orderly = stream->all->sends ? stream_send(stream) : stream_receive(stream);

	stream->ended_us = clock_now_us();
	if (orderly)
		trial_socket_disarm(stream->fd);
	else
		atomic_fetch_add(&stream->all->broken, 1);
	stream->told = data_thread_read_scheduling(task, &stream->run_us, &stream->wait_us);
	atomic_store(&stream->finished, true);
	atomic_fetch_add(&stream->all->ended, 1);
	/* The other end of an orderly one waits for this. */
	if (orderly)
		shutdown(stream->fd, SHUT_RDWR);
	streams_announce(stream->all);
	return NULL;
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

/* A byte count is spread evenly; the first streams take what is left over. */
static int64_t quota_of(const struct streams *streams, int number)
{
	return streams->bytes_wanted / streams->count +
	       (number < streams->bytes_wanted % streams->count);
}

static void take_descriptors(struct streams *streams, const int *fds)
{
	for (int i = 0; i < streams->count; i++) {
		streams->each[i].all = streams;
		streams->each[i].fd = fds[i];
		streams->each[i].pipe[0] = streams->each[i].pipe[1] = -1;
		streams->each[i].quota = quota_of(streams, i);
		trial_socket_arm(fds[i]);
	}
}

static void close_pipes(struct streams *streams)
{
	for (int i = 0; i < streams->count; i++) {
		for (int end = 0; end < 2; end++) {
			if (streams->each[i].pipe[end] >= 0)
				close(streams->each[i].pipe[end]);
			streams->each[i].pipe[end] = -1;
		}
	}
}

/* One for each stream, or none: all of a trial's streams go one way. */
static bool open_pipes(struct streams *streams)
{
	for (int i = 0; i < streams->count; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return false;
		memcpy(streams->each[i].pipe, ends, sizeof(ends));
		if (fcntl(ends[1], F_SETPIPE_SZ, STREAMS_PIPE_SIZE) < STREAMS_PIPE_SIZE)
			return false;
	}
	return true;
}

static int prepare_sending(struct streams *streams)
{
	streams->bytes = payload_map();
	if (!streams->bytes)
		return -ENOMEM;
	if (streams->method == TRIAL_SENDFILE) {
		streams->file = payload_open_file(streams->block_size);
		if (streams->file < 0)
			atomic_store(&streams->lacks, STREAMS_LACK_MEMFD);
	}
	if (streams->method == TRIAL_SPLICE && !open_pipes(streams)) {
		close_pipes(streams);
		atomic_store(&streams->lacks, STREAMS_LACK_PIPE);
	}
	return 0;
}

/* A forced method may be the other side's. */
static enum trial_method choose_method(const struct trial_options *options, bool sends)
{
	bool of_sender = options->method == TRIAL_SPLICE || options->method == TRIAL_SENDFILE ||
			 options->method == TRIAL_WRITE;

	if (options->method == TRIAL_BEST || of_sender != sends)
		return sends ? TRIAL_SPLICE : TRIAL_RECV_TRUNC;
	return options->method;
}

int streams_start(
	struct streams *streams, const struct trial_options *options, bool sends, const int *fds)
{
	int result = 0;

	memset(streams, 0, sizeof(*streams));
	streams->file = -1;
	streams->sends = sends;
	streams->at_once = options->nodelay == 1;
	streams->method = choose_method(options, sends);
	streams->count = (int)options->streams;
	streams->bytes_wanted = options->bytes == TRIAL_UNSET ? 0 : options->bytes;
	streams->block_size = options->block == TRIAL_UNSET ? BLOCK : (size_t)options->block;
	streams->write_size = options->block == TRIAL_UNSET ? WRITE_BLOCK : (size_t)options->block;
	take_descriptors(streams, fds);
	streams->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (streams->event < 0)
		result = -errno;
	if (result == 0 && sends)
		result = prepare_sending(streams);
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

int64_t streams_ended_us(const struct streams *streams)
{
	int64_t last = 0;

	for (int i = 0; i < streams->count; i++) {
		if (streams->each[i].ended_us > last)
			last = streams->each[i].ended_us;
	}
	return last;
}

bool streams_scheduling(const struct streams *streams, int64_t *ret_run_us, int64_t *ret_wait_us)
{
	int64_t run_us = 0, wait_us = 0;

	for (int i = 0; i < streams->count; i++) {
		const struct stream *stream = &streams->each[i];
		int task = atomic_load(&stream->task);
		int64_t run = 0, wait = 0;
		bool alive = !atomic_load(&stream->finished) && task != 0 &&
			     data_thread_read_scheduling(task, &run, &wait);

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
	static const char *const names[] = {[TRIAL_SPLICE] = "splice",
		[TRIAL_SENDFILE] = "sendfile",
		[TRIAL_WRITE] = "write",
		[TRIAL_RECV_TRUNC] = "recv_trunc",
		[TRIAL_RECV] = "recv"};
	enum trial_method last = streams->sends ? TRIAL_WRITE : TRIAL_RECV;

	return names[atomic_load(&streams->lacks) != 0 ? last : streams->method];
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
	if (streams->file >= 0)
		close(streams->file);
	streams->file = -1;
	close_pipes(streams);
	payload_unmap(streams->bytes);
	streams->bytes = NULL;
}
