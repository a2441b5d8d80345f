/* The latency test between two real agents over loopback, and over a relay with known delays. */
#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "driven.h"
#include "echo_relay.h"

#define TOKEN       "00112233445566778899aabbccddeeff"
#define WRONG_TOKEN "00112233445566778899aabbccddee00"
#define TIMES       "streams=1 omit_ms=0 interval_ms=0 setup_ms=4000"

static const unsigned char token[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99,
	0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

struct pair {
	struct driven listener, connector;
	bool listener_asks;
	int port, second;
};

static void begin_listening(struct pair *pair, const char *options)
{
	driven_start(&pair->listener, NULL, NULL);
	driven_start(&pair->connector, NULL, NULL);
	driven_say(&pair->listener,
		"3 listen test=echo role=%s token=" TOKEN
		" family=4 address=127.0.0.1 interface= port=0 port_last=0 %s",
		pair->listener_asks ? "send" : "receive", options);
	driven_await(&pair->listener, 3, "listening");
	pair->port = (int)driven_number(&pair->listener, "port");
	pair->second = wire_record_field(&pair->listener.record, "port2")
			       ? (int)driven_number(&pair->listener, "port2")
			       : 1;
}

static void connect_to(struct pair *pair, int port, const char *key, const char *options)
{
	driven_say(&pair->connector,
		"4 connect test=echo role=%s token=%s family=4 address=127.0.0.1 interface= "
		"to=127.0.0.1 to_port=%d to_port2=%d %s",
		pair->listener_asks ? "receive" : "send", key, port, pair->second, options);
}

static struct driven *asker(struct pair *pair)
{
	return pair->listener_asks ? &pair->listener : &pair->connector;
}

static struct driven *answerer(struct pair *pair)
{
	return pair->listener_asks ? &pair->connector : &pair->listener;
}

static uint32_t asker_id(const struct pair *pair)
{
	return pair->listener_asks ? 3 : 4;
}

static uint32_t answerer_id(const struct pair *pair)
{
	return pair->listener_asks ? 4 : 3;
}

static void stop(struct pair *pair)
{
	driven_stop(&pair->listener);
	driven_stop(&pair->connector);
}

/* The final's numbers must be in order, whatever they are. */
static void check_order(const struct driven *agent)
{
	static const char *const keys[] = {
		"min_us", "p50_us", "p90_us", "p99_us", "p999_us", "max_us"};
	int64_t last = -1;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		int64_t value = driven_number(agent, keys[i]);

		assert_true(value >= last);
		last = value;
	}
	assert_true(driven_number(agent, "mean_us") >= driven_number(agent, "min_us"));
	assert_true(driven_number(agent, "mean_us") <= driven_number(agent, "max_us"));
}

static void run_pair(const char *transport, bool listener_asks, const char *more)
{
	struct pair pair = {.listener_asks = listener_asks};
	char options[300];
	int64_t count, lost, elapsed_us;

	snprintf(options, sizeof(options), "transport=%s duration_ms=400 stall_ms=3000 " TIMES "%s",
		transport, more);
	begin_listening(&pair, options);
	connect_to(&pair, pair.port, TOKEN, options);
	driven_await(asker(&pair), asker_id(&pair), "ok");
	count = driven_number(asker(&pair), "count");
	lost = driven_number(asker(&pair), "lost");
	elapsed_us = driven_number(asker(&pair), "elapsed_us");
	assert_true(count > 0);
	assert_in_range(elapsed_us, 400000, 400000 + 1000000);
	assert_int_equal(
		driven_number(asker(&pair), "rate_milli"), count * 1000000000 / elapsed_us);
	check_order(asker(&pair));
	driven_await(answerer(&pair), answerer_id(&pair), "ok");
	/*
	 * Nobody hears an answer that was not given. A connection, though, is the kernel's answer:
	 * it stands before the listener has taken it from its queue.
	 */
	assert_in_range(driven_number(answerer(&pair), "count"),
		strcmp(transport, "connect") == 0 ? 1 : count, count + lost);
	stop(&pair);
}

static void measures_every_transport(void **state)
{
	(void)state;
	run_pair("udp", false, "");
	run_pair("udp", true, "");
	run_pair("udp", false, " size=1400");
	run_pair("tcp", false, "");
	run_pair("tcp", true, " size=1");
	run_pair("tcp", false, " size=65507");
	run_pair("connect", false, "");
}

