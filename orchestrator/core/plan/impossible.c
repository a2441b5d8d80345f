#include "impossible.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UDP_SIZE_MIN    24    /* number and time of a datagram, docs/wire.md */
#define UDP_SIZE_MAX    65507 /* what an IPv4 packet holds besides its headers */
#define UDP_SIZE        1472  /* by default */
#define UDP_PACKETS_MIN 10
#define UDP_PACKETS_MAX 10000000 /* a second */

#define ECHO_SIZE_MIN 24 /* token and number of a question by udp, docs/wire.md */
#define ECHO_SIZE_MAX 65507

#define REASON_SIZE 256

/* Returns true, with the reason, when the test cannot be done. */
typedef bool impossible(const struct topology_test *test, char reason[REASON_SIZE]);

static bool udp_without_rate(const struct topology_test *test, char reason[REASON_SIZE])
{
	snprintf(reason, REASON_SIZE,
		"has no rate: give rate: 20Mbit (payload), or rate: search for the highest");
	return !test->rate && !test->rate_search;
}

static bool udp_size(const struct topology_test *test, char reason[REASON_SIZE])
{
	snprintf(reason, REASON_SIZE,
		"has a size of %" PRId64 ": a datagram carries %d to %d bytes", test->size,
		UDP_SIZE_MIN, UDP_SIZE_MAX);
	return test->size && (test->size < UDP_SIZE_MIN || test->size > UDP_SIZE_MAX);
}

static int64_t packets(const struct topology_test *test, int64_t ms)
{
	return test->rate / 8 * ms / 1000 / (test->size ? test->size : UDP_SIZE);
}

static bool udp_too_many(const struct topology_test *test, char reason[REASON_SIZE])
{
	int64_t count = packets(test, 1000);

	snprintf(reason, REASON_SIZE,
		"needs %" PRId64 " datagrams a second, more than %d: a lower rate or a larger size",
		count, UDP_PACKETS_MAX);
	return count > UDP_PACKETS_MAX;
}

static bool udp_too_few(const struct topology_test *test, char reason[REASON_SIZE])
{
	int64_t count = packets(test, test->duration - test->omit);

	snprintf(reason, REASON_SIZE,
		"sends only %" PRId64 " datagrams in the time that counts: too few to tell a loss",
		count);
	return test->rate && count < UDP_PACKETS_MIN;
}

static bool udp_streams(const struct topology_test *test, char reason[REASON_SIZE])
{
	snprintf(reason, REASON_SIZE, "has %d streams: a rate is one stream's, give it all",
		test->streams);
	return test->streams > 1;
}

static bool udp_bidir(const struct topology_test *test, char reason[REASON_SIZE])
{
	snprintf(reason, REASON_SIZE,
		"has direction: bidir, which is for tcp; use both, one after the other");
	return test->direction == TOPOLOGY_BIDIR;
}

static bool udp_bytes(const struct topology_test *test, char reason[REASON_SIZE])
{
	snprintf(reason, REASON_SIZE,
		"ends by bytes, of which some may never arrive; give a duration");
	return test->bytes > 0;
}

static bool udp_tcp_options(const struct topology_test *test, char reason[REASON_SIZE])
{
	const char *key = test->congestion ? "congestion"
			  : test->mss      ? "mss"
			  : test->block    ? "block"
			  : test->pacing   ? "pacing"
					   : NULL;

	snprintf(reason, REASON_SIZE, "has \"%s\", an option of tcp%s", key ? key : "",
		test->pacing ? "; udp has rate" : "");
	return key != NULL;
}

static bool latency_size(const struct topology_test *test, char reason[REASON_SIZE])
{
	bool datagrams = !test->transport || strcmp(test->transport, "udp") == 0;
	int least = datagrams ? ECHO_SIZE_MIN : 1;

	snprintf(reason, REASON_SIZE,
		"has a size of %" PRId64 ": a question and its answer have %d to %d bytes each",
		test->size, least, ECHO_SIZE_MAX);
	return test->size && (test->size < least || test->size > ECHO_SIZE_MAX);
}

static bool latency_streams(const struct topology_test *test, char reason[REASON_SIZE])
{
	snprintf(reason, REASON_SIZE, "has %d streams: it asks one question at a time",
		test->streams);
	return test->streams > 1;
}

static bool latency_tcp_options(const struct topology_test *test, char reason[REASON_SIZE])
{
	const char *key = test->congestion ? "congestion"
			  : test->mss      ? "mss"
			  : test->block    ? "block"
			  : test->window   ? "window"
			  : test->pacing   ? "pacing"
					   : NULL;

	snprintf(reason, REASON_SIZE, "has \"%s\", which is for tests of throughput",
		key ? key : "");
	return key != NULL;
}

/* Two listeners at one address: who shows the token, and who is connected to. */
static bool latency_ports(const struct topology_test *test, char reason[REASON_SIZE])
{
	snprintf(reason, REASON_SIZE, "needs two ports, one besides that of the connections");
	return test->transport && strcmp(test->transport, "connect") == 0 && test->port_first &&
	       test->port_first == test->port_last;
}

static const struct {
	enum topology_test_kind kind;
	impossible *is;
} rules[] = {
	{TOPOLOGY_UDP, udp_without_rate},
	{TOPOLOGY_UDP, udp_size},
	{TOPOLOGY_UDP, udp_streams},
	{TOPOLOGY_UDP, udp_bidir},
	{TOPOLOGY_UDP, udp_bytes},
	{TOPOLOGY_UDP, udp_tcp_options},
	{TOPOLOGY_UDP, udp_too_many},
	{TOPOLOGY_UDP, udp_too_few},
	{TOPOLOGY_LATENCY, latency_size},
	{TOPOLOGY_LATENCY, latency_streams},
	{TOPOLOGY_LATENCY, latency_tcp_options},
	{TOPOLOGY_LATENCY, latency_ports},
};

static int check_test(const struct plan *plan, const struct topology_test *test, struct error *err)
{
	char reason[REASON_SIZE], where[sizeof(err->where)];

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].kind == test->kind && rules[i].is(test, reason))
			return error_set(err, ERROR_TOPOLOGY,
				topology_where(plan->topology, test->mark, where, sizeof(where)),
				"test \"%.64s\" %s", test->id, reason);
	}
	return 0;
}

int impossible_check(const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->series_count; i++) {
		if (check_test(plan, &plan->topology->tests[plan->series[i].test], err) < 0)
			return -1;
	}
	return 0;
}
