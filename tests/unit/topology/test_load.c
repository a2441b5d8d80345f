/* What a file says arrives in the struct, key by key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "load.h"

static struct topology *everything(void)
{
	return load_file(getenv("EVERYTHING"));
}

static void test_hosts(void **state)
{
	struct topology *topology = everything();
	const struct topology_host *hosts = topology->hosts;

	(void)state;
	assert_true(topology->lab);
	assert_string_equal(topology->name, "everything");
	assert_int_equal(topology->host_count, 4);
	assert_int_equal(hosts[0].transport, TOPOLOGY_SSH);
	assert_string_equal(hosts[0].ssh.host, "192.168.0.121");
	assert_string_equal(hosts[0].ssh.user, "lab");
	assert_int_equal(hosts[0].ssh.port, 2222);
	assert_string_equal(hosts[0].tmp, "/run");
	assert_string_equal(hosts[1].ssh.host, "fe80::1");
	assert_int_equal(hosts[1].ssh.port, 2200);
	assert_string_equal(hosts[1].ssh.identity, "~/.ssh/id_ed25519");
	assert_string_equal(hosts[1].ssh.via, "pc1");
	assert_string_equal(hosts[1].ssh.proxy_command, "nc router 22");
	assert_string_equal(hosts[1].ssh.known_hosts, "~/.ssh/known");
	assert_string_equal(hosts[1].ssh.password_env, "SECRET");
	assert_true(hosts[1].ssh.openssh);
	assert_int_equal(hosts[1].ssh.host_keys, TOPOLOGY_ACCEPT_NEW);
	assert_true(hosts[1].dut && hosts[1].sudo);
	assert_string_equal(hosts[1].firmware_command, "cat /etc/version");
	assert_string_equal(hosts[1].agent, "/usr/bin/agent");
	assert_int_equal(hosts[1].tool_count, 2);
	assert_string_equal(hosts[1].tool_names[1], "iperf3");
	assert_string_equal(hosts[1].tool_paths[1], "/opt/iperf3");
	assert_int_equal(hosts[1].lab.forward_limit, 30000000);
	assert_true(hosts[1].lab.nat && hosts[1].lab.inband && !hosts[1].lab.bridge_all);
	assert_true(hosts[1].lab.cpu == .05);
	assert_int_equal(hosts[1].lab.bridge_count, 2);
	assert_string_equal(hosts[1].lab.bridge[1], "eth1");
	assert_int_equal(hosts[2].transport, TOPOLOGY_EXEC);
	assert_int_equal(hosts[2].exec_count, 6);
	assert_string_equal(hosts[2].exec[2], "-i");
	assert_true(hosts[2].lab.bridge_all);
	assert_int_equal(hosts[3].transport, TOPOLOGY_LOCAL);
	topology_free(topology);
}

static void test_links(void **state)
{
	struct topology *topology = everything();
	const struct topology_link *links = topology->links;

	(void)state;
	assert_int_equal(topology->link_count, 4);
	assert_string_equal(links[0].a.interface, "eth0:1");
	assert_string_equal(links[0].a.device, "eth0");
	assert_null(links[0].a.address);
	assert_string_equal(links[0].b.interface, "eth0");
	assert_string_equal(links[0].b.address, "10.0.0.1");
	assert_int_equal(links[0].rate, 100000000);
	assert_int_equal(links[0].listen, TOPOLOGY_LISTEN_B);
	assert_int_equal(links[0].lab.rate_forward, 90000000);
	assert_int_equal(links[0].lab.rate_reverse, 90000000);
	assert_int_equal(links[0].lab.queue, 50);
	assert_int_equal(links[0].lab.mtu, 1400);
	assert_true(links[0].lab.loss == .5);
	assert_string_equal(links[1].a.address, "fe80::2");
	assert_int_equal(links[1].medium, TOPOLOGY_WIFI);
	assert_string_equal(links[1].shares, "radio");
	assert_int_equal(links[1].listen, TOPOLOGY_LISTEN_AUTO);
	assert_int_equal(links[1].lab.rate_forward, 25000000);
	assert_int_equal(links[1].lab.rate_reverse, 10000000);
	assert_int_equal(links[2].medium, TOPOLOGY_OTHER_MEDIUM);
	assert_int_equal(links[2].listen, TOPOLOGY_LISTEN_A);
	/* In a lab the nominal rate shapes, when nothing else is said. */
	assert_int_equal(links[3].lab.rate_forward, 1000000000);
	assert_int_equal(links[3].lab.rate_reverse, 1000000000);
	topology_free(topology);
}

static void test_paths(void **state)
{
	static const size_t down_links[] = {0, 1, 2}, up_links[] = {1, 3};
	static const bool down_flipped[] = {false, false, true}, up_flipped[] = {true, false};
	struct topology *topology = everything();
	const struct topology_path *down = &topology->paths[0], *up = &topology->paths[1];

	(void)state;
	assert_int_equal(topology->path_count, 2);
	assert_string_equal(down->name, "down");
	assert_int_equal(down->link_count, 3);
	assert_memory_equal(down->links, down_links, sizeof(down_links));
	assert_memory_equal(down->flipped, down_flipped, sizeof(down_flipped));
	assert_int_equal(down->hosts[3], 3);
	assert_int_equal(down->listen, TOPOLOGY_NO_HOST);
	assert_int_equal(up->link_count, 2);
	assert_memory_equal(up->links, up_links, sizeof(up_links));
	assert_memory_equal(up->flipped, up_flipped, sizeof(up_flipped));
	assert_int_equal(up->listen, 0);
	topology_free(topology);
}

