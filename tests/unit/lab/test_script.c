#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above it */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lab_script.h"
#include "lab_shaping.h"

#define MEGABIT 1000000

static struct lab_script *make(const struct topology *topology, bool ipv6)
{
	struct error err = {0};
	struct lab_layout *layout = lab_layout_create(topology, &err);
	struct lab_script *script = layout ? lab_script_create(layout, ipv6, &err) : NULL;

	if (!script)
		fail_msg("%s", err.message);
	lab_layout_destroy(layout);
	return script;
}

static void expect_lines(const char *text, const char *const *lines)
{
	for (; *lines; lines++)
		if (!strstr(text, *lines))
			fail_msg("no \"%s\" in:\n%s", *lines, text);
}

static void test_home(void **state)
{
	static const char *const router[] = {"link add name br-lan type bridge\n",
		"link set dev wlan0 mtu 1400\nlink set dev wlan0 master br-lan\n",
		"address add 10.64.0.2/24 dev eth0\n", "address add 10.64.1.1/24 dev br-lan\n",
		"address add fd6f:7263:6800:1::1/64 dev br-lan nodad\n", NULL};
	static const char *const masquerade[] = {
		"iif != 0 oifname { \"eth0\" } masquerade\n", NULL};
	struct topology *topology = fixture_home();
	struct topology_host_lab *lab = &topology->hosts[1].lab;
	struct lab_script *script;

	(void)state;
	lab->nat = true;
	lab->bridge = calloc(1, sizeof(*lab->bridge));
	lab->bridge[lab->bridge_count++] = strdup("wlan0");
	topology->links[1].lab.mtu = 1400;
	script = make(topology, true);
	assert_string_equal(script->namespaces,
		"netns add orch-home-pc1\nnetns add orch-home-router\nnetns add orch-home-pc2\n");
	assert_string_equal(script->cables,
		"link add name eth0 netns orch-home-pc1 type veth peer name eth0 netns "
		"orch-home-router\n"
		"link add name wlan0 netns orch-home-router type veth peer name wlan0 netns "
		"orch-home-pc2\n");
	expect_lines(script->hosts[1].ip, router);
	expect_lines(script->hosts[1].nft, masquerade);
	assert_null(strstr(script->hosts[0].ip, "route"));
	assert_non_null(strstr(script->hosts[2].ip, "route replace 10.64.0.0/24 via 10.64.1.1\n"));
	assert_string_equal(script->hosts[1].tc, "");
	lab_script_destroy(script);

	script = make(topology, false);
	assert_null(strstr(script->hosts[1].ip, "fd6f"));
	lab_script_destroy(script);
	fixture_destroy(topology);
}

static void test_rates_by_direction(void **state)
{
	struct topology *topology = fixture_home();
	struct lab_script *script;

	(void)state;
	topology->links[0].rate = 100 * MEGABIT;
	topology->links[0].lab.rate_reverse = 10 * MEGABIT;
	topology->links[0].lab.queue = 30;
	script = make(topology, true);
	/* 2 ms of 100 Mbit/s; at 10 Mbit/s 3 frames of 1514 bytes are more. */
	assert_string_equal(script->hosts[0].tc,
		"qdisc add dev eth0 root handle 1: tbf rate 100000000bit burst 25000b latency "
		"30ms\n");
	assert_string_equal(script->hosts[1].tc, "qdisc add dev eth0 root handle 1: tbf rate "
						 "10000000bit burst 4542b latency 30ms\n");
	lab_script_destroy(script);
	fixture_destroy(topology);
}

