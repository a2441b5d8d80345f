/* Interfaces as they are on real boxes, and which address and device an end then gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "binding.h"
#include "load.h"

#define INTERFACE(name)        "1 interface kind=physical name=" name "\n"
#define MEMBER(name, master)   "1 interface kind=wifi name=" name " master=" master "\n"
#define MASTER(kind, name)     "1 interface kind=" kind " name=" name "\n"
#define V4(interface, address) ADDRESS(interface, "4", address, "24", "global", "")
#define V6(interface, address) ADDRESS(interface, "6", address, "64", "global", "")
#define LL(interface, address) ADDRESS(interface, "6", address, "64", "link", "")
#define ADDRESS(interface, family, address, prefix, scope, flags)                                  \
	"1 address interface=" interface " family=" family " address=" address " prefix=" prefix   \
	" scope=" scope " flags=" flags "\n"

static void facts_read(struct facts *facts, const char *lines)
{
	char copy[8192], *line, *rest = copy;

	memset(facts, 0, sizeof(*facts));
	snprintf(copy, sizeof(copy), "%s", lines);
	while ((line = strsep(&rest, "\n"))) {
		struct wire_record record;

		if (*line == '\0')
			continue;
		assert_int_equal(wire_record_parse(line, &record), 0);
		assert_int_equal(facts_add(facts, &record, NULL), 0);
	}
}

struct scene {
	const char *name;
	const char *a, *b;             /* the link's ends */
	const char *facts_a, *facts_b; /* records */
	int family;
	/* what is wanted: address, device and counter of each end */
	const char *address_a, *address_b;
	const char *device_a, *counter_a, *device_b, *counter_b;
	/* or where and why it fails */
	const char *where, *message;
};

static void check(const struct scene *scene)
{
	struct binding a = {0}, b = {0};
	struct error err = {0};
	struct facts facts_a, facts_b;
	struct topology *topology;
	char text[512];
	int result;

	print_message("%s\n", scene->name);
	snprintf(text, sizeof(text),
		"orch: 1\nname: home\nhosts: {pc1: {local: true}, router: {local: true}}\n"
		"links:\n- name: l\n  a: \"%s\"\n  b: \"%s\"\n",
		scene->a, scene->b);
	topology = load_text(text, TOPOLOGY_FILE);
	facts_read(&facts_a, scene->facts_a);
	facts_read(&facts_b, scene->facts_b);
	result = binding_resolve_link(
		topology, &topology->links[0], &facts_a, &facts_b, scene->family, &a, &b, &err);
	if (scene->message) {
		assert_int_equal(result, -1);
		assert_string_equal(err.message, scene->message);
		assert_string_equal(err.where, scene->where);
		assert_int_equal(err.code, ERROR_TOPOLOGY);
		assert_int_equal(a.family, 0);
	} else {
		if (result < 0)
			fail_msg("%s: %s", err.where, err.message);
		assert_string_equal(a.address, scene->address_a);
		assert_string_equal(b.address, scene->address_b);
		assert_string_equal(a.device, scene->device_a);
		assert_string_equal(a.counter, scene->counter_a);
		assert_string_equal(b.device, scene->device_b ? scene->device_b : "eth0");
		assert_string_equal(b.counter, scene->counter_b ? scene->counter_b : "eth0");
		assert_int_equal(a.family, b.family);
		assert_int_equal(a.family, strchr(a.address, ':') ? 6 : 4);
	}
	facts_finish(&facts_a);
	facts_finish(&facts_b);
	topology_free(topology);
}

/* The usual other side: one interface, one address. */
#define ROUTER  INTERFACE("eth0") V4("eth0", "10.0.0.1")
#define ROUTER6 INTERFACE("eth0") V6("eth0", "2001:db8::1")
#define ENDS    .a = "pc1:eth0", .b = "router:eth0"
#define ON_ETH0 .device_a = "eth0", .counter_a = "eth0"

