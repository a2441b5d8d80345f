#include "udp_send.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "udp_wire.h"

/* Kernel headers of old toolchains lack it; the kernel decides. */
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum {
	BURST_MAX = 64,        /* UDP_MAX_SEGMENTS of the kernels before 6.9 */
	BLOCK_MAX = 65000,     /* with its headers an IP packet holds 65535 */
	BURST_NS = 250000,     /* of the rate: 31 kB at 1 Gbit/s, one datagram below 47 Mbit/s */
	LATE_NS = 1000000,     /* a timer's own lateness is less */
	BEHIND_NS = 250000000, /* what is made up for; beyond it the time is lost */
	LOOK_NS = 50000000,    /* how often a waiting sender looks whether it is to stop */
	ROOM_MS = 10,
};

#define SECOND_NS INT64_C(1000000000)

struct udp_method {
	const char *name;
	/* The kernel's consent, asked once. NULL = every kernel can. */
	int (*prepare)(const struct udp_sender *sender);
	/* Sends the first count datagrams of the block. Returns how many left, or -errno. */
	int (*send)(const struct udp_sender *sender, unsigned int count);
};

static int set_segment(const struct udp_sender *sender, int size)
{
	return setsockopt(sender->fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)) < 0 ? -errno
											 : 0;
}

static int prepare_gso(const struct udp_sender *sender)
{
	return set_segment(sender, (int)sender->options->size);
}

static int send_gso(const struct udp_sender *sender, unsigned int count)
{
	ssize_t put = send(
		sender->fd, sender->block, count * (size_t)sender->options->size, sender->flags);

	return put < 0 ? -errno : (int)count;
}

