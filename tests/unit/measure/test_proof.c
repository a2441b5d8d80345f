/* Path proof in its three states, on counters made up for the purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proof.h"
#include "records.h"

static struct facts_interface pc_interfaces[] = {{.name = "eth0"}, {.name = "eth1"}};
static const struct facts pc_facts = {.interfaces = pc_interfaces, .interface_count = 2};
static struct facts_interface router_interfaces[] = {{.name = "eth0"}, {.name = "br-lan"},
	{.name = "wlan0", .master = "br-lan"}, {.name = "lan1", .master = "br-lan"}};
static const struct facts router_facts = {.interfaces = router_interfaces, .interface_count = 4};
static const struct binding pc_eth0 = {.device = "eth0", .counter = "eth0"};
static const struct binding router_eth0 = {.device = "eth0", .counter = "eth0"};
static const struct binding router_wlan0 = {.device = "br-lan", .counter = "wlan0"};
static const struct binding router_bridge = {.device = "br-lan", .counter = "br-lan"};

/* Judges 1,000,000 bytes received of 1,200,000 written, pc1 sending to the router. */
static struct proof judge(const struct binding *receiver, const char *const *pc_lines,
	const char *const *router_lines)
{
	static struct records pc, router;
	struct proof proof;

	records_parse(&pc, pc_lines);
	records_parse(&router, router_lines);
	proof_judge(
		(struct proof_end[2]){
			{.host = "pc1",
				.facts = &pc_facts,
				.binding = &pc_eth0,
				.evidence = {pc.pointers, pc.count},
				.sends = true},
			{.host = "router",
				.facts = &router_facts,
				.binding = receiver,
				.evidence = {router.pointers, router.count}},
		},
		1000000, 1200000, &proof);
	return proof;
}

static const char *const pc_sent[] = {
	"1 counters interface=eth0 tx_bytes=1045000 rx_bytes=9000", NULL};

static void test_proved(void **state)
{
	const char *const router[] = {
		"1 counters interface=eth0 rx_bytes=1045000 tx_bytes=1", NULL};
	struct proof proof = judge(&router_eth0, pc_sent, router);

	(void)state;
	assert_int_equal(proof.state, PROOF_PROVED);
	assert_false(proof.cross_traffic);
	assert_non_null(strstr(proof.text, "router:eth0 received 1045000 of 1000000 bytes"));
}

/* .9 of the bytes is the border: on it is proved, below it is not. */
static void test_border(void **state)
{
	const char *const enough[] = {"1 counters interface=eth0 rx_bytes=900000", NULL};
	const char *const short_of[] = {"1 counters interface=eth0 rx_bytes=899999", NULL};

	(void)state;
	assert_int_equal(judge(&router_eth0, pc_sent, enough).state, PROOF_PROVED);
	assert_int_equal(judge(&router_eth0, pc_sent, short_of).state, PROOF_NOT_OBSERVABLE);
}

static void test_contradicted(void **state)
{
	const char *const pc[] = {"1 counters interface=eth0 tx_bytes=4000",
		"1 counters interface=eth1 tx_bytes=1045000", NULL};
	const char *const router[] = {"1 counters interface=eth0 rx_bytes=1045000", NULL};
	struct proof proof = judge(&router_eth0, pc, router);

	(void)state;
	assert_int_equal(proof.state, PROOF_CONTRADICTED);
	assert_string_equal(proof.carrier[0], "eth1");
	assert_string_equal(proof.carrier[1], "");
	assert_non_null(strstr(proof.text, "pc1:eth1 sent the traffic"));
}

/* A sibling in the same bridge is another port; the bridge above the member is not. */
static void test_bridge_member(void **state)
{
	const char *const sibling[] = {"1 counters interface=wlan0 rx_bytes=100",
		"1 counters interface=lan1 rx_bytes=1045000",
		"1 counters interface=br-lan rx_bytes=1045000", NULL};
	const char *const bridge_only[] = {"1 counters interface=wlan0 rx_bytes=100",
		"1 counters interface=br-lan rx_bytes=1045000", NULL};
	struct proof proof = judge(&router_wlan0, pc_sent, sibling);

	(void)state;
	assert_int_equal(proof.state, PROOF_CONTRADICTED);
	assert_string_equal(proof.carrier[1], "lan1");
	assert_int_equal(judge(&router_wlan0, pc_sent, bridge_only).state, PROOF_NOT_OBSERVABLE);
}

/* A bridge's own counters miss bridged traffic: its members' sum counts. */
static void test_bridge_sum(void **state)
{
	const char *const router[] = {"1 counters interface=br-lan rx_bytes=816",
		"1 counters interface=wlan0 rx_bytes=500000",
		"1 counters interface=lan1 rx_bytes=545000", NULL};

	(void)state;
	assert_int_equal(judge(&router_bridge, pc_sent, router).state, PROOF_PROVED);
}

static void test_cross_traffic(void **state)
{
	const char *const within[] = {"1 counters interface=eth0 rx_bytes=1320000", NULL};
	const char *const above[] = {"1 counters interface=eth0 rx_bytes=1320001", NULL};

	(void)state;
	assert_false(judge(&router_eth0, pc_sent, within).cross_traffic);
	assert_true(judge(&router_eth0, pc_sent, above).cross_traffic);
}

/* No evidence at all (the host was lost, or tells nothing) proves nothing and contradicts nothing.
 */
static void test_no_evidence(void **state)
{
	const char *const nothing[] = {NULL};

	(void)state;
	assert_int_equal(judge(&router_eth0, pc_sent, nothing).state, PROOF_NOT_OBSERVABLE);
}

/* Two directions at once: the worse state, both sentences, the first known carrier of each end. */
static void test_join(void **state)
{
	const char *const router[] = {"1 counters interface=eth0 rx_bytes=1045000", NULL};
	const char *const pc[] = {"1 counters interface=eth0 tx_bytes=4000",
		"1 counters interface=eth1 tx_bytes=1045000", NULL};
	struct proof proof = judge(&router_eth0, pc_sent, router);
	struct proof other = judge(&router_eth0, pc, router);

	(void)state;
	other.cross_traffic = true;
	proof_join(&proof, &other);
	assert_int_equal(proof.state, PROOF_CONTRADICTED);
	assert_true(proof.cross_traffic);
	assert_string_equal(proof.carrier[0], "eth1");
	assert_non_null(strstr(proof.text, "pc1:eth0 sent 1045000 of 1000000 bytes; "));
	assert_non_null(strstr(proof.text, "; pc1:eth1 sent the traffic"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_proved),
		cmocka_unit_test(test_border),
		cmocka_unit_test(test_contradicted),
		cmocka_unit_test(test_bridge_member),
		cmocka_unit_test(test_bridge_sum),
		cmocka_unit_test(test_cross_traffic),
		cmocka_unit_test(test_no_evidence),
		cmocka_unit_test(test_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
