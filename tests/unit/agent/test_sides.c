/* Two agents: every method and fallback, both directions at once, byte counts, strangers to them.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "driven.h"

#define TOKEN "00112233445566778899aabbccddeeff"
#define TIMES "omit_ms=0 interval_ms=100 setup_ms=5000 stall_ms=5000"

struct pair {
	struct driven listener, connector;
	int port;
};

/* What an end said of one of its sides; values of -1 were not said. */
struct side {
	int64_t bytes, total_bytes, window_us, intervals, interval_bytes;
	char method[16], fallbacks[40];
};

static void pair_start(struct pair *pair)
{
	driven_start(&pair->listener, NULL, NULL);
	driven_start(&pair->connector, NULL, NULL);
}

static void pair_stop(struct pair *pair)
{
	driven_stop(&pair->listener);
	driven_stop(&pair->connector);
}

static void listen_as(struct pair *pair, int family, const char *role, const char *keys)
{
	driven_say(&pair->listener,
		"3 listen test=tcp role=%s token=" TOKEN
		" family=%d address=%s interface= port=0 port_last=0 %s",
		role, family, family == 4 ? "127.0.0.1" : "::1", keys);
	driven_await(&pair->listener, 3, "listening");
	pair->port = (int)driven_number(&pair->listener, "port");
}

static void connect_as(struct pair *pair, int family, const char *role, const char *keys)
{
	const char *address = family == 4 ? "127.0.0.1" : "::1";

	driven_say(&pair->connector,
		"4 connect test=tcp role=%s token=" TOKEN
		" family=%d address=%s interface= to=%s to_port=%d %s",
		role, family, address, address, pair->port, keys);
}

static bool has_ipv6(void)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

	if (fd >= 0)
		close(fd);
	return bound;
}

static void take_total(const struct driven *agent, struct side *side)
{
	const char *fallbacks = wire_record_text(&agent->record, "fallbacks");

	side->bytes = driven_number(agent, "bytes");
	side->total_bytes = driven_number(agent, "total_bytes");
	side->window_us = driven_number(agent, "window_us");
	snprintf(side->method, sizeof(side->method), "%s", driven_text(agent, "method"));
	snprintf(side->fallbacks, sizeof(side->fallbacks), "%s", fallbacks ? fallbacks : "");
}

/* Reads to the final `ok`; sides[0] sends, sides[1] receives. One way: both are the same. */
static void read_sides(struct driven *agent, uint32_t id, struct side sides[2])
{
	memset(sides, 0, 2 * sizeof(sides[0]));
	do {
		assert_true(driven_read(agent));
		const char *name = wire_record_text(&agent->record, "side");
		bool receives = name && strcmp(name, "receive") == 0;

		if (agent->record.id != id)
			continue;
		if (strcmp(agent->record.type, "error") == 0)
			fail_msg("%s", driven_text(agent, "message"));
		if (strcmp(agent->record.type, "interval") == 0) {
			struct side *side = &sides[receives];

			assert_int_equal(driven_number(agent, "index"), side->intervals++);
			side->interval_bytes += driven_number(agent, "bytes");
		}
		if (strcmp(agent->record.type, "side") == 0)
			take_total(agent, &sides[receives]);
	} while (agent->record.id != id || strcmp(agent->record.type, "ok") != 0);
	if (sides[0].bytes == 0) {
		int64_t intervals = sides[0].intervals, bytes = sides[0].interval_bytes;

		take_total(agent, &sides[0]);
		sides[1] = sides[0];
		sides[0].intervals = sides[1].intervals = intervals;
		sides[0].interval_bytes = sides[1].interval_bytes = bytes;
	}
	assert_int_equal(driven_number(agent, "bytes"), sides[1].bytes);
}

