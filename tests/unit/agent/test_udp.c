/* The UDP test of the real agent, two of them over loopback. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "driven.h"
#include "udp_relay.h"

#define TOKEN "00112233445566778899aabbccddeeff"

struct pair {
	struct driven listener, connector;
	int port;
};

/* What both ends said at the end. */
struct outcome {
	int64_t sent, sent_bytes, late, burst;
	int64_t packets, lost, duplicates, reordered, drops, bytes, total_bytes, window_us;
	int64_t jitter_us, jitter_p50_us, jitter_max_us;
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

static void listen_with(struct pair *pair, const char *role, const char *address, const char *keys)
{
	driven_say(&pair->listener,
		"3 listen test=udp role=%s token=" TOKEN
		" address=%s interface= port=0 port_last=0 streams=1 %s",
		role, address, keys);
	driven_await(&pair->listener, 3, "listening");
	pair->port = (int)driven_number(&pair->listener, "port");
}

static void connect_with(
	struct pair *pair, const char *role, const char *address, int port, const char *keys)
{
	driven_say(&pair->connector,
		"4 connect test=udp role=%s token=" TOKEN
		" address=%s interface= to=%s to_port=%d streams=1 %s",
		role, address, address, port, keys);
}

static void read_sender(struct driven *agent, uint32_t id, struct outcome *outcome)
{
	driven_await(agent, id, "ok");
	outcome->sent = driven_number(agent, "packets");
	outcome->sent_bytes = driven_number(agent, "total_bytes");
	outcome->burst = driven_number(agent, "burst");
	outcome->late = driven_number(agent, "late");
}

static void read_receiver(struct driven *agent, uint32_t id, struct outcome *outcome)
{
	driven_await(agent, id, "ok");
	outcome->packets = driven_number(agent, "packets");
	outcome->lost = driven_number(agent, "lost");
	outcome->duplicates = driven_number(agent, "duplicates");
	outcome->reordered = driven_number(agent, "reordered");
	outcome->drops = driven_number(agent, "socket_drops");
	outcome->bytes = driven_number(agent, "bytes");
	outcome->total_bytes = driven_number(agent, "total_bytes");
	outcome->window_us = driven_number(agent, "window_us");
	outcome->jitter_us = driven_number(agent, "jitter_us");
	outcome->jitter_p50_us = driven_number(agent, "jitter_p50_us");
	outcome->jitter_max_us = driven_number(agent, "jitter_max_us");
	assert_true(outcome->jitter_p50_us <= driven_number(agent, "jitter_p90_us"));
	assert_true(driven_number(agent, "jitter_p90_us") <= driven_number(agent, "jitter_p99_us"));
	assert_true(driven_number(agent, "jitter_p99_us") <= outcome->jitter_max_us);
}

static struct outcome run_pair(const char *family, bool listener_sends, const char *send_method,
	const char *receive_method, const char *keys)
{
	const char *address = strcmp(family, "4") == 0 ? "127.0.0.1" : "::1";
	char sender[300], receiver[300];
	struct outcome outcome;
	struct pair pair;

	snprintf(sender, sizeof(sender), "family=%s %s%s", family, keys, send_method);
	snprintf(receiver, sizeof(receiver), "family=%s %s%s", family, keys, receive_method);
	pair_start(&pair);
	listen_with(&pair, listener_sends ? "send" : "receive", address,
		listener_sends ? sender : receiver);
	connect_with(&pair, listener_sends ? "receive" : "send", address, pair.port,
		listener_sends ? receiver : sender);
	struct driven *from = listener_sends ? &pair.listener : &pair.connector;
	struct driven *to = listener_sends ? &pair.connector : &pair.listener;

	read_sender(from, listener_sends ? 3 : 4, &outcome);
	read_receiver(to, listener_sends ? 4 : 3, &outcome);
	if (send_method[0])
		assert_string_equal(driven_text(from, "method"), strchr(send_method, '=') + 1);
	if (receive_method[0])
		assert_string_equal(driven_text(to, "method"), strchr(receive_method, '=') + 1);
	pair_stop(&pair);
	return outcome;
}

/* Forced, each method carries every datagram there is, and nothing is counted twice. */
static void every_method_counts_alike(void **state)
{
	static const char *const senders[] = {" method=gso", " method=sendmmsg", " method=sendto"};
	static const char *const receivers[] = {" method=gro", " method=recvmmsg", " method=recv"};

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		struct outcome outcome = run_pair(i % 2 ? "6" : "4", i % 4 > 1, senders[i / 3],
			receivers[i % 3],
			"duration_ms=200 omit_ms=0 interval_ms=50 setup_ms=5000 stall_ms=5000 "
			"size=1000 rate=80000000");

		assert_int_equal(outcome.sent_bytes, outcome.sent * 1000);
		assert_int_equal(outcome.packets + outcome.lost, outcome.sent);
		assert_int_equal(outcome.lost, outcome.drops);
		assert_int_equal(outcome.duplicates, 0);
		assert_int_equal(outcome.reordered, 0);
		/* 10,000 a second are two in 250 us. */
		assert_int_equal(outcome.burst, 2);
		/* At most the rate and what the start and the end can add. */
		assert_in_range(outcome.sent, 1, 2000 + 2);
	}
}

