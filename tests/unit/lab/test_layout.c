#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above it */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lab.h"
#include "lab_layout.h"

static const struct lab_port *port_of(const struct lab_layout *layout, size_t link, bool end_b)
{
	return &layout->ports[layout->end_ports[2 * link + end_b]];
}

static struct lab_layout *must_create(const struct topology *topology)
{
	struct error err = {0};
	struct lab_layout *layout = lab_layout_create(topology, &err);

	if (!layout)
		fail_msg("%s: %s", err.where, err.message);
	return layout;
}

static void expect_refusal(const struct topology *topology, const char *where, const char *message)
{
	struct error err = {0};

	assert_null(lab_layout_create(topology, &err));
	assert_int_equal(err.code, ERROR_TOPOLOGY);
	assert_non_null(strstr(err.where, where));
	assert_non_null(strstr(err.message, message));
}

static void test_a_subnet_for_each_link(void **state)
{
	struct topology *topology = fixture_home();
	struct lab_layout *layout = must_create(topology);

	(void)state;
	assert_int_equal(layout->subnet_count, 2);
	assert_string_equal(port_of(layout, 0, false)->address4, "10.64.0.1");
	assert_string_equal(port_of(layout, 0, true)->address4, "10.64.0.2");
	assert_string_equal(port_of(layout, 1, false)->address4, "10.64.1.1");
	assert_string_equal(port_of(layout, 1, true)->address6, "fd6f:7263:6800:1::2");
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

static void test_bridge_joins_links(void **state)
{
	struct topology *topology = fixture_create("bridged");
	struct lab_layout *layout;

	(void)state;
	fixture_host(topology, "pc1");
	fixture_host(topology, "switch")->lab.bridge_all = true;
	fixture_host(topology, "pc2");
	fixture_link(topology, "one", "pc1:eth0", "switch:port1");
	fixture_link(topology, "two", "switch:port2", "pc2:eth0");
	fixture_path(topology, 2);
	layout = must_create(topology);
	assert_int_equal(layout->subnet_count, 1);
	assert_string_equal(port_of(layout, 0, true)->interface, LAB_BRIDGE);
	assert_ptr_equal(port_of(layout, 0, true), port_of(layout, 1, false));
	assert_string_equal(port_of(layout, 1, true)->address4, "10.64.0.3");
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

static void test_alias_is_a_second_address(void **state)
{
	struct topology *topology = fixture_create("alias");
	struct lab_layout *layout;
	const struct lab_port *alias;

	(void)state;
	fixture_host(topology, "pc1");
	fixture_host(topology, "pc2");
	fixture_link(topology, "one", "pc1:eth0:1", "pc2:eth0");
	fixture_path(topology, 1);
	layout = must_create(topology);
	alias = port_of(layout, 0, false);
	assert_int_equal(layout->port_count, 3);
	assert_string_equal(alias->interface, "eth0");
	assert_string_equal(alias->label, "eth0:1");
	assert_string_equal(layout->ports[0].interface, "eth0");
	assert_null(layout->ports[0].label);
	assert_string_equal(layout->ports[0].address4, "10.64.0.1");
	assert_string_equal(alias->address4, "10.64.0.2");
	/* IPv6 knows no labels: an address without one would not be the alias's. */
	assert_string_equal(alias->address6, "");
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

static void test_same_devices_are_one_cable(void **state)
{
	struct topology *topology = fixture_create("views");
	struct lab_layout *layout;

	(void)state;
	fixture_host(topology, "pc1");
	fixture_host(topology, "pc2");
	fixture_link(topology, "main", "pc1:eth0", "pc2:eth0");
	fixture_link(topology, "alias", "pc2:eth0:1", "pc1:eth0:1");
	fixture_link(topology, "other", "pc1:eth1", "pc2:eth1");
	fixture_path(topology, 1);
	layout = must_create(topology);
	assert_int_equal(layout->cable[1], 0);
	assert_int_equal(layout->cable[2], 2);
	assert_int_equal(layout->subnet_count, 3);
	assert_string_equal(port_of(layout, 1, true)->interface, "eth0");
	assert_string_equal(port_of(layout, 1, true)->address4, "10.64.1.2");
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

static void test_explicit_addresses_set_the_subnet(void **state)
{
	struct topology *topology = fixture_create("explicit");
	struct lab_layout *layout;

	(void)state;
	fixture_host(topology, "pc1");
	fixture_host(topology, "pc2");
	fixture_link(topology, "four", "pc1:eth0", "pc2:eth0@192.168.7.1");
	fixture_link(topology, "six", "pc1:eth1@fd00:1::9", "pc2:eth1");
	fixture_path(topology, 1);
	layout = must_create(topology);
	assert_string_equal(port_of(layout, 0, true)->address4, "192.168.7.1");
	/* .1 is taken by the one that was written. */
	assert_string_equal(port_of(layout, 0, false)->address4, "192.168.7.2");
	assert_string_equal(port_of(layout, 0, false)->address6, "");
	assert_string_equal(port_of(layout, 1, false)->address6, "fd00:1::9");
	assert_string_equal(port_of(layout, 1, true)->address6, "fd00:1::1");
	assert_string_equal(port_of(layout, 1, true)->address4, "");
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

static void test_lab_address(void **state)
{
	struct topology *topology = fixture_create("six");
	char buffer[64] = "?";

	(void)state;
	fixture_host(topology, "pc1");
	fixture_host(topology, "pc2");
	fixture_link(topology, "six", "pc1:eth1@fd00:1::9", "pc2:eth1");
	fixture_path(topology, 1);
	assert_int_equal(lab_address(topology, 0, true, 6, buffer, sizeof(buffer)), 0);
	assert_string_equal(buffer, "fd00:1::1");
	assert_int_equal(lab_address(topology, 0, true, 4, buffer, sizeof(buffer)), -1);
	fixture_destroy(topology);
}

struct refusal {
	const char *a, *b, *message;
};

static void test_refusals(void **state)
{
	static const struct refusal rows[] = {
		{"pc1:eth1", "pc1:eth2", "same host"},
		{"pc1:eth0", "pc2:eth1", "already an end of link 'main'"},
		{"pc1:eth1", "pc2:eth0", "already an end of link 'main'"},
		{"pc1:lo", "pc2:eth1", "made by the lab itself"},
		{"pc1:br-lan", "pc2:eth1", "made by the lab itself"},
		{"pc1:a234567890123456", "pc2:eth1", "at most 15"},
		{"pc1:et/h", "pc2:eth1", "character"},
		{"pc1:e\"h", "pc2:eth1", "character"},
		{"pc1:eth1@10.0.0.300", "pc2:eth1", "no address '10.0.0.300'"},
		{"pc1:eth1@10.0.0.3/24", "pc2:eth1", "without a prefix"},
		{"pc1:eth1@10.0.0.3", "pc2:eth1@10.0.1.3", "another subnet"},
		{"pc1:eth1@10.0.0.3", "pc2:eth1@10.0.0.3", "given before"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct topology *topology = fixture_create("bad");

		fixture_host(topology, "pc1");
		fixture_host(topology, "pc2");
		fixture_link(topology, "main", "pc1:eth0", "pc2:eth0");
		fixture_link(topology, "bad", rows[i].a, rows[i].b);
		fixture_path(topology, 1);
		/* The fixture marks the ends of its second link as line 102. */
		expect_refusal(topology, "fixture.yaml:102:5", rows[i].message);
		fixture_destroy(topology);
	}
}

static void test_more_refusals(void **state)
{
	struct topology *topology = fixture_home();
	struct error err = {0};

	(void)state;
	topology->hosts[0].lab.nat = true;
	expect_refusal(topology, "fixture.yaml:1:3", "first host");
	fixture_destroy(topology);

	topology = fixture_create("empty");
	assert_null(lab_layout_create(topology, &err));
	assert_non_null(strstr(err.message, "1 to"));
	fixture_destroy(topology);

	topology = fixture_create("member");
	fixture_host(topology, "pc1");
	fixture_host(topology, "sw")->lab.bridge_all = true;
	fixture_link(topology, "one", "pc1:eth0", "sw:eth0:1");
	expect_refusal(topology, "fixture.yaml:101:5", "bridge member");
	fixture_destroy(topology);
}

/* 256 subnets and more stay inside 10.64.0.0/10, each its own. */
static void test_subnets_do_not_overlap(void **state)
{
	struct topology *topology = fixture_create("many");
	struct lab_layout *layout;

	(void)state;
	fixture_host(topology, "pc1");
	fixture_host(topology, "pc2");
	topology->links = realloc(topology->links, 300 * sizeof(*topology->links));
	memset(topology->links, 0, 300 * sizeof(*topology->links));
	for (int i = 0; i < 300; i++) {
		char a[32], b[32];

		snprintf(a, sizeof(a), "pc1:e%d", i);
		snprintf(b, sizeof(b), "pc2:e%d", i);
		fixture_link(topology, "l", a, b);
	}
	fixture_path(topology, 1);
	layout = must_create(topology);
	assert_int_equal(layout->subnet_count, 300);
	assert_string_equal(port_of(layout, 299, false)->address4, "10.65.43.1");
	assert_string_equal(port_of(layout, 299, false)->address6, "fd6f:7263:6800:12b::1");
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_subnet_for_each_link),
		cmocka_unit_test(test_bridge_joins_links),
		cmocka_unit_test(test_alias_is_a_second_address),
		cmocka_unit_test(test_same_devices_are_one_cable),
		cmocka_unit_test(test_explicit_addresses_set_the_subnet),
		cmocka_unit_test(test_lab_address),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_more_refusals),
		cmocka_unit_test(test_subnets_do_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