static const struct scene scenes[] = {
	{.name = "plain",
		ENDS,
		.facts_a = INTERFACE("eth0") V4("eth0", "10.0.0.2"),
		.facts_b = ROUTER,
		.address_a = "10.0.0.2",
		.address_b = "10.0.0.1",
		ON_ETH0},

	/* Several addresses: the one in the other end's subnet, not the first. */
	{.name = "several_addresses",
		ENDS,
		.facts_a = INTERFACE("eth0") V4("eth0", "192.168.1.2") V4("eth0", "10.0.0.2")
			V4("eth0", "10.0.0.3"),
		.facts_b = ROUTER,
		.address_a = "10.0.0.2",
		.address_b = "10.0.0.1",
		ON_ETH0},

	/* Two interfaces in one subnet: the end's own, whichever comes first. */
	{.name = "two_interfaces_in_one_subnet",
		.a = "pc1:wlan0",
		.b = "router:eth0",
		.facts_a = INTERFACE("eth0") INTERFACE("wlan0") V4("eth0", "10.0.0.2")
			V4("wlan0", "10.0.0.3"),
		.facts_b = ROUTER,
		.address_a = "10.0.0.3",
		.address_b = "10.0.0.1",
		.device_a = "wlan0",
		.counter_a = "wlan0"},

	{.name = "bridge_member",
		.a = "pc1:wlan0",
		.b = "router:eth0",
		.facts_a = MEMBER("wlan0", "br-lan") MASTER("bridge", "br-lan")
			V4("br-lan", "10.0.0.2"),
		.facts_b = ROUTER,
		.address_a = "10.0.0.2",
		.address_b = "10.0.0.1",
		.device_a = "br-lan",
		.counter_a = "wlan0"},

	{.name = "bond_in_bridge",
		.a = "pc1:eth1",
		.b = "router:eth0",
		.facts_a = MEMBER("eth1",
			"bond0") "1 interface kind=bond name=bond0 master=br-lan\n" MASTER("bridge",
			"br-lan") V4("br-lan", "10.0.0.2"),
		.facts_b = ROUTER,
		.address_a = "10.0.0.2",
		.address_b = "10.0.0.1",
		.device_a = "br-lan",
		.counter_a = "eth1"},

	/* A member that kept an address of its own: still the bridge takes the packets. */
	{.name = "member_with_address",
		.a = "pc1:wlan0",
		.b = "router:eth0",
		.facts_a = MEMBER("wlan0", "br-lan") MASTER("bridge", "br-lan")
			V4("wlan0", "10.0.0.9") V4("br-lan", "10.0.0.2"),
		.facts_b = ROUTER,
		.address_a = "10.0.0.2",
		.address_b = "10.0.0.1",
		.device_a = "br-lan",
		.counter_a = "wlan0"},

	/* A VRF is a master as well, but leaves the addresses where they are. */
	{.name = "vrf",
		.a = "pc1:eth1",
		.b = "router:eth0",
		.facts_a = MEMBER("eth1", "blue") MASTER("other", "blue") V4("eth1", "10.0.0.2"),
		.facts_b = ROUTER,
		.address_a = "10.0.0.2",
		.address_b = "10.0.0.1",
		.device_a = "eth1",
		.counter_a = "eth1"},

	/* Masters in a ring, as only a broken host says, end somewhere. */
	{.name = "master_ring",
		.a = "pc1:x",
		.b = "router:eth0",
		.facts_a =
			"1 interface kind=bridge name=x master=y\n1 interface kind=bridge name=y "
			"master=x\n" V4("x", "10.0.0.2"),
		.facts_b = ROUTER,
		.address_a = "10.0.0.2",
		.address_b = "10.0.0.1",
		.device_a = "x",
		.counter_a = "x"},

#define ALIASED                                                                                    \
	INTERFACE("eth0")                                                                          \
	V4("eth0", "10.0.0.2")                                                                     \
	"1 address interface=eth0 label=eth0:1 family=4 address=10.0.0.5 prefix=24 scope=global\n"

	{.name = "alias",
		.a = "pc1:eth0:1",
		.b = "router:eth0",
		.facts_a = ALIASED,
		.facts_b = ROUTER,
		.address_a = "10.0.0.5",
		.address_b = "10.0.0.1",
		ON_ETH0},

	{.name = "unknown_alias",
		.a = "pc1:eth0:2",
		.b = "router:eth0",
		.facts_a = ALIASED,
		.facts_b = ROUTER,
		.where = "test.yaml:6:6",
		.message = "host \"pc1\" has no address with the label \"eth0:2\"; addresses of "
			   "\"eth0\": "
			   "10.0.0.2/24, 10.0.0.5/24"},

	{.name = "named_address",
		.a = "pc1:eth0@10.0.0.3",
		.b = "router:eth0",
		.facts_a = INTERFACE("eth0") V4("eth0", "10.0.0.2") V4("eth0", "10.0.0.3"),
		.facts_b = ROUTER,
		.address_a = "10.0.0.3",
		.address_b = "10.0.0.1",
		ON_ETH0},

	/* Written another way, the same address. */
	{.name = "named_address_v6",
		.a = "pc1:eth0@2001:DB8:0::2",
		.b = "router:eth0",
		.facts_a = INTERFACE("eth0") V4("eth0", "10.0.0.2") V6("eth0", "2001:db8::2"),
		.facts_b = ROUTER6 V4("eth0", "10.0.0.1"),
		.address_a = "2001:db8::2",
		.address_b = "2001:db8::1",
		ON_ETH0},

	{.name = "named_address_elsewhere",
		.a = "pc1:eth0@10.0.0.9",
		.b = "router:eth0",
		.facts_a = INTERFACE("eth0") INTERFACE("eth1") V4("eth0", "10.0.0.2")
			V4("eth1", "10.0.0.9"),
		.facts_b = ROUTER,
		.where = "test.yaml:6:6",
		.message =
			"\"eth0\" of host \"pc1\" has no usable address 10.0.0.9; its addresses: "
			"10.0.0.2/24"},

	{.name = "point_to_point",
		.a = "pc1:eth0@10.1.0.2",
		.b = "router:eth0@10.2.0.1",
		.facts_a = INTERFACE("eth0") ADDRESS("eth0", "4", "10.1.0.2", "32", "global", ""),
		.facts_b = INTERFACE("eth0") ADDRESS("eth0", "4", "10.2.0.1", "32", "global", ""),
		.address_a = "10.1.0.2",
		.address_b = "10.2.0.1",
		ON_ETH0},

#define DUAL_A                                                                                     \
	INTERFACE("eth0") LL("eth0", "fe80::2") V6("eth0", "2001:db8::2") V4("eth0", "10.0.0.2")
#define DUAL_B LL("eth0", "fe80::1") ROUTER6 V4("eth0", "10.0.0.1")

	{.name = "four_first",
		ENDS,
		.facts_a = DUAL_A,
		.facts_b = DUAL_B,
		.address_a = "10.0.0.2",
		.address_b = "10.0.0.1",
		ON_ETH0},

	{.name = "six_when_asked",
		ENDS,
		.facts_a = DUAL_A,
		.facts_b = DUAL_B,
		.family = 6,
		.address_a = "2001:db8::2",
		.address_b = "2001:db8::1",
		ON_ETH0},

	{.name = "six_when_four_is_not_shared",
		ENDS,
		.facts_a = INTERFACE("eth0") V4("eth0", "10.9.0.2") V6("eth0", "2001:db8::2"),
		.facts_b = DUAL_B,
		.address_a = "2001:db8::2",
		.address_b = "2001:db8::1",
		ON_ETH0},

	/* Link-local keeps its scope, and is the last choice. */
	{.name = "link_local",
		.a = "pc1:wlan0",
		.b = "router:eth0",
		.facts_a = MEMBER("wlan0", "br-lan") MASTER("bridge", "br-lan")
			LL("br-lan", "fe80::2"),
		.facts_b = DUAL_B,
		.address_a = "fe80::2%br-lan",
		.address_b = "fe80::1%eth0",
		.device_a = "br-lan",
		.counter_a = "wlan0"},

	{.name = "old_addresses_are_skipped",
		ENDS,
		.facts_a = INTERFACE("eth0") ADDRESS(
			"eth0", "6", "2001:db8::a", "64", "global", "deprecated") ADDRESS("eth0",
			"6", "2001:db8::b", "64", "global", "temporary") ADDRESS("eth0", "6",
			"2001:db8::c", "64", "global", "tentative") V6("eth0", "2001:db8::2"),
		.facts_b = ROUTER6,
		.address_a = "2001:db8::2",
		.address_b = "2001:db8::1",
		ON_ETH0},

	/* Who names one means it; a tentative one cannot be bound yet. */
	{.name = "temporary_when_named",
		.a = "pc1:eth0@2001:db8::b",
		.b = "router:eth0",
		.facts_a = INTERFACE("eth0") ADDRESS("eth0", "6", "2001:db8::b", "64", "global",
			"temporary") V6("eth0", "2001:db8::2"),
		.facts_b = ROUTER6,
		.address_a = "2001:db8::b",
		.address_b = "2001:db8::1",
		ON_ETH0},

	{.name = "only_unusable",
		ENDS,
		.facts_a = INTERFACE("eth0")
			ADDRESS("eth0", "6", "2001:db8::c", "64", "global", "tentative"),
		.facts_b = ROUTER6,
		.where = "test.yaml:6:6",
		.message = "\"eth0\" of host \"pc1\" has no usable address; its addresses: "
			   "2001:db8::c/64 "
			   "(tentative)"},

	{.name = "no_address",
		ENDS,
		.facts_a = INTERFACE("eth0") V4("eth0", "10.0.0.2"),
		.facts_b = INTERFACE("eth0"),
		.where = "test.yaml:7:6",
		.message =
			"\"eth0\" of host \"router\" has no usable address; its addresses: none"},

	{.name = "no_address_of_the_family",
		ENDS,
		.facts_a = INTERFACE("eth0") V4("eth0", "10.0.0.2"),
		.facts_b = ROUTER,
		.family = 6,
		.where = "test.yaml:6:6",
		.message = "\"eth0\" of host \"pc1\" has no usable IPv6 address; its addresses: "
			   "10.0.0.2/24"},

	{.name = "no_common_subnet",
		ENDS,
		.facts_a = INTERFACE("eth0") V4("eth0", "10.9.0.2"),
		.facts_b = ROUTER,
		.where = "test.yaml:6:6",
		.message = "\"eth0\" of host \"pc1\" (10.9.0.2/24) and \"eth0\" of host \"router\" "
			   "(10.0.0.1/24) share no subnet; if that is meant, name both addresses: "
			   "HOST:INTERFACE@ADDRESS"},

	/* Both have the same address: a mistake, not a pair. */
	{.name = "same_address",
		ENDS,
		.facts_a = INTERFACE("eth0") V4("eth0", "10.0.0.1"),
		.facts_b = ROUTER,
		.where = "test.yaml:6:6",
		.message = "\"eth0\" of host \"pc1\" (10.0.0.1/24) and \"eth0\" of host \"router\" "
			   "(10.0.0.1/24) share no subnet; if that is meant, name both addresses: "
			   "HOST:INTERFACE@ADDRESS"},

	/* /23 here and /24 there: on-link for both only within the smaller. */
	{.name = "prefix_lengths",
		ENDS,
		.facts_a = INTERFACE("eth0") ADDRESS("eth0", "4", "10.0.1.2", "23", "global", "")
			ADDRESS("eth0", "4", "10.0.0.129", "25", "global", "")
				ADDRESS("eth0", "4", "10.0.0.3", "23", "global", ""),
		.facts_b = ROUTER,
		.address_a = "10.0.0.3",
		.address_b = "10.0.0.1",
		ON_ETH0},

	{.name = "no_interface",
		.a = "pc1:eth0",
		.b = "router:wlan1",
		.facts_a = INTERFACE("eth0") V4("eth0", "10.0.0.2"),
		.facts_b = INTERFACE("eth0") INTERFACE("wlan0") INTERFACE("br-lan"),
		.where = "test.yaml:7:6",
		.message = "host \"router\" has no interface \"wlan1\"; it has eth0, wlan0, "
			   "br-lan; did you "
			   "mean \"wlan0\"?"},

	{.name = "no_interfaces_at_all",
		ENDS,
		.facts_a = "",
		.facts_b = ROUTER,
		.where = "test.yaml:6:6",
		.message = "host \"pc1\" has no interface \"eth0\"; it has none"},
};