static void unpaced_counts_as_well(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct outcome outcome = run_pair("4", false, "", i ? " method=recv" : "",
			"duration_ms=300 omit_ms=0 interval_ms=0 setup_ms=5000 stall_ms=5000 "
			"size=1448 rate=0");

		assert_int_equal(outcome.packets + outcome.lost, outcome.sent);
		assert_int_equal(outcome.burst, 65000 / 1448);
		/* What gets lost on loopback gets lost at the socket. Bundles count by guess. */
		if (i)
			assert_int_equal(outcome.lost, outcome.drops);
		else
			assert_true(outcome.lost == 0 || outcome.drops > 0);
	}
}

static void omits_the_start(void **state)
{
	struct outcome outcome = run_pair("4", true, "", "",
		"duration_ms=600 omit_ms=300 interval_ms=100 setup_ms=5000 stall_ms=5000 size=500 "
		"rate=4000000");

	(void)state;
	assert_int_equal(outcome.sent_bytes, outcome.sent * 500);
	assert_true(outcome.packets + outcome.lost < outcome.sent);
	assert_true(outcome.bytes < outcome.total_bytes);
	assert_true(outcome.total_bytes <= outcome.sent_bytes);
	assert_in_range(outcome.window_us, 250000, 600000);
}

/* A datagram every 800 us: had they left in bursts, half of the spacings were off by that. */
static void paces_evenly(void **state)
{
	struct outcome outcome = run_pair("4", false, "", "",
		"duration_ms=1000 omit_ms=0 interval_ms=0 setup_ms=5000 stall_ms=5000 size=500 "
		"rate=5000000");

	(void)state;
	assert_int_equal(outcome.burst, 1);
	assert_true(outcome.jitter_p50_us < 200);
}

static void run_relayed(const struct relay_plan *plan, struct outcome *outcome,
	struct relay_counts *counts, const char *method)
{
	const char *keys = "family=4 duration_ms=700 omit_ms=0 interval_ms=100 setup_ms=5000 "
			   "stall_ms=5000 size=500 rate=4000000";
	char receiver[300];
	struct relay relay;
	struct pair pair;

	snprintf(receiver, sizeof(receiver), "%s%s", keys, method);
	pair_start(&pair);
	relay_open(&relay);
	listen_with(&pair, "receive", "127.0.0.1", receiver);
	connect_with(&pair, "send", "127.0.0.1", relay.port, keys);
	relay_run(&relay, pair.port, plan, counts);
	read_sender(&pair.connector, 4, outcome);
	read_receiver(&pair.listener, 3, outcome);
	relay_close(&relay);
	pair_stop(&pair);
}

static void counts_what_a_path_does(void **state)
{
	static const struct relay_plan plans[] = {
		{.lose = 3, .twice = -1, .swap = -1, .forge = -1},
		{.lose = -1, .twice = 5, .swap = -1, .forge = -1},
		{.lose = -1, .twice = -1, .swap = 7, .forge = -1},
		{.lose = -1, .twice = -1, .swap = -1, .forge = 9},
		{.lose = 2, .twice = 4, .swap = 6, .forge = 8},
		/* The swapped one comes after the one that is lost. */
		{.lose = 7, .twice = -1, .swap = 6, .forge = -1},
	};
	static const char *const methods[] = {"", " method=recvmmsg", " method=recv"};

	(void)state;
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		struct relay_counts counts;
		struct outcome outcome;

		run_relayed(&plans[i], &outcome, &counts, methods[i % 3]);
		assert_int_equal(counts.seen, outcome.sent);
		assert_true(counts.lost > 0 || plans[i].lose < 0);
		assert_true(counts.forged > 0 || plans[i].forge < 0);
		assert_int_equal(outcome.drops, 0);
		assert_int_equal(outcome.lost, counts.lost);
		assert_int_equal(outcome.packets, outcome.sent - counts.lost);
		assert_int_equal(outcome.duplicates, counts.doubled);
		/* The last one of all may have nobody to change places with. */
		assert_in_range(
			outcome.reordered, counts.swapped - (counts.swapped > 0), counts.swapped);
	}
}

static void says_when_udp_is_filtered(void **state)
{
	static const struct relay_plan deaf = {-1, -1, -1, -1, true};
	const char *keys = "family=4 duration_ms=500 omit_ms=0 interval_ms=0 stall_ms=600 size=500 "
			   "rate=1000000 setup_ms=600";
	struct relay_counts counts;
	char patient[200];
	struct relay relay;
	struct pair pair;

	(void)state;
	pair_start(&pair);
	relay_open(&relay);
	listen_with(&pair, "receive", "127.0.0.1", keys);
	/* 5.4 s more: the listener is the first to give up. */
	snprintf(patient, sizeof(patient), "%s0", keys);
	connect_with(&pair, "send", "127.0.0.1", relay.port, patient);
	relay_run(&relay, pair.port, &deaf, &counts);
	driven_await(&pair.listener, 3, "error");
	assert_string_equal(driven_text(&pair.listener, "code"), "timeout");
	assert_non_null(strstr(driven_text(&pair.listener, "message"), "UDP"));
	driven_await(&pair.connector, 4, "error");
	relay_close(&relay);
	pair_stop(&pair);
}