static void test_forward_limit(void **state)
{
	static const char *const wanted[] = {"qdisc add dev eth0 root handle 1: htb default 10\n",
		"dev eth0 parent 1: classid 1:1 htb rate 100000000bit ceil 100000000bit",
		"dev eth0 parent 1:1 classid 1:10 htb rate 60000000bit ceil 100000000bit",
		"dev eth0 parent 1:1 classid 1:20 htb rate 40000000bit ceil 40000000bit",
		"dev eth0 parent 1:10 handle 10: bfifo limit 1250000b\n",
		"dev eth0 parent 1:20 handle 20: bfifo limit 75000b\n",
		/* a link without a rate lets everything else pass directly */
		"qdisc add dev wlan0 root handle 1: htb default 0\n",
		"dev wlan0 parent 1: classid 1:20 htb rate 40000000bit ceil 40000000bit", NULL};
	struct topology *topology = fixture_home();
	struct lab_script *script;

	(void)state;
	topology->links[0].rate = 100 * MEGABIT;
	topology->hosts[1].lab.forward_limit = 40 * MEGABIT;
	script = make(topology, true);
	expect_lines(script->hosts[1].tc, wanted);
	assert_non_null(strstr(script->hosts[1].nft, "meta priority set \"1:20\""));
	assert_string_equal(script->hosts[0].nft, "");
	lab_script_destroy(script);

	/* A limit above the link's rate limits nothing there. */
	topology->links[0].rate = 30 * MEGABIT;
	script = make(topology, true);
	assert_non_null(
		strstr(script->hosts[1].tc, "dev eth0 root handle 1: tbf rate 30000000bit"));
	lab_script_destroy(script);
	fixture_destroy(topology);
}

static void test_loss_on_both_ends(void **state)
{
	struct topology *topology = fixture_home();
	struct lab_script *script;

	(void)state;
	topology->links[0].lab.loss = 1.5;
	assert_true(lab_shaping_needs_packets(topology, 0));
	assert_false(lab_shaping_needs_packets(topology, 1));
	script = make(topology, true);
	for (int i = 0; i < 2; i++) {
		assert_non_null(strstr(script->hosts[i].nft, "device \"eth0\""));
		assert_non_null(strstr(script->hosts[i].nft, "random mod 1000000 < 15000 drop"));
	}
	assert_string_equal(script->hosts[2].nft, "");
	lab_script_destroy(script);
	fixture_destroy(topology);
}

static void test_alias_gets_its_label(void **state)
{
	struct topology *topology = fixture_create("alias");
	struct lab_script *script;

	(void)state;
	fixture_host(topology, "pc1");
	fixture_host(topology, "pc2");
	fixture_link(topology, "one", "pc1:eth0:1", "pc2:eth0");
	fixture_path(topology, 1);
	script = make(topology, true);
	assert_non_null(
		strstr(script->hosts[0].ip, "address add 10.64.0.2/24 dev eth0 label eth0:1\n"));
	lab_script_destroy(script);
	fixture_destroy(topology);
}

/* Two interfaces of both hosts in one network: no route to it, it is there. */
static void test_no_route_to_a_network_of_its_own(void **state)
{
	struct topology *topology = fixture_create("same");
	struct lab_script *script;

	(void)state;
	fixture_host(topology, "pc1");
	fixture_host(topology, "router");
	fixture_host(topology, "pc2");
	fixture_link(topology, "one", "pc1:eth0@10.9.9.1", "router:eth0@10.9.9.2");
	fixture_link(topology, "two", "router:eth1@10.9.9.3", "pc2:eth0@10.9.9.4");
	fixture_path(topology, 2);
	script = make(topology, true);
	assert_null(strstr(script->hosts[0].ip, "route"));
	lab_script_destroy(script);
	fixture_destroy(topology);
}

static void test_fingerprint(void **state)
{
	struct topology *topology = fixture_home();
	struct lab_script *script = make(topology, true);
	uint64_t first = lab_script_fingerprint(script, topology);

	(void)state;
	lab_script_destroy(script);
	script = make(topology, true);
	assert_true(lab_script_fingerprint(script, topology) == first);
	topology->hosts[0].lab.cpu = .05;
	assert_false(lab_script_fingerprint(script, topology) == first);
	topology->hosts[0].lab.cpu = 0;
	lab_script_destroy(script);
	topology->links[0].lab.mtu = 1400;
	script = make(topology, true);
	assert_false(lab_script_fingerprint(script, topology) == first);
	lab_script_destroy(script);
	fixture_destroy(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_home),
		cmocka_unit_test(test_rates_by_direction),
		cmocka_unit_test(test_forward_limit),
		cmocka_unit_test(test_loss_on_both_ends),
		cmocka_unit_test(test_alias_gets_its_label),
		cmocka_unit_test(test_no_route_to_a_network_of_its_own),
		cmocka_unit_test(test_fingerprint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