/* Of ten questions six take 10 ms, two 60, one 150, and one is lost: of nine answers. */
static void percentiles_are_the_paths(void **state)
{
	static const int holds[] = {10, 10, 60, 10, RELAY_DROP, 10, 150, 10, 60, 10};
	static const struct relay_plan plan = {holds, 10};
	/* A busy machine adds to every time, but takes from none. */
	static const struct {
		const char *key;
		int64_t least_us;
	} wanted[] = {{"min_us", 10000}, {"p50_us", 10000}, {"p90_us", 150000 * 127 / 128},
		{"p99_us", 150000 * 127 / 128}, {"max_us", 150000}};
	const int64_t slack_us = 45000;
	struct pair pair = {.listener_asks = false};
	struct relay_counts counts;
	struct relay relay;
	const char *options = "transport=udp duration_ms=1500 stall_ms=3000 pace_ms=10 " TIMES;

	(void)state;
	relay_open(&relay);
	begin_listening(&pair, options);
	connect_to(&pair, relay.port, TOKEN, options);
	relay_run(&relay, pair.port, &plan, &counts);
	driven_await(asker(&pair), asker_id(&pair), "ok");
	/* The pace is kept though answers are slower than it, but for a busy machine. */
	assert_in_range(counts.questions, 60, 151);
	assert_int_equal(driven_number(asker(&pair), "lost"), counts.dropped);
	assert_int_equal(driven_number(asker(&pair), "count"), counts.questions - counts.dropped);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		int64_t value = driven_number(asker(&pair), wanted[i].key);

		if (value < wanted[i].least_us)
			fail_msg("%s is %lld", wanted[i].key, (long long)value);
	}
	assert_true(driven_number(asker(&pair), "p50_us") < 10000 + slack_us);
	stop(&pair);
	relay_close(&relay);
}

/* What is answered after the last question still counts, with its true time. */
static void waits_for_late_answers(void **state)
{
	static const int holds[] = {400};
	static const struct relay_plan plan = {holds, 1};
	const char *options = "transport=udp duration_ms=500 stall_ms=3000 pace_ms=20 " TIMES;
	struct pair pair = {.listener_asks = false};
	struct relay_counts counts;
	struct relay relay;

	(void)state;
	relay_open(&relay);
	begin_listening(&pair, options);
	connect_to(&pair, relay.port, TOKEN, options);
	relay_run(&relay, pair.port, &plan, &counts);
	driven_await(&pair.connector, 4, "ok");
	assert_int_equal(driven_number(&pair.connector, "lost"), 0);
	assert_int_equal(driven_number(&pair.connector, "count"), counts.questions);
	assert_true(driven_number(&pair.connector, "min_us") >= 400000);
	stop(&pair);
	relay_close(&relay);
}

static void silence_is_no_sample(void **state)
{
	static const int holds[] = {RELAY_DROP};
	static const struct relay_plan plan = {holds, 1};
	static const char *const paces[] = {"pace_ms=20", "pace_ms=0"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct pair pair = {.listener_asks = false};
		struct relay_counts counts;
		struct relay relay;
		char options[200];

		snprintf(options, sizeof(options),
			"transport=udp duration_ms=5000 stall_ms=300 %s " TIMES, paces[i]);
		relay_open(&relay);
		begin_listening(&pair, options);
		connect_to(&pair, relay.port, TOKEN, options);
		relay_run(&relay, pair.port, &plan, &counts);
		driven_await(&pair.connector, 4, "error");
		assert_string_equal(driven_text(&pair.connector, "code"), "stalled");
		stop(&pair);
		relay_close(&relay);
	}
}

static void marks_split_the_statistics(void **state)
{
	const char *options = "transport=udp duration_ms=20000 stall_ms=3000 pace_ms=10 " TIMES;

	(void)state;
	for (int listener_asks = 0; listener_asks < 2; listener_asks++) {
		struct pair pair = {.listener_asks = listener_asks};
		uint32_t id = asker_id(&pair);
		int64_t first;

		begin_listening(&pair, options);
		connect_to(&pair, pair.port, TOKEN, options);
		driven_await(asker(&pair), id, "connected");
		poll(NULL, 0, 150);
		driven_say(asker(&pair), "9 mark target=%u", id);
		driven_await(asker(&pair), 9, "ok");
		poll(NULL, 0, 100);
		driven_say(asker(&pair), "10 mark target=%u end=1", id);
		driven_await(asker(&pair), id, "part");
		assert_int_equal(driven_number(asker(&pair), "index"), 0);
		assert_in_range(driven_number(asker(&pair), "elapsed_us"), 150000, 3000000);
		first = driven_number(asker(&pair), "count");
		assert_true(first > 0);
		check_order(asker(&pair));
		driven_await(asker(&pair), id, "ok");
		assert_true(driven_number(asker(&pair), "count") > 0);
		assert_in_range(driven_number(asker(&pair), "elapsed_us"), 100000, 3000000);
		driven_await(answerer(&pair), answerer_id(&pair), "ok");
		assert_true(driven_number(answerer(&pair), "count") > first);
		stop(&pair);
	}
}

