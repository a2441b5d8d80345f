/* The shipped topologies: each loads, plans, and survives the way through a run file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <dirent.h>

#include "load.h"
#include "plan.h"

/* Calls check with each *.yaml of the folder; returns how many there were. */
static int for_each(const char *folder, void (*check)(const char *path))
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	char path[4096];
	int count = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		const char *end = strrchr(entry->d_name, '.');

		if (!end || strcmp(end, ".yaml") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		check(path);
		count++;
	}
	closedir(directory);
	return count;
}

static void check_plans(const char *path)
{
	struct topology *topology = load_file(path);
	struct error err = {0};
	struct plan *plan = plan_build(topology, NULL, &err);

	if (!plan)
		fail_msg("%s: %s", err.where, err.message);
	plan_free(plan);
	topology_free(topology);
}

/* As printed with and without blanks, and as part of a run file. */
static void check_json(const char *path)
{
	struct topology *topology = load_file(path);
	char *texts[] = {cJSON_Print(topology->source), cJSON_PrintUnformatted(topology->source)};
	size_t i;

	for (i = 0; i < 2; i++) {
		struct topology *file = load_text(texts[i], TOPOLOGY_FILE);
		struct topology *recorded = load_text(texts[i], TOPOLOGY_RECORDED);
		char *again = cJSON_PrintUnformatted(file->source);

		assert_same_topology(topology, file);
		assert_same_topology(topology, recorded);
		assert_string_equal(again, texts[1]);
		cJSON_free(again);
		topology_free(file);
		topology_free(recorded);
	}
	cJSON_free(texts[0]);
	cJSON_free(texts[1]);
	topology_free(topology);
}

static void test_shipped(void **state)
{
	(void)state;
	assert_true(for_each(getenv("TOPOLOGIES"), check_plans) >= 5);
	assert_true(for_each(getenv("TOPOLOGIES"), check_json) >= 5);
}

static void test_everything(void **state)
{
	(void)state;
	check_json(getenv("EVERYTHING"));
}

static struct topology *shipped(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("TOPOLOGIES"), name);
	return load_file(path);
}

/* What the comments of the labs promise follows from their numbers. */
static void test_truths(void **state)
{
	struct topology *home = shipped("lab-home.yaml");
	struct topology *slow_wan = shipped("lab-slow-wan.yaml");
	struct topology *forwarding = shipped("lab-forwarding.yaml");
	struct topology *chain = shipped("lab-chain.yaml");
	struct topology *udp = shipped("lab-udp.yaml");

	(void)state;
	assert_true(udp->tests[0].rate < udp->links[0].lab.rate_forward);
	assert_true(udp->links[0].lab.rate_forward < udp->links[1].lab.rate_forward);
	assert_true(udp->tests[1].rate_search && udp->tests[2].rate_search);
	topology_free(udp);
	assert_int_equal(home->links[0].lab.rate_forward, 100000000);
	assert_int_equal(home->links[1].lab.rate_forward, 25000000);
	assert_int_equal(home->links[1].lab.rate_reverse, 25000000);
	assert_true(home->hosts[1].lab.nat);
	assert_string_equal(home->hosts[1].lab.bridge[0], home->links[1].a.interface);
	assert_true(slow_wan->links[0].lab.rate_forward < slow_wan->links[1].lab.rate_forward);
	assert_true(forwarding->hosts[1].lab.forward_limit < forwarding->links[0].lab.rate_forward);
	assert_int_equal(
		forwarding->links[0].lab.rate_forward, forwarding->links[1].lab.rate_forward);
	assert_int_equal(chain->paths[0].link_count, 4);
	topology_free(home);
	topology_free(slow_wan);
	topology_free(forwarding);
	topology_free(chain);
}

/* The properties of a mapping in the schema, by the path of names to them. */
static const cJSON *schema_properties(const cJSON *schema, const char *path)
{
	char copy[128], *rest = copy, *name;
	const cJSON *at = schema;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((name = strsep(&rest, "/")))
		at = cJSON_GetObjectItemCaseSensitive(at, name);
	assert_non_null(at);
	return at;
}

/* A key without a value is known or not, whatever it would take. */
static void check_known(const cJSON *properties, const char *before, const char *after)
{
	const cJSON *property;
	char text[256];

	cJSON_ArrayForEach (property, properties) {
		struct error err = {0};
		struct topology *topology;

		snprintf(text, sizeof(text), "%s%s: %s", before, property->string, after);
		topology = topology_load(text, strlen(text), "x", TOPOLOGY_FILE, &err);
		if (strstr(err.message, "unknown key") || strstr(err.message, "not a key"))
			fail_msg("%s: %s", text, err.message);
		topology_free(topology);
	}
}

#define HOST "{lab: , orch: 1, name: x, links: [{}], hosts: {a: {"
#define LINK                                                                                       \
	"{lab: , orch: 1, name: x, hosts: {a: , b: }, links: [{name: x, a: \"a:e\", b: \"b:e\", "
#define TEST                                                                                       \
	"{orch: 1, name: x, hosts: {a: {local: true}, b: {local: true}}, "                         \
	"links: [{name: x, a: \"a:e\", b: \"b:e\"}], tests: ["

/* Each key that the schema offers to an editor is one that the loader knows. */
static void test_schema(void **state)
{
	static const struct {
		const char *properties, *before, *after;
	} mappings[] = {
		{"properties", "{", "}"},
		{"$defs/host/properties", HOST, "}}}"},
		{"$defs/host/properties/lab/properties", HOST "lab: {", "}}}}"},
		{"$defs/ssh/properties", HOST "ssh: {", "}}}}"},
		{"$defs/link/properties/lab/properties", LINK "lab: {", "}}]}"},
		{"$defs/common/properties", TEST "tcp: {", "}]}"},
		{"$defs/tcp/properties", TEST "tcp: {", "}]}"},
		{"$defs/udp/properties", TEST "udp: {", "}]}"},
		{"$defs/latency/properties", TEST "latency: {", "}]}"},
		{"$defs/copy/properties", TEST "copy: {", "}]}"},
	};
	char path[4096], *text;
	size_t length, i;
	cJSON *schema;

	(void)state;
	snprintf(path, sizeof(path), "%s/schema.json", getenv("TOPOLOGIES"));
	text = read_file(path, &length);
	schema = cJSON_ParseWithOpts(text, NULL, true);
	assert_non_null(schema);
	for (i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++)
		check_known(schema_properties(schema, mappings[i].properties), mappings[i].before,
			mappings[i].after);
	cJSON_Delete(schema);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_truths),
		cmocka_unit_test(test_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
