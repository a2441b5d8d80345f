#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts.h"

/* One line as the agent would send it. */
static int add(struct facts *facts, const char *line, struct error *err)
{
	struct wire_record record;
	char copy[WIRE_LINE_MAX];

	snprintf(copy, sizeof(copy), "%s", line);
	assert_int_equal(wire_record_parse(copy, &record), 0);
	return facts_add(facts, &record, err);
}

static void test_host(void **state)
{
	struct facts facts = {0};

	(void)state;
	assert_int_equal(add(&facts,
				 "1 host arch=aarch64 kernel=6.1.0 firmware=OpenWrt%2023.05 cpus=4 "
				 "ticks=100 "
				 "boot_id=af-0 uid=1000 memory_kb=123",
				 NULL),
		0);
	assert_string_equal(facts.arch, "aarch64");
	assert_string_equal(facts.firmware, "OpenWrt 23.05");
	assert_string_equal(facts.boot_id, "af-0");
	assert_int_equal(facts.cpus, 4);
	assert_int_equal(facts.uid, 1000);
	facts_finish(&facts);
}

static void test_interface(void **state)
{
	struct facts facts = {0};
	const struct facts_interface *eth0, *wlan0;

	(void)state;
	assert_int_equal(add(&facts,
				 "1 interface name=eth0 index=2 kind=physical mtu=1500 carrier=1 "
				 "speed_mbit=1000 duplex=full",
				 NULL),
		0);
	assert_int_equal(
		add(&facts, "1 interface name=wlan0 index=3 kind=wifi master=br-lan mtu=1500",
			NULL),
		0);
	eth0 = facts_find_interface(&facts, "eth0");
	wlan0 = facts_find_interface(&facts, "wlan0");
	assert_int_equal(eth0->speed_mbit, 1000);
	assert_string_equal(eth0->duplex, "full");
	assert_true(eth0->carrier);
	assert_string_equal(eth0->master, "");
	assert_string_equal(wlan0->master, "br-lan");
	assert_int_equal(wlan0->speed_mbit, -1);
	assert_false(wlan0->carrier);
	assert_null(facts_find_interface(&facts, "eth1"));
	facts_finish(&facts);
	assert_int_equal(facts.interface_count, 0);
}

static void test_address(void **state)
{
	struct facts facts = {0};

	(void)state;
	assert_int_equal(add(&facts,
				 "1 address interface=eth0 label=eth0:1 family=4 address=10.0.0.1 "
				 "prefix=24 scope=global flags=",
				 NULL),
		0);
	assert_int_equal(add(&facts,
				 "1 address interface=eth0 family=6 address=fe80::1 prefix=64 "
				 "scope=link flags=deprecated,tentative",
				 NULL),
		0);
	assert_string_equal(facts.addresses[0].label, "eth0:1");
	assert_int_equal(facts.addresses[0].prefix, 24);
	assert_false(facts.addresses[0].link_local);
	assert_true(facts.addresses[1].link_local);
	assert_true(facts.addresses[1].deprecated && facts.addresses[1].tentative);
	assert_false(facts.addresses[1].temporary);
	facts_finish(&facts);
}

/* A newer agent may say more; what is not known is not looked at. */
static void test_unknown_record(void **state)
{
	struct facts facts = {0};

	(void)state;
	assert_int_equal(add(&facts, "1 weather sun=1", NULL), 0);
	assert_int_equal(facts.interface_count + facts.address_count, 0);
}

struct broken {
	const char *line;
	const char *message;
};

static const struct broken broken[] = {
	{"1 host cpus=many", "the agent's host record is broken: cpus is not a number"},
	{"1 host cpus=65537", "the agent's host record is broken: cpus is out of range"},
	{"1 host cpus=1 ticks=-2", "the agent's host record is broken: ticks is out of range"},
	{"1 host cpus=99999999999999999999",
		"the agent's host record is broken: cpus is not a number"},
	{"1 interface index=1", "the agent's interface record is broken: name is missing"},
	{"1 interface name=", "the agent's interface record is broken: name is missing"},
	{"1 interface name=abcdefghijklmnop",
		"the agent's interface record is broken: name is too long"},
	{"1 interface name=a%2Fb",
		"the agent's interface record is broken: name is no interface's name"},
	{"1 interface name=a master=b%1B",
		"the agent's interface record is broken: master is no interface's name"},
	{"1 interface name=a carrier=2",
		"the agent's interface record is broken: carrier is out of range"},
	{"1 address interface=a family=5 address=1.2.3.4 prefix=8",
		"the agent's address record is broken: family is neither 4 nor 6"},
	{"1 address interface=a family=4 address=fe80::1 prefix=8",
		"the agent's address record is broken: address is not an address of its family"},
	{"1 address interface=a family=4 address=1.2.3.4",
		"the agent's address record is broken: prefix is missing"},
	{"1 address interface=a family=4 address=1.2.3.4 prefix=33",
		"the agent's address record is broken: prefix is out of range"},
};

static void test_broken(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct facts facts = {0};
		struct error err = {0};

		assert_int_equal(add(&facts, broken[i].line, &err), -1);
		assert_string_equal(err.message, broken[i].message);
		assert_int_equal(err.code, ERROR_HOST);
		assert_int_equal(facts.interface_count + facts.address_count, 0);
		facts_finish(&facts);
	}
}

static void test_twice(void **state)
{
	struct facts facts = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(add(&facts, "1 interface name=a", &err), 0);
	assert_int_equal(add(&facts, "1 interface name=a", &err), -1);
	assert_string_equal(
		err.message, "the agent's interface record is broken: name is there twice");
	facts_finish(&facts);
}

/* What a host says of itself goes to terminals: nothing of it may steer them. */
static void test_control_bytes(void **state)
{
	struct facts facts = {0};
	char line[1200] = "1 host kernel=";

	(void)state;
	memset(line + strlen(line), 'k', 1000);
	assert_int_equal(add(&facts, "1 host firmware=a%1B%5B2J%0Ab%00c", NULL), 0);
	assert_string_equal(facts.firmware, "a?[2J?b");
	assert_int_equal(add(&facts, line, NULL), 0);
	assert_int_equal(strlen(facts.kernel), sizeof(facts.kernel) - 1);
	facts_finish(&facts);
}

/* A hostile agent cannot fill the memory. */
static void test_bounds(void **state)
{
	struct facts facts = {0};
	struct error err = {0};
	char line[160];
	int i;

	(void)state;
	for (i = 0; i <= 4096; i++) {
		snprintf(line, sizeof(line), "1 interface name=v%d", i);
		assert_int_equal(add(&facts, line, &err), i < 4096 ? 0 : -1);
		snprintf(line, sizeof(line),
			"1 address interface=v%d family=4 address=1.2.3.4 prefix=8", i);
		assert_int_equal(add(&facts, line, &err), i < 4096 ? 0 : -1);
	}
	assert_string_equal(err.message, "the host has over 4096 addresses");
	assert_int_equal(facts.interface_count, 4096);
	assert_int_equal(facts.address_count, 4096);
	facts_finish(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_interface),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_unknown_record),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_control_bytes),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