static void test_scenes(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		check(&scenes[i]);
}

static void test_on_link(void **state)
{
	struct facts facts;

	(void)state;
	facts_read(&facts, DUAL_A INTERFACE("eth1") V4("eth1", "10.7.0.1"));
	assert_true(binding_on_link(&facts, "eth0", "10.0.0.77"));
	assert_false(binding_on_link(&facts, "eth1", "10.0.0.77"));
	assert_true(binding_on_link(&facts, "eth1", "10.7.0.2"));
	assert_false(binding_on_link(&facts, "eth0", "10.0.1.1"));
	assert_true(binding_on_link(&facts, "eth0", "2001:db8::99"));
	assert_true(binding_on_link(&facts, "eth0", "fe80::99%eth0"));
	assert_false(binding_on_link(&facts, "eth0", "2001:db9::99"));
	assert_false(binding_on_link(&facts, "eth0", "nonsense"));
	facts_finish(&facts);
}

/* A recorded run's end has no interface: nothing to bind, said plainly. */
static void test_recorded_end(void **state)
{
	struct topology *topology = load_text("links: [{name: l, a: x, b: y}]", TOPOLOGY_RECORDED);
	struct facts facts = {0};
	struct binding a, b;
	struct error err = {0};

	(void)state;
	assert_int_equal(binding_resolve_link(
				 topology, &topology->links[0], &facts, &facts, 0, &a, &b, &err),
		-1);
	assert_string_equal(err.message, "the end names no interface");
	topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenes),
		cmocka_unit_test(test_on_link),
		cmocka_unit_test(test_recorded_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