static void refuses_wrong_marks(void **state)
{
	const char *options = "transport=udp duration_ms=20000 stall_ms=3000 pace_ms=10 " TIMES;
	struct pair pair = {.listener_asks = false};

	(void)state;
	begin_listening(&pair, options);
	/* Not begun yet, not an asker, nobody, no number. */
	driven_say(&pair.listener, "9 mark target=3");
	driven_await(&pair.listener, 9, "error");
	connect_to(&pair, pair.port, TOKEN, options);
	driven_await(&pair.connector, 4, "connected");
	driven_say(&pair.listener, "9 mark target=3");
	driven_await(&pair.listener, 9, "error");
	driven_say(&pair.connector, "9 mark target=77");
	driven_await(&pair.connector, 9, "error");
	driven_say(&pair.connector, "9 mark target=x");
	driven_await(&pair.connector, 9, "error");
	for (int i = 0; i < 3; i++) {
		driven_say(&pair.connector, "9 mark target=4");
		driven_await(&pair.connector, 9, "ok");
	}
	driven_say(&pair.connector, "9 mark target=4");
	driven_await(&pair.connector, 9, "error");
	driven_say(&pair.connector, "9 cancel target=4");
	driven_await(&pair.connector, 4, "error");
	assert_string_equal(driven_text(&pair.connector, "code"), "cancelled");
	driven_await(&pair.listener, 3, "ok");
	stop(&pair);
}

static void tells_intervals(void **state)
{
	struct pair pair = {.listener_asks = false};
	const char *options = "transport=udp duration_ms=500 stall_ms=3000 pace_ms=10 streams=1 "
			      "omit_ms=200 interval_ms=100 setup_ms=4000";
	int64_t index = 0, count = 0;

	(void)state;
	begin_listening(&pair, options);
	connect_to(&pair, pair.port, TOKEN, options);
	driven_await(&pair.connector, 4, "interval");
	for (; strcmp(pair.connector.record.type, "interval") == 0; driven_read(&pair.connector)) {
		assert_int_equal(driven_number(&pair.connector, "index"), index);
		assert_int_equal(driven_number(&pair.connector, "start_us"), 100000 * index++);
		count += driven_number(&pair.connector, "count");
	}
	assert_int_equal(index, 5);
	/* The omitted start is in the intervals, not in the final numbers. */
	assert_true(driven_number(&pair.connector, "count") < count);
	assert_true(driven_number(&pair.connector, "elapsed_us") < 300000 + 50000);
	stop(&pair);
}