/* A count that no block, page or piece divides, over one pair of methods. */
static void move_by(const char *sends, const char *receives, int family, const char *more)
{
	struct side sent[2], received[2];
	char keys[200];
	struct pair pair;

	pair_start(&pair);
	snprintf(keys, sizeof(keys), "streams=2 duration_ms=20000 bytes=5000001 method=%s " TIMES,
		receives);
	listen_as(&pair, family, "receive", keys);
	snprintf(keys, sizeof(keys), "streams=2 duration_ms=20000 bytes=5000001%s method=%s " TIMES,
		more, sends);
	connect_as(&pair, family, "send", keys);
	read_sides(&pair.connector, 4, sent);
	read_sides(&pair.listener, 3, received);
	assert_string_equal(sent[0].method, sends);
	assert_string_equal(received[1].method, receives);
	assert_string_equal(sent[0].fallbacks, "");
	assert_string_equal(received[1].fallbacks, "");
	assert_int_equal(sent[0].total_bytes, 5000001);
	assert_int_equal(received[1].total_bytes, 5000001);
	assert_int_equal(received[1].bytes, 5000001);
	assert_int_equal(received[1].interval_bytes, 5000001);
	assert_true(received[1].window_us < 20000000);
	pair_stop(&pair);
}

/* Each method in each role, in small calls, the usual ones, and ones larger than a pipe. */
static void moves_by_every_method(void **state)
{
	static const char *const send_methods[] = {"splice", "sendfile", "write"};
	static const char *const receive_methods[] = {"recv_trunc", "recv"};
	static const char *const options[] = {
		" block=7777", "", " block=16777216", " block=70000 nodelay=1"};

	(void)state;
	for (size_t i = 0; i < 3 * 2 * 4; i++) {
		int family = i & 1 && has_ipv6() ? 6 : 4;

		move_by(send_methods[i / 8], receive_methods[i / 4 % 2], family, options[i % 4]);
	}
}

/* A kernel that lacks it does with less, and the trial says so. */
static void falls_back(void **state)
{
	static const struct {
		const char *lacks, *role, *method, *fallback, *forced;
	} cases[] = {{"memfd", "send", "write", "memfd", " method=sendfile"},
		{"sendfile", "send", "write", "sendfile", " method=sendfile"},
		{"pipe", "send", "write", "pipe", ""}, {"pipe-size", "send", "write", "pipe", ""},
		{"vmsplice", "send", "write", "splice", ""},
		{"splice", "send", "write", "splice", ""},
		{"splice", "send", "write", "splice", " method=splice"},
		{"memfd", "send", "splice", "", ""}, {"trunc", "receive", "recv", "recv_trunc", ""},
		{"mark", "receive", "recv_trunc", "", ""}};
	const char *keys = "streams=3 duration_ms=20000 bytes=3000000 " TIMES;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool sends = strcmp(cases[i].role, "send") == 0;
		struct side poor[2], rich[2];
		struct pair pair;
		char forced[200];

		snprintf(forced, sizeof(forced), "%s%s", keys, cases[i].forced);
		driven_start_without(&pair.listener, cases[i].lacks);
		driven_start(&pair.connector, NULL, NULL);
		listen_as(&pair, 4, cases[i].role, forced);
		connect_as(&pair, 4, sends ? "receive" : "send", keys);
		read_sides(&pair.listener, 3, poor);
		read_sides(&pair.connector, 4, rich);
		assert_string_equal(poor[0].method, cases[i].method);
		assert_string_equal(poor[0].fallbacks, cases[i].fallback);
		assert_string_equal(rich[0].fallbacks, "");
		assert_int_equal(poor[0].bytes, 3000000);
		assert_int_equal(rich[0].bytes, 3000000);
		pair_stop(&pair);
	}
}