static int send_many(const struct udp_sender *sender, unsigned int count)
{
	struct mmsghdr messages[BURST_MAX];
	struct iovec parts[BURST_MAX];
	size_t size = (size_t)sender->options->size;

	memset(messages, 0, count * sizeof(messages[0]));
	for (unsigned int i = 0; i < count; i++) {
		parts[i] = (struct iovec){sender->block + i * size, size};
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	/* The C libraries differ in the flags' sign. */
	int put =
		sendmmsg(sender->fd, messages, count, sender->options->rate > 0 ? MSG_DONTWAIT : 0);

	return put < 0 ? -errno : put;
}

static int send_each(const struct udp_sender *sender, unsigned int count)
{
	size_t size = (size_t)sender->options->size;

	for (unsigned int i = 0; i < count; i++) {
		if (send(sender->fd, sender->block + i * size, size, sender->flags) < 0)
			return i > 0 ? (int)i : -errno;
	}
	return (int)count;
}

/* The best first; each falls back to the next. */
static const struct udp_method methods[] = {
	{"gso", prepare_gso, send_gso},
	{"sendmmsg", NULL, send_many},
	{"sendto", NULL, send_each},
};
#define METHOD_COUNT (sizeof(methods) / sizeof(methods[0]))

static const struct udp_method *find_method(const char *name)
{
	for (size_t i = 0; i < METHOD_COUNT; i++) {
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	}
	return NULL;
}

bool udp_sender_knows(const char *method)
{
	return find_method(method) != NULL;
}

static void fall_back(struct udp_sender *sender)
{
	if (sender->fallbacks[0])
		strcat(sender->fallbacks, ",");
	strcat(sender->fallbacks, sender->method->name);
	if (sender->method->prepare)
		set_segment(sender, 0);
	sender->method++;
}

/*
 * A datagram beyond the MTU, a device that computes no checksums (EIO), a kernel without the call:
 * the next method can.
 */
static bool may_fall_back(const struct udp_sender *sender, int result)
{
	return sender->method + 1 < methods + METHOD_COUNT &&
	       (result == -EINVAL || result == -EIO || result == -EMSGSIZE || result == -ENOSYS ||
		       result == -EOPNOTSUPP);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static bool stopped(struct udp_sender *sender)
{
	return atomic_load_explicit(&sender->stop, memory_order_relaxed);
}

/* Until the instant, or until it is to stop. Returns the time. */
static int64_t wait_until(struct udp_sender *sender, int64_t instant_ns)
{
	int64_t now = now_ns();

	while (now < instant_ns && !stopped(sender)) {
		int64_t until = instant_ns - now > LOOK_NS ? now + LOOK_NS : instant_ns;
		struct timespec at = {.tv_sec = (time_t)(until / SECOND_NS),
			.tv_nsec = (long)(until % SECOND_NS)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		now = now_ns();
	}
	return now;
}

static void write_headers(struct udp_sender *sender, uint64_t number, int64_t time_ns)
{
	unsigned char *at = sender->block;

	for (unsigned int i = 0; i < sender->burst; i++, at += sender->options->size) {
		udp_wire_put(at + 8, number + i);
		udp_wire_put(at + 16, (uint64_t)time_ns);
	}
}

static void note_refused(struct udp_sender *sender)
{
	pthread_mutex_lock(&sender->lock);
	sender->sent.refused += sender->burst;
	pthread_mutex_unlock(&sender->lock);
}

/*
 * Returns how many are done with; 0 when the kernel would not now. A stream at a fixed rate does
 * not wait for room: what cannot leave when it is due is lost, here as in a queue on the way.
 */
static unsigned int send_burst(struct udp_sender *sender)
{
	struct pollfd room = {.fd = sender->fd, .events = POLLOUT};
	int result = sender->method->send(sender, sender->burst);

	while (result < 0 && may_fall_back(sender, result)) {
		fall_back(sender);
		result = sender->method->send(sender, sender->burst);
	}
	if (result >= 0)
		return (unsigned int)result;
	if (result != -ENOBUFS && result != -EAGAIN)
		return 0;
	if (sender->options->rate > 0) {
		note_refused(sender);
		return sender->burst;
	}
	poll(&room, 1, ROOM_MS);
	return 0;
}

static void count(struct udp_sender *sender, unsigned int packets, bool late)
{
	pthread_mutex_lock(&sender->lock);
	sender->sent.packets += packets;
	sender->sent.bytes += packets * sender->options->size;
	sender->sent.late += late ? packets : 0;
	if (packets > sender->sent.burst)
		sender->sent.burst = packets;
	pthread_mutex_unlock(&sender->lock);
}

static void send_unpaced(struct udp_sender *sender)
{
	uint64_t number = 0;
	int64_t now = now_ns();

	while (!stopped(sender)) {
		write_headers(sender, number, now);
		unsigned int put = send_burst(sender);

		/* Refused or unreachable: not as fast as the CPU can ask. */
		now = put > 0 ? now_ns() : wait_until(sender, now + LATE_NS);
		count(sender, put, false);
		number += put;
	}
}

/*
 * Each burst has its time. Who was kept from sending makes up for it at four times the pace at
 * most: what piled up here must not arrive as a burst that a queue on the way drops.
 */
static void send_paced(struct udp_sender *sender)
{
	int64_t gap_ns = sender->gap_ns * sender->burst, due = now_ns(), least = due, rest = 0;
	int64_t end = due + sender->options->trial.duration_ms * (SECOND_NS / 1000);
	uint64_t number = 0;

	/* The loop stops it, too, but may be late: the rate's own number is never exceeded. */
	while (due < end && !stopped(sender)) {
		int64_t now = wait_until(sender, due > least ? due : least);

		if (stopped(sender))
			return;
		if (now - due > BEHIND_NS)
			due = now - BEHIND_NS;
		write_headers(sender, number, now);
		unsigned int put = send_burst(sender);

		count(sender, put, now - due > (gap_ns > LATE_NS ? gap_ns : LATE_NS));
		number += put;
		least = now + gap_ns / 4;
		if (put == 0) {
			due += gap_ns;
			continue;
		}
		rest += sender->gap_rest * put;
		due += sender->gap_ns * put + rest / sender->options->rate;
		rest %= sender->options->rate;
	}
}

/*
 * One datagram now and then takes no CPU to speak of, but on a busy host it would wait for one
 * behind everybody else, and the network be blamed. Where it is not permitted, `late` tells.
 */
static void ask_for_punctuality(const struct udp_sender *sender)
{
	struct sched_param least = {.sched_priority = 1};

	/* Of this thread alone; musl's own function refuses to. With bursts it would be more. */
	if (sender->burst == 1 && sender->gap_ns >= BURST_NS / 2)
		syscall(SYS_sched_setscheduler, 0, SCHED_RR, &least);
}

static void run_sender(void *argument)
{
	struct udp_sender *sender = argument;

	if (sender->options->rate > 0) {
		ask_for_punctuality(sender);
		send_paced(sender);
	} else {
		send_unpaced(sender);
	}
}

/* Not all zeros: a link that compresses must not look faster than it is. (Marsaglia's xorshift32,
 * Journal of Statistical Software 8(14), 2003.) */
static void fill_block(struct udp_sender *sender, size_t size)
{
	uint32_t state = 2463534242u;

	for (size_t i = 0; i < size; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		sender->block[i] = (unsigned char)(state >> 24);
	}
	for (unsigned int i = 0; i < sender->burst; i++)
		memcpy(sender->block + i * (size_t)sender->options->size,
			sender->options->trial.token, TRIAL_TOKEN_SIZE / 2);
}

static void choose_burst(struct udp_sender *sender)
{
	const struct udp_options *options = sender->options;
	int64_t burst = BLOCK_MAX / options->size;

	if (burst > BURST_MAX)
		burst = BURST_MAX;
	if (options->rate > 0) {
		sender->gap_ns = options->size * 8 * SECOND_NS / options->rate;
		sender->gap_rest = options->size * 8 * SECOND_NS % options->rate;
		if (sender->gap_ns > 0 && burst > BURST_NS / sender->gap_ns)
			burst = BURST_NS / sender->gap_ns;
	}
	sender->burst = burst > 0 ? (unsigned int)burst : 1;
}

static void choose_method(struct udp_sender *sender)
{
	const char *forced = sender->options->method;

	sender->method = forced[0] ? find_method(forced) : methods;
	while (sender->method->prepare && sender->method->prepare(sender) < 0)
		fall_back(sender);
}

int udp_sender_start(struct udp_sender *sender, const struct udp_options *options, int fd)
{
	memset(sender, 0, sizeof(*sender));
	sender->options = options;
	sender->fd = fd;
	sender->flags = options->rate > 0 ? MSG_DONTWAIT : 0;
	choose_burst(sender);
	choose_method(sender);
	pthread_mutex_init(&sender->lock, NULL);
	sender->block = malloc(sender->burst * (size_t)options->size);
	if (!sender->block)
		return -ENOMEM;
	fill_block(sender, sender->burst * (size_t)options->size);
	int result = data_thread_start(&sender->thread, run_sender, sender);

	if (result < 0)
		udp_sender_finish(sender);
	return result;
}

void udp_sender_look(struct udp_sender *sender, struct udp_sent *ret)
{
	pthread_mutex_lock(&sender->lock);
	*ret = sender->sent;
	pthread_mutex_unlock(&sender->lock);
}

void udp_sender_stop(struct udp_sender *sender)
{
	atomic_store(&sender->stop, true);
	/* Wakes a thread that waits for room in the socket's buffer. */
	if (sender->thread.running)
		shutdown(sender->fd, SHUT_WR);
	data_thread_join(&sender->thread);
}

const char *udp_sender_method(const struct udp_sender *sender)
{
	return sender->method->name;
}

void udp_sender_finish(struct udp_sender *sender)
{
	free(sender->block);
	sender->block = NULL;
}