static int datagram_socket(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Nothing may come back, whatever is sent. */
static void knock(int port, const unsigned char *key)
{
	static const size_t sizes[] = {0, 1, 16, 24, 64, 65, 1400};
	unsigned char bytes[1400] = {0};
	int fd = datagram_socket(port);
	struct pollfd answer = {.fd = fd, .events = POLLIN};

	memcpy(bytes, key, 16);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		send(fd, bytes, sizes[i], 0);
	/* An ICMP error would be an answer as well: somebody has to be there. */
	assert_int_equal(poll(&answer, 1, 200), 0);
	close(fd);
}

static void answers_nobody_without_the_token(void **state)
{
	static const unsigned char wrong[16] = {0};
	const char *options = "transport=udp duration_ms=2000 stall_ms=3000 pace_ms=20 " TIMES;
	struct pair pair = {.listener_asks = false};

	(void)state;
	begin_listening(&pair, options);
	/* Before the meeting, and while questions are asked: even the right token then comes from
	 * the wrong place. */
	knock(pair.port, wrong);
	knock(pair.port, token);
	connect_to(&pair, pair.port, TOKEN, options);
	driven_await(&pair.connector, 4, "connected");
	driven_await(&pair.listener, 3, "connected");
	driven_await(&pair.connector, 4, "ok");
	assert_int_equal(driven_number(&pair.connector, "lost"), 0);
	stop(&pair);
}

static void drops_a_wrong_token(void **state)
{
	const char *options = "transport=tcp duration_ms=300 stall_ms=3000 " TIMES;
	struct pair pair = {.listener_asks = false};

	(void)state;
	begin_listening(&pair, options);
	connect_to(&pair, pair.port, WRONG_TOKEN, options);
	driven_await(&pair.connector, 4, "error");
	assert_string_equal(driven_text(&pair.connector, "code"), "refused");
	connect_to(&pair, pair.port, TOKEN, options);
	driven_await(&pair.connector, 4, "ok");
	stop(&pair);
}

static void a_dead_peer_ends_it(void **state)
{
	static const char *const transports[] = {"udp", "tcp", "connect"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct pair pair = {.listener_asks = false};
		char options[200];

		snprintf(options, sizeof(options),
			"transport=%s duration_ms=8000 stall_ms=6000 " TIMES, transports[i]);
		begin_listening(&pair, options);
		connect_to(&pair, pair.port, TOKEN, options);
		driven_await(&pair.connector, 4, "connected");
		kill(pair.listener.child.pid, SIGKILL);
		driven_await(&pair.connector, 4, "error");
		assert_string_equal(driven_text(&pair.connector, "code"), "lost");
		stop(&pair);
	}
}

/* Not exclusive: several beside each other, and beside a trial. */
static void runs_beside_others(void **state)
{
	const char *options = "transport=udp duration_ms=300 stall_ms=3000 pace_ms=20 " TIMES;
	struct pair pair = {.listener_asks = false};

	(void)state;
	begin_listening(&pair, options);
	connect_to(&pair, pair.port, TOKEN, options);
	driven_say(&pair.listener,
		"5 listen test=echo role=receive token=" TOKEN
		" family=4 address=127.0.0.1 interface= port=0 port_last=0 %s",
		options);
	driven_await(&pair.listener, 5, "listening");
	driven_say(&pair.listener, "6 listen test=tcp role=receive token=" TOKEN
				   " family=4 address=127.0.0.1 interface= port=0 port_last=0 "
				   "duration_ms=100 stall_ms=3000 " TIMES);
	driven_await(&pair.listener, 6, "listening");
	driven_await(&pair.connector, 4, "ok");
	stop(&pair);
}

static void refuses_bad_options(void **state)
{
	static const char *const wrong[][2] = {
		{"transport=sctp duration_ms=300 " TIMES, "transport="},
		{"duration_ms=300 " TIMES, "transport="},
		{"transport=udp size=23 duration_ms=300 " TIMES, "size="},
		{"transport=udp size=65508 duration_ms=300 " TIMES, "size="},
		{"transport=tcp size=0 duration_ms=300 " TIMES, "size="},
		{"transport=tcp pace_ms=20 duration_ms=300 " TIMES, "pace_ms="},
		{"transport=udp pace_ms=-1 duration_ms=300 " TIMES, "pace_ms="},
		{"transport=udp duration_ms=0 " TIMES, "duration_ms="},
		{"transport=udp duration_ms=300 streams=2 omit_ms=0 interval_ms=0 setup_ms=9",
			"streams="},
	};
	struct driven agent;

	(void)state;
	driven_start(&agent, NULL, NULL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		driven_say(&agent,
			"3 listen test=echo role=receive token=" TOKEN
			" family=4 address=127.0.0.1 interface= port=0 port_last=0 stall_ms=99 %s",
			wrong[i][0]);
		driven_await(&agent, 3, "error");
		assert_string_equal(driven_text(&agent, "code"), "bad");
		assert_memory_equal(
			driven_text(&agent, "message"), wrong[i][1], strlen(wrong[i][1]));
	}
	driven_say(&agent, "3 listen test=echo transport=udp role=both token=" TOKEN
			   " family=4 address=127.0.0.1 interface= port=0 port_last=0 stall_ms=99 "
			   "duration_ms=300 " TIMES);
	driven_await(&agent, 3, "error");
	/* The connecting end asks, and must be told where. */
	driven_say(&agent, "3 listen test=echo transport=connect role=send token=" TOKEN
			   " family=4 address=127.0.0.1 interface= port=0 port_last=0 stall_ms=99 "
			   "duration_ms=300 " TIMES);
	driven_await(&agent, 3, "error");
	driven_say(&agent, "3 connect test=echo transport=connect role=send token=" TOKEN
			   " family=4 address=127.0.0.1 interface= to=127.0.0.1 to_port=9 "
			   "stall_ms=99 duration_ms=300 " TIMES);
	driven_await(&agent, 3, "error");
	assert_non_null(strstr(driven_text(&agent, "message"), "to_port2="));
	driven_stop(&agent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_every_transport),
		cmocka_unit_test(percentiles_are_the_paths),
		cmocka_unit_test(waits_for_late_answers),
		cmocka_unit_test(silence_is_no_sample),
		cmocka_unit_test(marks_split_the_statistics),
		cmocka_unit_test(refuses_wrong_marks),
		cmocka_unit_test(tells_intervals),
		cmocka_unit_test(answers_nobody_without_the_token),
		cmocka_unit_test(drops_a_wrong_token),
		cmocka_unit_test(a_dead_peer_ends_it),
		cmocka_unit_test(runs_beside_others),
		cmocka_unit_test(refuses_bad_options),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