static void moves_both_ways_at_once(void **state)
{
	static const int streams[] = {1, 3, 64};

	(void)state;
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		struct side listener[2], connector[2];
		char keys[200];
		struct pair pair;

		snprintf(keys, sizeof(keys), "streams=%d duration_ms=500 window=65536 " TIMES,
			streams[i]);
		pair_start(&pair);
		listen_as(&pair, 4, "both", keys);
		connect_as(&pair, 4, "both", keys);
		read_sides(&pair.listener, 3, listener);
		read_sides(&pair.connector, 4, connector);
		for (int way = 0; way < 2; way++) {
			const struct side *sent = way ? &connector[0] : &listener[0];
			const struct side *received = way ? &listener[1] : &connector[1];

			assert_true(received->bytes > 0);
			assert_true(sent->total_bytes >= received->total_bytes);
			assert_int_equal(received->interval_bytes, received->total_bytes);
			assert_true(received->window_us >= 500000);
			assert_string_equal(sent->method, "splice");
			assert_string_equal(received->method, "recv_trunc");
		}
		pair_stop(&pair);
	}
}

/* 64 streams each way, and a count that they do not share evenly. */
static void counts_bytes_both_ways(void **state)
{
	const char *keys = "streams=64 duration_ms=20000 bytes=6400013 " TIMES;
	struct side listener[2], connector[2];
	struct pair pair;

	(void)state;
	pair_start(&pair);
	listen_as(&pair, 4, "both", keys);
	connect_as(&pair, 4, "both", keys);
	read_sides(&pair.listener, 3, listener);
	read_sides(&pair.connector, 4, connector);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(listener[i].total_bytes, 6400013);
		assert_int_equal(connector[i].total_bytes, 6400013);
		assert_int_equal(listener[i].bytes, 6400013);
		assert_int_equal(connector[i].bytes, 6400013);
	}
	pair_stop(&pair);
}

/* duration_ms bounds a count that is too large for it. */
static void ends_at_the_bound(void **state)
{
	const char *keys = "streams=1 duration_ms=400 bytes=1000000000000000 " TIMES;
	struct side sent[2], received[2];
	struct pair pair;

	(void)state;
	pair_start(&pair);
	listen_as(&pair, 4, "receive", keys);
	connect_as(&pair, 4, "send", keys);
	read_sides(&pair.listener, 3, received);
	read_sides(&pair.connector, 4, sent);
	/* At its time, not when the bytes are through; a busy machine may be late. */
	assert_in_range(received[1].window_us, 400000, 2000000);
	assert_in_range(received[1].bytes, 1, 999999999999999);
	pair_stop(&pair);
}

/* Options as the kernel took them, at both ends. */
static void grants_options(void **state)
{
	const char *keys = "streams=4 duration_ms=200 nodelay=1 dscp=46 mss=1000 congestion=reno "
			   "window=100000 pacing=80000000 " TIMES;
	struct side sides[2];

	(void)state;
	for (int family = 4; family <= 6; family += 2) {
		struct pair pair;

		if (family == 6 && !has_ipv6())
			continue;
		pair_start(&pair);
		listen_as(&pair, family, "receive", keys);
		connect_as(&pair, family, "send", keys);
		for (int end = 0; end < 2; end++) {
			struct driven *agent = end ? &pair.connector : &pair.listener;

			driven_await(agent, end ? 4 : 3, "connected");
			assert_int_equal(driven_number(agent, "nodelay"), 1);
			assert_int_equal(driven_number(agent, "dscp"), 46);
			assert_int_equal(driven_number(agent, "mss"), 988);
			assert_int_equal(driven_number(agent, "pacing"), 80000000);
			assert_int_equal(driven_number(agent, "send_buffer"), 200000);
			assert_int_equal(driven_number(agent, "receive_buffer"), 200000);
			assert_string_equal(driven_text(agent, "congestion"), "reno");
		}
		read_sides(&pair.listener, 3, sides);
		/* 80 Mbit/s of packets for .2 s, and the buffers' worth that leaves unpaced. */
		assert_in_range(sides[1].bytes, 1, 80000000 / 8 / 5 * 3 / 2);
		pair_stop(&pair);
	}
}

