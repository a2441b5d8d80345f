#include "udp_receive.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "udp_socket.h"
#include "udp_wire.h"

/* Kernel headers of old toolchains lack these; the kernels decide. */
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef SO_RXQ_OVFL
#define SO_RXQ_OVFL 40
#endif

enum {
	MESSAGES_MAX = 64,
	BUNDLE_SIZE = 65536, /* what GRO may put together */
	BUNDLES_MAX = 16,    /* pages that no bundle fills are never touched */
	CONTROL_SIZE = 128,
};

#define SECOND_NS INT64_C(1000000000)

/* Where the kernel puts what it has. */
struct inbox {
	unsigned int count; /* messages at once */
	size_t size;        /* bytes kept of each */
	unsigned char *bytes;
	struct mmsghdr messages[MESSAGES_MAX];
	struct iovec parts[MESSAGES_MAX];
	/* As aligned as their headers are read. */
	_Alignas(struct cmsghdr) char controls[MESSAGES_MAX][CONTROL_SIZE];
};

struct udp_method_in {
	const char *name;
	unsigned int count;
	size_t size;
	/* The kernel's consent, asked once. NULL = every kernel can. */
	int (*prepare)(const struct udp_receiver *receiver);
	/* Fills the first messages of the inbox. Returns how many, or -errno. */
	int (*receive)(const struct udp_receiver *receiver, struct inbox *inbox);
};

static int prepare_gro(const struct udp_receiver *receiver)
{
	int one = 1;

	return setsockopt(receiver->fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)) < 0 ? -errno : 0;
}

static int prepare_many(const struct udp_receiver *receiver)
{
	return recvmmsg(receiver->fd, NULL, 0, MSG_DONTWAIT, NULL) < 0 && errno == ENOSYS ? -ENOSYS
											  : 0;
}

/* MSG_TRUNC: only the header is copied, and the length told is the datagram's own. */
static int receive_many(const struct udp_receiver *receiver, struct inbox *inbox)
{
	int got = recvmmsg(
		receiver->fd, inbox->messages, inbox->count, MSG_WAITFORONE | MSG_TRUNC, NULL);

	return got < 0 ? -errno : got;
}

static int receive_one(const struct udp_receiver *receiver, struct inbox *inbox)
{
	ssize_t got = recvmsg(receiver->fd, &inbox->messages[0].msg_hdr, MSG_TRUNC);

	if (got < 0)
		return -errno;
	inbox->messages[0].msg_len = (unsigned int)got;
	return 1;
}

/* The best first; each falls back to the next. */
static const struct udp_method_in methods[] = {
	{"gro", BUNDLES_MAX, BUNDLE_SIZE, prepare_gro, receive_many},
	{"recvmmsg", MESSAGES_MAX, UDP_HEADER_SIZE, prepare_many, receive_many},
	{"recv", 1, UDP_HEADER_SIZE, NULL, receive_one},
};
#define METHOD_COUNT (sizeof(methods) / sizeof(methods[0]))

static const struct udp_method_in *find_method(const char *name)
{
	for (size_t i = 0; i < METHOD_COUNT; i++) {
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	}
	return NULL;
}

bool udp_receiver_knows(const char *method)
{
	return find_method(method) != NULL;
}

static struct inbox *inbox_create(const struct udp_method_in *method)
{
	struct inbox *inbox = calloc(1, sizeof(*inbox));

	if (!inbox)
		return NULL;
	inbox->count = method->count;
	inbox->size = method->size;
	inbox->bytes = malloc(method->count * method->size);
	if (!inbox->bytes) {
		free(inbox);
		return NULL;
	}
	for (unsigned int i = 0; i < inbox->count; i++) {
		struct msghdr *header = &inbox->messages[i].msg_hdr;

		inbox->parts[i] = (struct iovec){inbox->bytes + i * inbox->size, inbox->size};
		header->msg_iov = &inbox->parts[i];
		header->msg_iovlen = 1;
		header->msg_control = inbox->controls[i];
	}
	return inbox;
}

static void inbox_free(struct inbox *inbox)
{
	if (!inbox)
		return;
	free(inbox->bytes);
	free(inbox);
}

/* What the kernel says of a message. */
struct note {
	size_t segment; /* bytes of each datagram in it; 0 = it is one */
	bool stamped;
	int64_t stamp_ns; /* of the wall clock */
	bool told;
	uint32_t drops;
};