/* A receiver that is kept from reading loses at its socket, and says so to the datagram. */
static void tells_socket_drops_from_loss(void **state)
{
	const char *keys = "family=4 duration_ms=1500 omit_ms=0 interval_ms=0 setup_ms=5000 "
			   "stall_ms=5000 window=8192 size=1000 rate=8000000 method=recv";
	char sender[300];
	struct outcome outcome;
	struct pair pair;

	(void)state;
	snprintf(sender, sizeof(sender), "%.*s", (int)(strstr(keys, " method") - keys), keys);
	pair_start(&pair);
	listen_with(&pair, "receive", "127.0.0.1", keys);
	connect_with(&pair, "send", "127.0.0.1", pair.port, sender);
	driven_await(&pair.listener, 3, "connected");
	driven_await(&pair.connector, 4, "connected");
	assert_int_equal(kill(pair.listener.child.pid, SIGSTOP), 0);
	/* The first progress comes after a second: two thirds of the test. */
	driven_await(&pair.connector, 4, "progress");
	assert_int_equal(kill(pair.listener.child.pid, SIGCONT), 0);
	read_sender(&pair.connector, 4, &outcome);
	read_receiver(&pair.listener, 3, &outcome);
	assert_true(outcome.lost > outcome.sent / 2);
	assert_int_equal(outcome.packets + outcome.lost, outcome.sent);
	assert_int_equal(outcome.drops, outcome.lost);
	pair_stop(&pair);
}

static void notices_a_lost_peer(void **state)
{
	const char *keys = "family=4 duration_ms=60000 omit_ms=0 interval_ms=0 setup_ms=5000 "
			   "stall_ms=5000 size=1000 rate=8000000";

	(void)state;
	for (int listener_dies = 0; listener_dies < 2; listener_dies++) {
		struct pair pair;
		struct driven *other = listener_dies ? &pair.connector : &pair.listener;

		pair_start(&pair);
		listen_with(&pair, "send", "127.0.0.1", keys);
		connect_with(&pair, "receive", "127.0.0.1", pair.port, keys);
		driven_await(&pair.connector, 4, "progress");
		kill(listener_dies ? pair.listener.child.pid : pair.connector.child.pid, SIGKILL);
		driven_await(other, listener_dies ? 4 : 3, "error");
		assert_string_equal(driven_text(other, "code"), "lost");
		pair_stop(&pair);
	}
}

/* Stopped, not dead: nothing closes, and nothing comes. */
static void notices_a_stall(void **state)
{
	const char *keys = "family=4 duration_ms=60000 omit_ms=0 interval_ms=0 setup_ms=5000 "
			   "stall_ms=400 size=1000 rate=8000000";
	struct pair pair;

	(void)state;
	pair_start(&pair);
	listen_with(&pair, "receive", "127.0.0.1", keys);
	connect_with(&pair, "send", "127.0.0.1", pair.port, keys);
	driven_await(&pair.listener, 3, "progress");
	kill(pair.connector.child.pid, SIGSTOP);
	driven_await(&pair.listener, 3, "error");
	assert_string_equal(driven_text(&pair.listener, "code"), "stalled");
	kill(pair.connector.child.pid, SIGCONT);
	pair_stop(&pair);
}

static void refuses_bad_tests(void **state)
{
	static const char *const good = "test=udp role=send token=" TOKEN
					" family=4 address=127.0.0.1 streams=1 duration_ms=10 "
					"omit_ms=0 interval_ms=0 setup_ms=100 stall_ms=100 "
					"size=1000 rate=1000000";
	static const struct {
		const char *from, *to;
	} changes[] = {{"size=1000", "size=23"}, {"size=1000", "size=65508"}, {" size=1000", ""},
		{" rate=1000000", ""}, {"rate=1000000", "rate=-1"},
		{"rate=1000000", "rate=1000000000001"}, {"streams=1", "streams=2"},
		{"rate=1000000", "rate=1000000 method=gro"},
		{"role=send", "role=receive method=gso"}, {"test=udp", "test=utp"}};
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
			strcmp(driven_text(&agent, "code"), "bad") != 0)
			fail_msg("not refused: %s", changes[i].to);
	}
	driven_say(&agent, "99 listen %s", good);
	driven_await(&agent, 99, "listening");
	driven_stop(&agent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_method_counts_alike),
		cmocka_unit_test(unpaced_counts_as_well),
		cmocka_unit_test(omits_the_start),
		cmocka_unit_test(paces_evenly),
		cmocka_unit_test(counts_what_a_path_does),
		cmocka_unit_test(says_when_udp_is_filtered),
		cmocka_unit_test(tells_socket_drops_from_loss),
		cmocka_unit_test(notices_a_lost_peer),
		cmocka_unit_test(notices_a_stall),
		cmocka_unit_test(refuses_bad_tests),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