static int dial(int port, unsigned char number, const char *more)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	unsigned char hello[64] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa,
		0xbb, 0xcc, 0xdd, 0xee, 0xff, number};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	memcpy(hello + 17, more, strlen(more));
	assert_int_equal(send(fd, hello, 17 + strlen(more), 0), (ssize_t)(17 + strlen(more)));
	return fd;
}

static void await_drop(int fd)
{
	struct pollfd wanted = {.fd = fd, .events = POLLIN};
	char byte;

	assert_int_equal(poll(&wanted, 1, DRIVEN_PATIENCE_MS), 1);
	assert_true(recv(fd, &byte, 1, 0) <= 0);
	close(fd);
}

/* Both have the token: one sends before the start, one leaves before it. Neither is counted. */
static void drops_the_early(void **state)
{
	const char *keys = "streams=1 duration_ms=20000 bytes=100000 " TIMES;
	struct side listener[2], connector[2];
	struct pair pair;

	(void)state;
	pair_start(&pair);
	listen_as(&pair, 4, "both", keys);
	int early = dial(pair.port, 1, "too early");
	int leaver = dial(pair.port, 0, "");

	close(leaver);
	await_drop(early);
	connect_as(&pair, 4, "both", keys);
	read_sides(&pair.listener, 3, listener);
	read_sides(&pair.connector, 4, connector);
	assert_int_equal(listener[1].total_bytes, 100000);
	assert_int_equal(connector[1].total_bytes, 100000);
	pair_stop(&pair);
}

static void await_go(int fd)
{
	char answer = 0;

	assert_int_equal(recv(fd, &answer, 1, 0), 1);
	assert_int_equal(answer, 'G');
}

static void expect_error(struct pair *pair, const char *code)
{
	driven_await(&pair->listener, 3, "error");
	assert_string_equal(driven_text(&pair->listener, "code"), code);
}

