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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "deadline.h"
#include "driven.h"

#define TOKEN "00112233445566778899aabbccddeeff"

static const unsigned char token[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99,
	0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

struct pair {
	struct driven listener, connector;
	int port;
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

static void listen_with(struct pair *pair, const char *role, const char *times)
{
	driven_say(&pair->listener,
		"3 listen test=tcp role=%s token=" TOKEN
		" family=4 address=127.0.0.1 interface= port=0 port_last=0 %s",
		role, times);
	driven_await(&pair->listener, 3, "listening");
	pair->port = (int)driven_number(&pair->listener, "port");
	assert_in_range(pair->port, 1, 65535);
}

static void connect_with(struct pair *pair, const char *role, const char *key, const char *times)
{
	driven_say(&pair->connector,
		"4 connect test=tcp role=%s token=%s family=4 address=127.0.0.1 interface= "
		"to=127.0.0.1 to_port=%d %s",
		role, key, pair->port, times);
}

/* Reads the intervals and the final record, and checks what must hold for both ends. */
static int64_t check_end(struct driven *agent, uint32_t id, bool sends, int64_t omit_us)
{
	int64_t total = 0, measured = 0, omitted = 0, last_us = 0, index = 0, window_us = 0;

	driven_await(agent, id, "interval");
	for (; strcmp(agent->record.type, "interval") == 0; driven_read(agent)) {
		int64_t bytes = driven_number(agent, "bytes");
		int64_t end_us = driven_number(agent, "end_us");

		assert_int_equal(driven_number(agent, "index"), index++);
		assert_int_equal(driven_number(agent, "start_us"), last_us);
		assert_true(end_us > last_us);
		total += bytes;
		if (driven_number(agent, "omitted")) {
			omitted++;
			assert_true(last_us < omit_us);
		} else {
			measured += bytes;
			window_us += end_us - last_us;
			assert_true(last_us >= omit_us);
		}
		if (sends) {
			assert_true(driven_number(agent, "rtt_us") >= 0);
			assert_true(driven_number(agent, "cwnd") > 0);
			assert_true(driven_number(agent, "retransmits") >= 0);
		}
		last_us = end_us;
	}
	assert_string_equal(agent->record.type, "ok");
	assert_true(omit_us > 0 ? omitted > 0 : omitted == 0);
	assert_int_equal(driven_number(agent, "bytes"), measured);
	assert_int_equal(driven_number(agent, "window_us"), window_us);
	assert_int_equal(driven_number(agent, "total_bytes"), total);
	assert_int_equal(driven_number(agent, "elapsed_us"), last_us);
	assert_true(measured > 0);
	return total;
}

static void run_pair(bool listener_sends, int streams, int omit_ms)
{
	struct pair pair;
	char times[200];
	int64_t totals[2];

	snprintf(times, sizeof(times),
		"streams=%d duration_ms=600 omit_ms=%d interval_ms=200 setup_ms=3000 stall_ms=3000 "
		"window=65536 mss=1000 dscp=10",
		streams, omit_ms);
	pair_start(&pair);
	listen_with(&pair, listener_sends ? "send" : "receive", times);
	connect_with(&pair, listener_sends ? "receive" : "send", TOKEN, times);
	driven_await(&pair.listener, 3, "connected");
	assert_int_equal(driven_number(&pair.listener, "streams"), streams);
	assert_in_range(driven_number(&pair.listener, "mss"), 900, 1000);
	assert_in_range(driven_number(&pair.listener, "receive_buffer"), 65536, 2 * 65536);
	assert_int_equal(driven_number(&pair.listener, "device_bound"), 0);
	assert_true(strlen(driven_text(&pair.listener, "congestion")) > 0);
	driven_await(&pair.connector, 4, "connected");
	totals[0] = check_end(&pair.listener, 3, listener_sends, omit_ms * 1000);
	totals[1] = check_end(&pair.connector, 4, !listener_sends, omit_ms * 1000);
	const struct driven *receiver = listener_sends ? &pair.connector : &pair.listener;

	assert_string_equal(driven_text(receiver, "method"), "recv_trunc");
	/* Exact at the receiver, but for the loop's own lateness on a busy machine. */
	assert_in_range(driven_number(receiver, "window_us"), 600000 - omit_ms * 1000 - 100000,
		600000 - omit_ms * 1000 + 300000);
	/* Nobody receives what was not sent; both totals count the same stream of bytes. */
	assert_true(listener_sends ? totals[0] >= totals[1] : totals[1] >= totals[0]);
	pair_stop(&pair);
}

static void measures_both_ways(void **state)
{
	(void)state;
	run_pair(false, 1, 200);
	run_pair(true, 1, 200);
	run_pair(false, 4, 0);
	run_pair(true, 3, 150);
}

static void probes(void **state)
{
	const char *times = "streams=2 duration_ms=0 omit_ms=0 interval_ms=0 setup_ms=3000 "
			    "stall_ms=1000";
	struct pair pair;

	(void)state;
	pair_start(&pair);
	listen_with(&pair, "receive", times);
	connect_with(&pair, "send", TOKEN, times);
	driven_await(&pair.listener, 3, "ok");
	assert_int_equal(driven_number(&pair.listener, "total_bytes"), 0);
	driven_await(&pair.connector, 4, "ok");
	assert_int_equal(driven_number(&pair.connector, "total_bytes"), 0);
	pair_stop(&pair);
}

static int dial(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
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

/* Strangers: silent, with a wrong token, with half of one. The trial goes on past them. */
static void drops_strangers(void **state)
{
	const char *times = "streams=1 duration_ms=300 omit_ms=0 interval_ms=100 setup_ms=8000 "
			    "stall_ms=3000";
	unsigned char wrong[17] = {0};
	struct pair pair;

	(void)state;
	pair_start(&pair);
	listen_with(&pair, "receive", times);
	int silent = dial(pair.port);
	int liar = dial(pair.port);
	int slow = dial(pair.port);
	int unnumbered = dial(pair.port);

	memcpy(wrong, token, 16);
	wrong[15] ^= 1;
	assert_int_equal(send(liar, wrong, 17, 0), 17);
	await_drop(liar);
	wrong[15] ^= 1;
	assert_int_equal(send(slow, wrong, 9, 0), 9);
	wrong[16] = 1; /* there is only stream 0 */
	assert_int_equal(send(unnumbered, wrong, 17, 0), 17);
	await_drop(unnumbered);
	connect_with(&pair, "send", "ffeeddccbbaa99887766554433221100", times);
	driven_await(&pair.connector, 4, "error");
	assert_string_equal(driven_text(&pair.connector, "code"), "refused");
	connect_with(&pair, "send", TOKEN, times);
	driven_await(&pair.listener, 3, "ok");
	assert_true(driven_number(&pair.listener, "bytes") > 0);
	driven_await(&pair.connector, 4, "ok");
	await_drop(silent);
	await_drop(slow);
	assert_int_equal(dial(pair.port), -1);
	pair_stop(&pair);
}

static void gives_up_waiting(void **state)
{
	const char *times = "streams=1 duration_ms=300 omit_ms=0 interval_ms=100 setup_ms=300 "
			    "stall_ms=300";
	struct pair pair;

	(void)state;
	pair_start(&pair);
	listen_with(&pair, "receive", times);
	int late = dial(pair.port);

	driven_say(&pair.listener,
		"9 listen test=tcp role=send token=" TOKEN " family=4 address=127.0.0.1 %s", times);
	driven_await(&pair.listener, 9, "error");
	assert_string_equal(driven_text(&pair.listener, "code"), "busy");
	driven_await(&pair.listener, 3, "error");
	assert_string_equal(driven_text(&pair.listener, "code"), "timeout");
	await_drop(late);
	connect_with(&pair, "send", TOKEN, times);
	driven_await(&pair.connector, 4, "error");
	assert_string_equal(driven_text(&pair.connector, "code"), "setup");
	pair_stop(&pair);
}

/* A peer that shows the token, sends a little and then nothing. */
static void stall_with(const char *times)
{
	unsigned char hello[17] = {0};
	char answer;
	struct pair pair;

	memcpy(hello, token, 16);
	pair_start(&pair);
	listen_with(&pair, "receive", times);
	int fd = dial(pair.port);

	assert_int_equal(send(fd, hello, 17, 0), 17);
	assert_int_equal(recv(fd, &answer, 1, 0), 1);
	assert_int_equal(answer, 'G');
	assert_int_equal(send(fd, "12345", 5, 0), 5);
	driven_await(&pair.listener, 3, "error");
	assert_string_equal(driven_text(&pair.listener, "code"), "stalled");
	assert_int_equal(driven_number(&pair.listener, "bytes"), 5);
	close(fd);
	pair_stop(&pair);
}

static void notices_a_stall(void **state)
{
	(void)state;
	stall_with("streams=1 duration_ms=5000 omit_ms=0 interval_ms=1000 setup_ms=3000 "
		   "stall_ms=300");
}

/* The trial is over before the stall's time is: what came before is no rate of the path. */
static void notices_a_stall_in_a_short_trial(void **state)
{
	(void)state;
	stall_with("streams=1 duration_ms=600 omit_ms=0 interval_ms=200 setup_ms=3000 "
		   "stall_ms=5000");
}

static const char *const long_trial = "streams=2 duration_ms=60000 omit_ms=0 interval_ms=1000 "
				      "setup_ms=3000 stall_ms=5000 window=65536";

static void notices_a_lost_peer(void **state)
{
	(void)state;
	for (int listener_dies = 0; listener_dies < 2; listener_dies++) {
		struct pair pair;
		struct driven *other = listener_dies ? &pair.connector : &pair.listener;

		pair_start(&pair);
		listen_with(&pair, "send", long_trial);
		connect_with(&pair, "receive", TOKEN, long_trial);
		driven_await(&pair.connector, 4, "progress");
		kill(listener_dies ? pair.listener.child.pid : pair.connector.child.pid, SIGKILL);
		driven_await(other, listener_dies ? 4 : 3, "error");
		assert_string_equal(driven_text(other, "code"), "lost");
		pair_stop(&pair);
	}
}

static void cancels(void **state)
{
	struct pair pair;

	(void)state;
	pair_start(&pair);
	listen_with(&pair, "receive", long_trial);
	connect_with(&pair, "send", TOKEN, long_trial);
	driven_await(&pair.listener, 3, "connected");
	driven_await(&pair.connector, 4, "connected");
	driven_say(&pair.connector, "5 cancel target=4");
	driven_await(&pair.connector, 4, "error");
	assert_string_equal(driven_text(&pair.connector, "code"), "cancelled");
	driven_await(&pair.connector, 5, "ok");
	driven_await(&pair.listener, 3, "error");
	assert_string_equal(driven_text(&pair.listener, "code"), "lost");
	/* Free for the next one, and a cancel too late is no error. */
	listen_with(&pair, "receive", long_trial);
	driven_say(&pair.listener, "6 cancel target=77");
	driven_await(&pair.listener, 6, "ok");
	driven_say(&pair.listener, "7 cancel target=3");
	driven_await(&pair.listener, 7, "ok");
	assert_int_equal(dial(pair.port), -1);
	pair_stop(&pair);
}

/* The input ends while data flows: the process and its sockets go within a second. */
static void ends_while_busy(void **state)
{
	struct pair pair;
	int64_t began;

	(void)state;
	pair_start(&pair);
	listen_with(&pair, "receive", long_trial);
	connect_with(&pair, "send", TOKEN, long_trial);
	driven_await(&pair.listener, 3, "connected");
	began = deadline_now();
	child_close_input(&pair.listener.child);
	child_close_input(&pair.connector.child);
	assert_int_equal(driven_exit(&pair.listener), 0);
	assert_int_equal(driven_exit(&pair.connector), 0);
	assert_true(deadline_now() - began < 2000);
	pair_stop(&pair);
}

static void refuses_bad_trials(void **state)
{
	static const char *const good = "test=tcp role=send token=" TOKEN
					" family=4 address=127.0.0.1 streams=1 duration_ms=10 "
					"omit_ms=0 interval_ms=0 setup_ms=100 stall_ms=100";
	static const struct {
		const char *from, *to, *code;
	} changes[] = {{"test=tcp", "test=udp", "bad"}, {"role=send", "role=all", "bad"},
		{"token=00", "token=", "bad"}, {"token=00", "token=xx", "bad"},
		{"family=4", "family=6", "bad"}, {"address=127.0.0.1", "address=", "bad"},
		{"streams=1", "streams=0", "bad"}, {"streams=1", "streams=65", "bad"},
		{" streams=1", "", "bad"}, {"duration_ms=10", "duration_ms=-1", "bad"},
		{"omit_ms=0", "omit_ms=10", "bad"}, {"setup_ms=100", "setup_ms=0", "bad"},
		{"role=", "dscp=64 role=", "bad"}, {"role=", "block=0 role=", "bad"},
		{"role=", "port=9 port_last=8 role=", "bad"},
		{"interval_ms=0 ", "interval_ms=1 block=1x ", "bad"},
		{"role=", "interface=0123456789abcdef role=", "bad"},
		{"role=", "interface=nosuchif0 role=", "setup"},
		{"role=", "congestion=nosuchcc role=", "setup"},
		{"address=127.0.0.1", "address=192.0.2.77", "setup"}};
	struct driven agent;

	(void)state;
	driven_start(&agent, NULL, NULL);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const char *at = strstr(good, changes[i].from);

		assert_non_null(at);
		driven_say(&agent, "%zu listen %.*s%s%s", i + 1, (int)(at - good), good,
			changes[i].to, at + strlen(changes[i].from));
		assert_true(driven_read(&agent));
		if (strcmp(agent.record.type, "error") != 0 ||
			strcmp(driven_text(&agent, "code"), changes[i].code) != 0)
			fail_msg("not refused as %s: %s", changes[i].code, changes[i].to);
	}
	driven_say(&agent, "99 listen %s", good);
	driven_await(&agent, 99, "listening");
	driven_stop(&agent);
}

#ifndef AGENT_SANITIZED
/* The bars for a small router (release builds): a file under 150 KB, and under 2 MB of memory with
 * one stream running. */
static void stays_small(void **state)
{
	struct pair pair;
	struct stat binary;

	(void)state;
	assert_int_equal(stat(getenv("AGENT"), &binary), 0);
	assert_in_range(binary.st_size, 1, 150000);
	pair_start(&pair);
	listen_with(&pair, "receive", long_trial);
	connect_with(&pair, "send", TOKEN, long_trial);
	driven_await(&pair.connector, 4, "progress");
	for (int i = 0; i < 2; i++) {
		char path[64], line[200];
		long kilobytes = 0;
		int pid = (int)(i ? pair.listener.child.pid : pair.connector.child.pid);

		snprintf(path, sizeof(path), "/proc/%d/status", pid);
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		while (fgets(line, sizeof(line), file))
			sscanf(line, "VmHWM: %ld", &kilobytes);
		fclose(file);
		print_message("resident at most: %ld kB\n", kilobytes);
		assert_in_range(kilobytes, 1, 2047);
	}
	pair_stop(&pair);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_both_ways),
		cmocka_unit_test(probes),
		cmocka_unit_test(drops_strangers),
		cmocka_unit_test(gives_up_waiting),
		cmocka_unit_test(notices_a_stall),
		cmocka_unit_test(notices_a_stall_in_a_short_trial),
		cmocka_unit_test(notices_a_lost_peer),
		cmocka_unit_test(cancels),
		cmocka_unit_test(ends_while_busy),
		cmocka_unit_test(refuses_bad_trials),
#ifndef AGENT_SANITIZED
		cmocka_unit_test(stays_small),
#endif
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