static void test_tests(void **state)
{
	struct topology *topology = everything();
	const struct topology_test *tests = topology->tests;

	(void)state;
	assert_int_equal(topology->test_count, 7);
	assert_string_equal(tests[0].id, "tcp");
	assert_string_equal(tests[0].engine, "native");
	assert_int_equal(tests[0].duration, 2000);
	assert_int_equal(tests[0].omit, 200);
	assert_int_equal(tests[0].interval, 50);
	assert_int_equal(tests[0].gap, 1000);
	assert_int_equal(tests[0].direction, TOPOLOGY_FORWARD);
	assert_int_equal(tests[0].streams, 4);
	assert_int_equal(tests[0].block, 65536);
	assert_int_equal(tests[0].window, 1048576);
	assert_string_equal(tests[0].congestion, "cubic");
	assert_int_equal(tests[0].mss, 1400);
	assert_int_equal(tests[0].dscp, 46);
	assert_int_equal(tests[0].family, 6);
	assert_int_equal(tests[0].pacing, 10000000);
	assert_int_equal(tests[0].port_first, 5201);
	assert_int_equal(tests[0].port_last, 5210);
	assert_string_equal(tests[1].id, "short");
	assert_int_equal(tests[1].bytes, 1000000000);
	assert_int_equal(tests[1].dscp, -1);
	assert_int_equal(tests[1].streams, 1);
	assert_int_equal(tests[1].port_last, 5000);
	assert_string_equal(tests[2].id, "tcp-iperf3");
	assert_int_equal(tests[2].direction, TOPOLOGY_BIDIR);
	assert_string_equal(tests[3].id, "voice");
	assert_int_equal(tests[3].rate, 20000000);
	assert_int_equal(tests[3].size, 1024);
	assert_true(tests[3].loss_limit == 1);
	assert_true(tests[4].rate_search && tests[4].rate == 0);
	assert_int_equal(tests[5].kind, TOPOLOGY_LATENCY);
	assert_string_equal(tests[5].transport, "tcp");
	assert_string_equal(tests[6].id, "copy");
	assert_string_equal(tests[6].engine, "copy");
	assert_string_equal(tests[6].verify, "hash");
	topology_free(topology);
}

static void test_verdict_and_expect(void **state)
{
	struct topology *topology = everything();

	(void)state;
	assert_int_equal(topology->trials, 3);
	assert_true(topology->verdict.tie == .04);
	assert_true(topology->verdict.end_to_end == .12);
	assert_true(topology->verdict.end_to_end_given);
	assert_true(topology->expect.given);
	assert_string_equal(topology->expect.link, "wlan");
	assert_int_equal(topology->expect.min_count, 3);
	assert_string_equal(topology->expect.min[1].segment, "down:pc2");
	assert_int_equal(topology->expect.min[1].rate, 5000000);
	topology_free(topology);
}

#define SMALL                                                                                      \
	"orch: 1\nname: small\nhosts: {a: {ssh: a}, b: {ssh: \"u@[fe80::1]:22\"}, c: {ssh: "       \
	"\"::1\"}}\n"                                                                              \
	"links:\n- {name: far, a: \"b:e1\", b: \"c:e0\"}\n- {name: near, a: \"a:e0\", b: "         \
	"\"b:e0\"}\n"

static void test_defaults(void **state)
{
	struct topology *topology = load_text(SMALL, TOPOLOGY_FILE);
	const struct topology_test *test = &topology->tests[0];

	(void)state;
	assert_int_equal(topology->trials, 10);
	assert_false(topology->lab);
	assert_string_equal(topology->hosts[1].ssh.host, "fe80::1");
	assert_string_equal(topology->hosts[1].ssh.user, "u");
	assert_string_equal(topology->hosts[2].ssh.host, "::1");
	assert_int_equal(topology->hosts[0].ssh.port, 22);
	assert_null(topology->hosts[0].ssh.user);
	assert_int_equal(topology->hosts[0].ssh.host_keys, TOPOLOGY_STRICT);
	assert_int_equal(topology->test_count, 1);
	assert_string_equal(test->id, "tcp");
	assert_int_equal(test->direction, TOPOLOGY_BOTH);
	assert_int_equal(test->duration, 10000);
	assert_int_equal(test->omit, 1000);
	assert_int_equal(test->interval, 1000);
	assert_true(topology->verdict.tie == .05);
	assert_true(topology->verdict.end_to_end == .10);
	assert_false(topology->verdict.end_to_end_given || topology->expect.given);
	topology_free(topology);
	topology = load_text(SMALL "tests: [tcp: {duration: 2s}, udp: ]\n", TOPOLOGY_FILE);
	assert_int_equal(topology->tests[0].omit, 400);
	assert_int_equal(topology->tests[0].interval, 100);
	assert_int_equal(topology->tests[1].duration, 10000);
	topology_free(topology);
}

