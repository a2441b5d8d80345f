#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above it */
#include <cmocka.h>
#include <stdlib.h>

#include "fixture.h"
#include "lab_routes.h"

static void find(const struct lab_layout *layout, size_t host, size_t *gateways)
{
	assert_int_equal(lab_routes_find(layout, host, gateways), 0);
}

static void expect_via(const struct lab_layout *layout, size_t gateway, const char *address)
{
	assert_true(gateway < layout->port_count);
	assert_string_equal(layout->ports[gateway].address4, address);
}

static struct topology *make_chain(void)
{
	struct topology *topology = fixture_create("chain");

	fixture_host(topology, "a");
	fixture_host(topology, "b");
	fixture_host(topology, "c");
	fixture_host(topology, "d");
	fixture_link(topology, "ab", "a:r", "b:l");
	fixture_link(topology, "bc", "b:r", "c:l");
	fixture_link(topology, "cd", "c:r", "d:l");
	fixture_path(topology, 3);
	return topology;
}

static void test_chain(void **state)
{
	struct topology *topology = make_chain();
	struct lab_layout *layout = lab_layout_create(topology, NULL);
	size_t gateways[3];

	(void)state;
	assert_non_null(layout);
	find(layout, 0, gateways);
	assert_int_equal(gateways[0], LAB_DIRECT);
	expect_via(layout, gateways[1], "10.64.0.2");
	expect_via(layout, gateways[2], "10.64.0.2");
	find(layout, 2, gateways);
	expect_via(layout, gateways[0], "10.64.1.1");
	assert_int_equal(gateways[1], LAB_DIRECT);
	assert_int_equal(gateways[2], LAB_DIRECT);
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

/* From outside a nat host nothing behind it is known; from inside everything is. */
static void test_nat_hides_what_is_behind(void **state)
{
	struct topology *topology = make_chain();
	struct lab_layout *layout;
	size_t gateways[3];
	bool outside[3];

	(void)state;
	topology->hosts[2].lab.nat = true;
	layout = lab_layout_create(topology, NULL);
	assert_non_null(layout);
	assert_int_equal(lab_routes_outside(layout, 2, outside), 0);
	assert_true(outside[0] && outside[1] && !outside[2]);
	find(layout, 0, gateways);
	expect_via(layout, gateways[1], "10.64.0.2");
	assert_int_equal(gateways[2], LAB_NONE);
	find(layout, 1, gateways);
	assert_int_equal(gateways[2], LAB_NONE);
	find(layout, 3, gateways);
	expect_via(layout, gateways[0], "10.64.2.1");
	expect_via(layout, gateways[1], "10.64.2.1");
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

static void test_ring_takes_the_short_way(void **state)
{
	struct topology *topology = make_chain();
	struct lab_layout *layout;
	size_t gateways[4];

	(void)state;
	fixture_link(topology, "da", "d:r", "a:l");
	layout = lab_layout_create(topology, NULL);
	assert_non_null(layout);
	find(layout, 0, gateways);
	assert_int_equal(gateways[3], LAB_DIRECT);
	expect_via(layout, gateways[1], "10.64.0.2");
	expect_via(layout, gateways[2], "10.64.3.1");
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

static void test_island_is_not_reached(void **state)
{
	struct topology *topology = fixture_create("island");
	struct lab_layout *layout;
	size_t gateways[2];

	(void)state;
	fixture_host(topology, "a");
	fixture_host(topology, "b");
	fixture_host(topology, "c");
	fixture_host(topology, "d");
	fixture_link(topology, "ab", "a:r", "b:l");
	fixture_link(topology, "cd", "c:r", "d:l");
	fixture_path(topology, 1);
	layout = lab_layout_create(topology, NULL);
	assert_non_null(layout);
	find(layout, 0, gateways);
	assert_int_equal(gateways[1], LAB_NONE);
	lab_layout_destroy(layout);
	fixture_destroy(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_nat_hides_what_is_behind),
		cmocka_unit_test(test_ring_takes_the_short_way),
		cmocka_unit_test(test_island_is_not_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
