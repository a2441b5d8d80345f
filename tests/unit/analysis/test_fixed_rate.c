/* Verdicts of UDP tests at a fixed rate: carried, or loss with the first segment that loses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decided.h"

#define VOICE                                                                                      \
	"{" MADE_LINKS_AND_PATH ",\"tests\":[{\"udp\":{\"name\":\"voice\",\"rate\":\"20Mbit\","    \
	"\"size\":\"1000\"}}]}"

enum { ROUNDS = 6 };

/* What each trial of a segment says. */
struct losing {
	const char *segment;
	double loss_percent, socket_drops, sent_mbit;
};

static void add(cJSON *document, const struct losing *losing, size_t rounds)
{
	static const double rates[] = {20, 20, 20, 20, 20, 20};
	const double packets = 10000;

	made_add(document, losing->segment, rates, rounds, true);
	for (size_t i = 0; i < rounds; i++) {
		cJSON *trial = made_trial(document, losing->segment, i), *udp;

		cJSON_AddStringToObject(trial, "test", "voice");
		cJSON_AddNumberToObject(trial, "loss_percent", losing->loss_percent);
		udp = cJSON_AddObjectToObject(trial, "udp");
		cJSON_AddNumberToObject(udp, "packets", packets);
		cJSON_AddNumberToObject(udp, "lost", packets * losing->loss_percent / 100);
		cJSON_AddNumberToObject(udp, "socket_drops", losing->socket_drops);
		cJSON_AddNumberToObject(udp, "sent_bps", losing->sent_mbit * 1e6);
	}
}

static struct decided decide_three(
	struct losing wired, struct losing wireless, struct losing path, const char *direction)
{
	cJSON *document = made_document(VOICE), *trial;

	wired.segment = "wired";
	wireless.segment = "wireless";
	path.segment = "path";
	add(document, &wired, ROUNDS);
	add(document, &wireless, ROUNDS);
	add(document, &path, ROUNDS);
	cJSON_ArrayForEach (trial, cJSON_GetObjectItem(document, "trials")) {
		cJSON_DeleteItemFromObject(trial, "direction");
		cJSON_AddStringToObject(trial, "direction", direction);
	}
	return decide(document);
}

static const struct losing fine = {NULL, 0, 0, 20}, bad = {NULL, 5, 0, 20};

static void test_carried(void **state)
{
	/* At the limit of .1 % is not over it. */
	struct losing edge = {NULL, .1, 0, 20};
	struct decided d = decide_three(fine, edge, edge, "forward");

	(void)state;
	assert_int_equal(d.verdicts->count, 1);
	assert_int_equal(d.first->kind, VERDICT_CARRIED);
	/* Six of six by the sign test: 1/2^6. */
	assert_true(fabs(d.first->confidence - (1 - 1. / 64)) < 1e-9);
	assert_true(says(d.first, "path lost 0.10 % of 20.0 Mbit/s"));
	forget(&d);
}

static void test_first_that_loses(void **state)
{
	struct decided d = decide_three(fine, bad, bad, "forward");

	(void)state;
	assert_int_equal(d.first->kind, VERDICT_LOSS);
	assert_int_equal(d.first->segment_count, 1);
	assert_string_equal(d.first->segments[0], "wireless");
	assert_true(says(d.first, "wireless lost 5.00 %"));
	forget(&d);
	/* Both lose: the first that the traffic meets. */
	d = decide_three(bad, bad, bad, "forward");
	assert_string_equal(d.first->segments[0], "wired");
	forget(&d);
	d = decide_three(bad, bad, bad, "reverse");
	assert_string_equal(d.first->segments[0], "wireless");
	forget(&d);
	/* No link alone, but all of it: it gets lost in between. */
	d = decide_three(fine, fine, bad, "forward");
	assert_string_equal(d.first->segments[0], "path");
	forget(&d);
}

/* 5 % of 10,000 are 500 lost, all of them at the receiver's socket. */
static void test_socket_is_no_path(void **state)
{
	struct losing socket = {NULL, 5, 500, 20};
	struct decided d = decide_three(fine, fine, socket, "forward");

	(void)state;
	assert_int_equal(d.first->kind, VERDICT_LOSS);
	assert_int_equal(d.first->segment_count, 0);
	assert_int_equal(d.first->host_count, 1);
	assert_string_equal(d.first->hosts[0], "pc2");
	assert_true(says(d.first, "the receiver's socket buffer, not the path"));
	forget(&d);
	/* Half of it is the path's, and far more than the limit. */
	socket.socket_drops = 250;
	d = decide_three(fine, fine, socket, "forward");
	assert_string_equal(d.first->segments[0], "path");
	assert_true(says(d.first, "1500 of 3000 lost datagrams reached pc2"));
	forget(&d);
}

static void test_slow_sender(void **state)
{
	struct losing slow = {NULL, 0, 0, 1.05};
	struct decided d = decide_three(fine, fine, slow, "reverse");

	(void)state;
	assert_int_equal(d.first->kind, VERDICT_INCONCLUSIVE);
	assert_true(says(d.first, "pc2 sent 1.05 Mbit/s of the 20.0 Mbit/s asked for"));
	forget(&d);
}

static void test_too_few(void **state)
{
	cJSON *document = made_document(VOICE);
	struct losing losing = {"wired", 0, 0, 20};
	struct decided d;

	(void)state;
	add(document, &losing, 6);
	losing.segment = "path";
	add(document, &losing, 4);
	d = decide(document);
	assert_int_equal(d.first->kind, VERDICT_INCONCLUSIVE);
	assert_int_equal(d.first->rounds_needed, 5);
	assert_true(says(d.first, "path has 4 valid trials"));
	forget(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_first_that_loses),
		cmocka_unit_test(test_socket_is_no_path),
		cmocka_unit_test(test_slow_sender),
		cmocka_unit_test(test_too_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