/* The chain begins on the a side of the first link, wherever that link is in it. */
static void test_chain(void **state)
{
	static const size_t hosts[] = {0, 1, 2}, links[] = {1, 0};
	struct topology *topology = load_text(SMALL, TOPOLOGY_FILE);

	(void)state;
	assert_int_equal(topology->path_count, 1);
	assert_string_equal(topology->paths[0].name, "path");
	assert_memory_equal(topology->paths[0].hosts, hosts, sizeof(hosts));
	assert_memory_equal(topology->paths[0].links, links, sizeof(links));
	topology_free(topology);
	topology = load_text(SMALL "path: [c, b]\nlisten: b\n", TOPOLOGY_FILE);
	assert_int_equal(topology->paths[0].link_count, 1);
	assert_true(topology->paths[0].flipped[0]);
	assert_int_equal(topology->paths[0].listen, 1);
	topology_free(topology);
	topology = load_text(SMALL "listen: auto\n", TOPOLOGY_FILE);
	assert_int_equal(topology->paths[0].listen, TOPOLOGY_NO_HOST);
	topology_free(topology);
}

static void test_recorded(void **state)
{
	struct topology *topology = load_text(
		"{\"links\": [{\"name\": \"wired A\", \"a\": \"pc1\", \"b\": \"router\", \"x\": 1},"
		" {\"name\": \"wireless\", \"a\": \"router:wlan0\", \"b\": \"pc2\"}],"
		" \"path\": [\"pc1\", \"router\", \"pc2\"], \"site\": {\"deep\": [1, null]},"
		" \"tests\": [{\"tcp\": {\"engine\": \"elsewhere\", \"unknown\": 1}}]}",
		TOPOLOGY_RECORDED);
	char *printed = cJSON_PrintUnformatted(topology->source);

	(void)state;
	assert_null(topology->name);
	assert_int_equal(topology->host_count, 3);
	assert_string_equal(topology->hosts[2].name, "pc2");
	assert_int_equal(topology->hosts[2].transport, TOPOLOGY_NONE);
	assert_null(topology->links[0].a.interface);
	assert_string_equal(topology->links[1].a.interface, "wlan0");
	assert_string_equal(topology->tests[0].engine, "elsewhere");
	/* Unknown fields are kept. */
	assert_non_null(strstr(printed, "\"site\":{\"deep\":[1,null]}"));
	assert_non_null(strstr(printed, "\"x\":1"));
	cJSON_free(printed);
	topology_free(topology);
}

/* A file is strict where a recorded run is not. */
static void test_recorded_is_checked(void **state)
{
	static const char text[] = "links: [{name: \"a\\nb\", a: x, b: y}]";
	struct error err = {0};

	(void)state;
	assert_null(topology_load(text, strlen(text), "run.json", TOPOLOGY_RECORDED, &err));
	assert_string_equal(err.where, "run.json:1:16");
}

static void check_json(const char *yaml, const char *json)
{
	struct topology *topology = load_text(yaml, TOPOLOGY_RECORDED);
	char *printed = cJSON_PrintUnformatted(topology->source);

	assert_non_null(strstr(printed, json));
	cJSON_free(printed);
	topology_free(topology);
}

#define ANY "links: [{name: l, a: x, b: y}]\nz: "

static void test_source_types(void **state)
{
	(void)state;
	check_json(ANY "5", "\"z\":5}");
	check_json(ANY "-5", "\"z\":-5}");
	check_json(ANY "0.25", "\"z\":0.25}");
	check_json(ANY ".25", "\"z\":0.25}");
	check_json(ANY "true", "\"z\":true}");
	check_json(ANY "false", "\"z\":false}");
	check_json(ANY "null", "\"z\":null}");
	check_json(ANY "~", "\"z\":null}");
	check_json(ANY, "\"z\":null}");
	check_json(ANY "\"5\"", "\"z\":\"5\"}");
	check_json(ANY "'true'", "\"z\":\"true\"}");
	check_json(ANY "True", "\"z\":\"True\"}");
	check_json(ANY "1.10", "\"z\":\"1.10\"}");
	check_json(ANY "007", "\"z\":\"007\"}");
	check_json(ANY "1e3", "\"z\":\"1e3\"}");
	check_json(ANY "0x10", "\"z\":\"0x10\"}");
	check_json(ANY ".inf", "\"z\":\".inf\"}");
	check_json(ANY "[~]", "\"z\":[null]}");
	check_json(ANY "12345678901234567890", "\"z\":\"12345678901234567890\"}");
	check_json(ANY "10.0.0.1", "\"z\":\"10.0.0.1\"}");
	check_json(ANY "\"\\u00e9\\t\"", "\"z\":\"\xc3\xa9\\t\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_tests),
		cmocka_unit_test(test_verdict_and_expect),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_recorded_is_checked),
		cmocka_unit_test(test_source_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