/* musl's CMSG_NXTHDR mixes signs. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static struct note read_note(struct msghdr *header)
{
	struct note note = {0};

	for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
		const void *data = CMSG_DATA(at);
		struct timespec stamp;
		int segment;

		if (at->cmsg_level == IPPROTO_UDP && at->cmsg_type == UDP_GRO) {
			memcpy(&segment, data, sizeof(segment));
			note.segment = segment > 0 ? (size_t)segment : 0;
		} else if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SO_TIMESTAMPNS) {
			memcpy(&stamp, data, sizeof(stamp));
			note.stamped = true;
			note.stamp_ns = (int64_t)stamp.tv_sec * SECOND_NS + stamp.tv_nsec;
		} else if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SO_RXQ_OVFL) {
			memcpy(&note.drops, data, sizeof(note.drops));
			note.told = true;
		}
	}
	return note;
}

#pragma GCC diagnostic pop

static int64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void begin_window(struct udp_receiver *receiver)
{
	udp_tally_begin_window(&receiver->tally);
	receiver->drops_before = udp_socket_drops(receiver->fd);
	if (receiver->drops_before < 0)
		receiver->drops_before = receiver->drops;
	receiver->messages = receiver->datagrams = 0;
}

/* Takes the samples that were due before this time; the first one is of time 0. */
static void keep_time(struct udp_receiver *receiver, int64_t arrived_us)
{
	struct meter *meter = receiver->meter;

	if (receiver->first_us == 0) {
		const struct meter_sample zero = {0};

		receiver->first_us = arrived_us;
		meter_add(meter, &zero);
	}
	while (meter_last(meter)->at_us < meter->duration_us &&
		arrived_us - receiver->first_us >= meter_next_us(meter)) {
		const struct meter_sample sample = {
			.at_us = meter_next_us(meter),
			.bytes = receiver->tally.packets * receiver->options->size,
			.packets = receiver->tally.packets,
			.lost = (int64_t)receiver->tally.next - receiver->tally.packets,
		};

		if (meter_add(meter, &sample))
			begin_window(receiver);
	}
}

/* One datagram of at least a header's length in memory; length is its own. */
static void take_datagram(
	struct udp_receiver *receiver, const unsigned char *at, size_t length, int64_t arrived_ns)
{
	if (length != (size_t)receiver->options->size ||
		memcmp(at, receiver->options->trial.token, TRIAL_TOKEN_SIZE / 2) != 0)
		return;
	keep_time(receiver, arrived_ns / 1000);
	if (udp_tally_add(&receiver->tally, udp_wire_get(at + 8), (int64_t)udp_wire_get(at + 16),
		    arrived_ns))
		receiver->last_us = arrived_ns / 1000;
}

static void take_message(struct udp_receiver *receiver, struct inbox *inbox, unsigned int index,
	int64_t wall_ns, int64_t now_ns)
{
	struct mmsghdr *message = &inbox->messages[index];
	struct note note = read_note(&message->msg_hdr);
	/*
	 * The kernel stamps with the wall clock. Its age by that clock, told off the monotonic
	 * one, keeps a step of the wall clock out of the differences.
	 */
	int64_t age_ns = note.stamped ? wall_ns - note.stamp_ns : 0;
	int64_t arrived_ns = now_ns - (age_ns > 0 && age_ns < SECOND_NS ? age_ns : 0);
	const unsigned char *at = inbox->parts[index].iov_base;
	size_t left = message->msg_len;
	size_t segment = note.segment > 0 && note.segment < left ? note.segment : left;

	if (note.told)
		receiver->drops = note.drops;
	receiver->messages += left >= UDP_HEADER_SIZE;
	while (left >= UDP_HEADER_SIZE) {
		size_t length = left < segment ? left : segment;

		receiver->datagrams++;
		take_datagram(receiver, at, length, arrived_ns);
		at += length;
		left -= length;
	}
}

static void take_messages(struct udp_receiver *receiver, struct inbox *inbox, unsigned int count)
{
	uint64_t one = 1;
	int64_t wall_ns = read_clock(CLOCK_REALTIME), now_ns = read_clock(CLOCK_MONOTONIC);

	pthread_mutex_lock(&receiver->lock);
	bool before = receiver->tally.packets >= receiver->wanted;

	for (unsigned int i = 0; i < count; i++)
		take_message(receiver, inbox, i, wall_ns, now_ns);
	bool reached = !before && receiver->tally.packets >= receiver->wanted;

	pthread_mutex_unlock(&receiver->lock);
	if (reached && write(receiver->event, &one, sizeof(one)) < 0)
		return;
}