/* A count is exact: more is refused, less is a loss, and silence a stall. */
static void refuses_a_wrong_count(void **state)
{
	static const struct {
		const char *text, *code;
		bool ends;
	} cases[] = {{"12345678901", "bad", false}, {"123456789", "lost", true},
		{"123456789", "stalled", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair pair;

		pair_start(&pair);
		listen_as(&pair, 4, "receive",
			"streams=1 duration_ms=20000 bytes=10 omit_ms=0 interval_ms=1000 "
			"setup_ms=5000 stall_ms=300");
		int fd = dial(pair.port, 0, "");

		await_go(fd);
		assert_int_equal(send(fd, cases[i].text, strlen(cases[i].text), 0),
			(ssize_t)strlen(cases[i].text));
		if (cases[i].ends)
			shutdown(fd, SHUT_WR);
		expect_error(&pair, cases[i].code);
		close(fd);
		pair_stop(&pair);
	}
}

/* One direction of two that stands still is a stall of the trial. */
static void notices_a_stalled_side(void **state)
{
	struct pair pair;
	char bytes[4096];

	(void)state;
	pair_start(&pair);
	listen_as(&pair, 4, "both",
		"streams=1 duration_ms=20000 omit_ms=0 interval_ms=1000 setup_ms=5000 "
		"stall_ms=400");
	int from = dial(pair.port, 0, "");
	int to = dial(pair.port, 1, "");

	await_go(from);
	await_go(to);
	/* What the listener sends is taken in; it gets five bytes back. */
	assert_int_equal(send(to, "12345", 5, 0), 5);
	while (recv(from, bytes, sizeof(bytes), 0) > 0)
		;
	expect_error(&pair, "stalled");
	close(from);
	close(to);
	pair_stop(&pair);
}

/* A receiver that waits for a fast path's worth of bytes still sees a slow one's in time. */
static void counts_a_trickle_in_time(void **state)
{
	static const char bytes[65536];
	const struct timespec pace = {.tv_nsec = 10000000};
	int64_t silent = 0, trickling = 0;
	struct pair pair;

	(void)state;
	pair_start(&pair);
	listen_as(&pair, 4, "receive",
		"streams=1 duration_ms=2000 omit_ms=0 interval_ms=100 setup_ms=5000 stall_ms=5000");
	int fd = dial(pair.port, 0, "");

	await_go(fd);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(send(fd, bytes, sizeof(bytes), 0), (ssize_t)sizeof(bytes));
	/* One byte each 10 ms, until the receiver's reset. */
	while (send(fd, bytes, 1, MSG_NOSIGNAL) == 1)
		nanosleep(&pace, NULL);
	close(fd);
	do {
		assert_true(driven_read(&pair.listener));
		assert_string_not_equal(pair.listener.record.type, "error");
		if (strcmp(pair.listener.record.type, "interval") != 0)
			continue;
		int64_t counted = driven_number(&pair.listener, "bytes");

		silent += counted == 0;
		trickling += counted > 0 && counted < 1000;
	} while (strcmp(pair.listener.record.type, "ok") != 0);
	/* A busy machine may hold the test itself up for one, and joins intervals that it was too
	 * late for. */
	assert_in_range(silent, 0, 1);
	assert_true(trickling >= 3);
	pair_stop(&pair);
}

static void refuses_combinations(void **state)
{
	static const char *const bad[] = {"bytes=10 omit_ms=1", "bytes=0", "bytes=1 streams=2",
		"bytes=10 duration_ms=0", "method=recv", "method=", "method=tee", "nodelay=2"};
	static const char *const keys[] = {"omit_ms=", "streams=", "duration_ms="};
	static const char *const usual[] = {"omit_ms=0", "streams=1", "duration_ms=10"};
	struct driven agent;

	(void)state;
	driven_start(&agent, NULL, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char rest[100] = "";

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			if (strstr(bad[i], keys[k]))
				continue;
			strcat(rest, " ");
			strcat(rest, usual[k]);
		}
		driven_say(&agent,
			"%zu listen test=tcp role=send token=" TOKEN
			" family=4 address=127.0.0.1 interval_ms=0 setup_ms=100 stall_ms=100 %s%s",
			i + 1, bad[i], rest);
		assert_true(driven_read(&agent));
		assert_string_equal(agent.record.type, "error");
		if (strcmp(driven_text(&agent, "code"), "bad") != 0)
			fail_msg("%s: %s", bad[i], driven_text(&agent, "message"));
	}
	driven_stop(&agent);
}

static void names_congestion_controls(void **state)
{
	char offered[256] = "";
	struct driven agent;
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "r");

	(void)state;
	assert_non_null(file);
	assert_non_null(fgets(offered, sizeof(offered), file));
	fclose(file);
	offered[strcspn(offered, "\n")] = '\0';
	driven_start(&agent, NULL, NULL);
	driven_say(&agent,
		"1 listen test=tcp role=send token=" TOKEN " family=4 address=127.0.0.1 streams=1 "
		"duration_ms=10 congestion=nonsense " TIMES);
	driven_await(&agent, 1, "error");
	assert_string_equal(driven_text(&agent, "code"), "setup");
	assert_non_null(strstr(driven_text(&agent, "message"), "\"nonsense\""));
	assert_non_null(strstr(driven_text(&agent, "message"), offered));
	driven_stop(&agent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_by_every_method),
		cmocka_unit_test(falls_back),
		cmocka_unit_test(moves_both_ways_at_once),
		cmocka_unit_test(counts_bytes_both_ways),
		cmocka_unit_test(ends_at_the_bound),
		cmocka_unit_test(grants_options),
		cmocka_unit_test(drops_the_early),
		cmocka_unit_test(refuses_a_wrong_count),
		cmocka_unit_test(notices_a_stalled_side),
		cmocka_unit_test(counts_a_trickle_in_time),
		cmocka_unit_test(refuses_combinations),
		cmocka_unit_test(names_congestion_controls),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