static void run_receiver(void *argument)
{
	struct udp_receiver *receiver = argument;
	struct inbox *inbox = inbox_create(receiver->method);

	while (inbox && !atomic_load_explicit(&receiver->stop, memory_order_relaxed)) {
		for (unsigned int i = 0; i < inbox->count; i++)
			inbox->messages[i].msg_hdr.msg_controllen = CONTROL_SIZE;
		int got = receiver->method->receive(receiver, inbox);

		/* An error is an ICMP message's, told once. */
		if (got > 0)
			take_messages(receiver, inbox, (unsigned int)got);
	}
	inbox_free(inbox);
}

static void choose_method(struct udp_receiver *receiver)
{
	const char *forced = receiver->options->method;

	receiver->method = forced[0] ? find_method(forced) : methods;
	while (receiver->method->prepare && receiver->method->prepare(receiver) < 0) {
		if (receiver->fallbacks[0])
			strcat(receiver->fallbacks, ",");
		strcat(receiver->fallbacks, receiver->method->name);
		receiver->method++;
	}
}

int udp_receiver_start(struct udp_receiver *receiver, const struct udp_options *options, int fd,
	struct meter *meter)
{
	int one = 1;

	memset(receiver, 0, sizeof(*receiver));
	receiver->options = options;
	receiver->fd = fd;
	receiver->wanted = 1;
	receiver->meter = meter;
	pthread_mutex_init(&receiver->lock, NULL);
	receiver->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (receiver->event < 0)
		return -errno;
	/* Without them the time is that of reading, and drops are known from SO_MEMINFO alone. */
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &one, sizeof(one));
	choose_method(receiver);
	int result = data_thread_start(&receiver->thread, run_receiver, receiver);

	if (result < 0)
		udp_receiver_finish(receiver);
	return result;
}

void udp_receiver_await(struct udp_receiver *receiver, int64_t packets)
{
	uint64_t times;
	ssize_t got = read(receiver->event, &times, sizeof(times));

	(void)got;
	pthread_mutex_lock(&receiver->lock);
	receiver->wanted = packets;
	pthread_mutex_unlock(&receiver->lock);
}

void udp_receiver_look(struct udp_receiver *receiver, struct udp_received *ret)
{
	pthread_mutex_lock(&receiver->lock);
	ret->packets = receiver->tally.packets;
	ret->bytes = receiver->tally.packets * receiver->options->size;
	ret->lost = (int64_t)receiver->tally.next - receiver->tally.packets;
	ret->first_us = receiver->first_us;
	ret->last_us = receiver->last_us;
	pthread_mutex_unlock(&receiver->lock);
}

/*
 * A bundle that finds no room counts once, however many datagrams were in it: it is taken for one
 * of the average size.
 */
int64_t udp_receiver_drops(struct udp_receiver *receiver)
{
	int64_t now = udp_socket_drops(receiver->fd);

	pthread_mutex_lock(&receiver->lock);
	/* The kernel counts in 32 bits. */
	uint32_t drops = (uint32_t)((now < 0 ? receiver->drops : now) - receiver->drops_before);
	int64_t bundle = receiver->messages > 0 ? receiver->messages : 1;
	int64_t result = receiver->messages > 0 ? (int64_t)drops * receiver->datagrams / bundle
						: (int64_t)drops;

	pthread_mutex_unlock(&receiver->lock);
	return result;
}

void udp_receiver_stop(struct udp_receiver *receiver)
{
	atomic_store(&receiver->stop, true);
	/* Wakes a thread that waits for a datagram. */
	if (receiver->thread.running)
		shutdown(receiver->fd, SHUT_RD);
	data_thread_join(&receiver->thread);
	if (receiver->first_us != 0)
		keep_time(receiver, receiver->first_us + receiver->meter->duration_us);
}

const char *udp_receiver_method(const struct udp_receiver *receiver)
{
	return receiver->method->name;
}

void udp_receiver_finish(struct udp_receiver *receiver)
{
	if (receiver->event >= 0)
		close(receiver->event);
	receiver->event = -1;
}
