#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"
#include "../units.h"
#include "parts.h"

static const struct reader_choice kinds[] = {{"tcp", TOPOLOGY_TCP}, {"udp", TOPOLOGY_UDP},
	{"latency", TOPOLOGY_LATENCY}, {"copy", TOPOLOGY_COPY}, {NULL, 0}};

/* The words that a test's engine may be; which of them are built is the plan's matter. */
const struct reader_choice tests_engines[] = {{"native", 0}, {"iperf2", 0}, {"iperf3", 0},
	{"nuttcp", 0}, {"netperf", 0}, {"copy", 0}, {NULL, 0}};

static const struct reader_choice directions[] = {{"forward", TOPOLOGY_FORWARD},
	{"reverse", TOPOLOGY_REVERSE}, {"both", TOPOLOGY_BOTH}, {"bidir", TOPOLOGY_BIDIR},
	{NULL, 0}};

/* 4 and 6, as ipv4 and ipv6 would be taken for names. */
static const struct reader_choice families[] = {{"4", 4}, {"6", 6}, {NULL, 0}};

static int read_engine(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	int ignored;

	/* A recorded run may come from an engine that this version does not know. */
	if (reader->mode == TOPOLOGY_FILE && reader_choice(reader, field, value, &ignored) < 0)
		return -1;
	return reader_string(reader, field, value, target);
}

static const struct reader_choice transports[] = {
	{"udp", 0}, {"tcp", 0}, {"connect", 0}, {NULL, 0}};

static int read_transport(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	int ignored;

	if (reader->mode == TOPOLOGY_FILE && reader_choice(reader, field, value, &ignored) < 0)
		return -1;
	return reader_string(reader, field, value, target);
}

/* 5201 or 5201-5210 */
static int read_ports(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	struct topology_test *test = target;
	const char *text = reader_text(reader, field->name, value);
	const char *dash = text ? strchr(text, '-') : NULL;
	int64_t first = 0, last = 0;
	char low[8] = "";

	if (!text)
		return -1;
	if (dash && (size_t)(dash - text) < sizeof(low))
		memcpy(low, text, (size_t)(dash - text));
	if (units_parse_count(dash ? low : text, &first, NULL) < 0 ||
		units_parse_count(dash ? dash + 1 : text, &last, NULL) < 0 || first < 1 ||
		last > 65535 || first > last)
		return reader_fail(reader, value->mark,
			"ports must be a port or a range such as 5201-5210, not \"%.40s\"", text);
	test->port_first = (int)first;
	test->port_last = (int)last;
	return 0;
}

/* A rate, or `search`. */
static int read_udp_rate(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	struct topology_test *test = target;

	if (value->kind == NODE_SCALAR && strcmp(value->text, "search") == 0) {
		test->rate_search = true;
		return 0;
	}
	return reader_rate(reader, field, value, &test->rate);
}

#define BIT(kind)    (1u << (kind))
#define TEST(member) offsetof(struct topology_test, member)
#define HOUR         3600000
#define GIGABYTE     (1 << 30)
#define WINDOW_LEAST 50 /* ms; a single packet more or less is percents of anything shorter */

/* What an agent keeps of one trial. */
#define INTERVALS_MAX 4096

static const struct field test_fields[] = {
	{"name", reader_name, TEST(id)},
	{"engine", read_engine, TEST(engine), .choices = tests_engines},
	{"duration", reader_duration, TEST(duration), 100, HOUR},
	{"omit", reader_duration, TEST(omit), 0, HOUR},
	{"interval", reader_duration, TEST(interval), 10, HOUR},
	{"gap", reader_duration, TEST(gap), 0, HOUR},
	{"bytes", reader_size, TEST(bytes), 1, 1000000000000000},
	{"direction", reader_choice, TEST(direction), .choices = directions},
	{"streams", reader_int, TEST(streams), 1, 64},
	{"block", reader_size, TEST(block), 1, 16 << 20},
	{"window", reader_size, TEST(window), 1024, GIGABYTE},
	{"congestion", reader_name, TEST(congestion)},
	{"nodelay", reader_bool, TEST(nodelay), .kinds = BIT(TOPOLOGY_TCP)},
	{"mss", reader_int, TEST(mss), 88, 32767},
	{"dscp", reader_int, TEST(dscp), 0, 63},
	{"family", reader_choice, TEST(family), .choices = families},
	{"pacing", reader_rate, TEST(pacing), 1000, 1000000000000},
	{"ports", read_ports},
	{"rate", read_udp_rate, 0, 1000, 1000000000000, .kinds = BIT(TOPOLOGY_UDP)},
	{"loss_limit", reader_percent, TEST(loss_limit), 0, 100, .kinds = BIT(TOPOLOGY_UDP)},
	{"size", reader_size, TEST(size), 1, 1000000000000000,
		.kinds = BIT(TOPOLOGY_UDP) | BIT(TOPOLOGY_LATENCY) | BIT(TOPOLOGY_COPY)},
	{"probes", reader_bool, TEST(probes), .kinds = BIT(TOPOLOGY_TCP)},
	{"transport", read_transport, TEST(transport), .choices = transports,
		.kinds = BIT(TOPOLOGY_LATENCY)},
	{"method", reader_string, TEST(method), .kinds = BIT(TOPOLOGY_COPY)},
	{"from", reader_string, TEST(from), .kinds = BIT(TOPOLOGY_COPY)},
	{"to", reader_string, TEST(to), .kinds = BIT(TOPOLOGY_COPY)},
	{"verify", reader_string, TEST(verify), .kinds = BIT(TOPOLOGY_COPY)},
};
static const struct field_table test_table = FIELD_TABLE(test_fields);

/* Finds keys that stand in the table, but belong to other kinds of test. */
static int check_kinds(
	struct reader *reader, const struct node *value, enum topology_test_kind kind)
{
	const struct node *entry;
	size_t i;

	for (entry = value->first; entry; entry = entry->next) {
		for (i = 0; i < test_table.count; i++) {
			const struct field *field = &test_table.fields[i];

			if (field->kinds == 0 || field->kinds & BIT(kind) ||
				strcmp(field->name, entry->key) != 0)
				continue;
			return reader_fail(reader, entry->key_mark,
				"\"%s\" is not a key of %s tests", entry->key, kinds[kind].name);
		}
	}
	return 0;
}

static int default_id(struct reader *reader, struct topology_test *test)
{
	const char *kind = kinds[test->kind].name;
	char id[80];

	if (test->id)
		return 0;
	if (strcmp(test->engine, "native") == 0 || strcmp(test->engine, kind) == 0)
		snprintf(id, sizeof(id), "%s", kind);
	else
		snprintf(id, sizeof(id), "%s-%.64s", kind, test->engine);
	test->id = strdup(id);
	return test->id ? 0 : reader_out_of_memory(reader);
}

/* A byte count has no time to leave out, and every stream takes its share. */
static int check_bytes(struct reader *reader, const struct topology_test *test)
{
	if (test->bytes == 0)
		return 0;
	if (test->omit_given && test->omit > 0)
		return reader_fail(reader, test->mark,
			"test \"%s\" ends by bytes, which count from the first: it cannot omit "
			"time; drop omit or bytes",
			test->id);
	if (test->bytes < test->streams)
		return reader_fail(reader, test->mark,
			"test \"%s\" has fewer bytes than its %d streams", test->id, test->streams);
	return 0;
}

int tests_finish(struct reader *reader, struct topology_test *test)
{
	bool longer = test->duration >= 5000;
	char omit[UNITS_TEXT_MAX], duration[UNITS_TEXT_MAX];

	if (default_id(reader, test) < 0)
		return -1;
	if (check_bytes(reader, test) < 0)
		return -1;
	if (!test->omit_given)
		test->omit = test->bytes ? 0 : longer ? 1000 : test->duration / 5;
	if (test->loss_limit < 0)
		test->loss_limit = TOPOLOGY_LOSS_LIMIT;
	if (!test->interval_given)
		test->interval = longer ? 1000 : 100;
	units_format_duration(test->duration, duration, sizeof(duration));
	if (test->omit >= test->duration)
		return reader_fail(reader, test->mark,
			"test \"%s\" omits its first %s, which leaves nothing of %s", test->id,
			units_format_duration(test->omit, omit, sizeof(omit)), duration);
	if (test->duration / test->interval >= INTERVALS_MAX)
		return reader_fail(reader, test->mark,
			"test \"%s\" has too short an interval: at most %d of them in %s", test->id,
			INTERVALS_MAX, duration);
	if (test->duration - test->omit < WINDOW_LEAST)
		return reader_fail(reader, test->mark,
			"test \"%s\" omits its first %s, which leaves less than %d ms of %s",
			test->id, units_format_duration(test->omit, omit, sizeof(omit)),
			WINDOW_LEAST, duration);
	if (test->interval > test->duration)
		return reader_fail(reader, test->mark,
			"test \"%s\" has an interval of %s, longer than its %s", test->id,
			units_format_duration(test->interval, omit, sizeof(omit)), duration);
	return 0;
}

static int read_test(struct reader *reader, const struct node *value, struct topology_test *test)
{
	struct field kind_field = {.name = "a test", .choices = kinds};
	struct node kind_node = {.kind = NODE_SCALAR, .mark = value->mark};
	const struct node *entry = value->first;
	int kind = 0;

	if (value->kind != NODE_MAPPING || value->count != 1)
		return reader_fail(reader, value->mark,
			"a test must be one kind with its keys, as in \"tcp: {duration: 10s}\"");
	kind_node.text = entry->key;
	kind_node.mark = entry->key_mark;
	if (reader_choice(reader, &kind_field, &kind_node, &kind) < 0)
		return -1;
	test->kind = (enum topology_test_kind)kind;
	test->mark = entry->key_mark;
	test->omit = test->interval = -1;
	test->streams = 1;
	test->dscp = -1;
	test->probes = true;
	test->loss_limit = -1;
	if (check_kinds(reader, entry, test->kind) < 0 ||
		reader_mapping(reader, entry, kinds[kind].name, &test_table, test) < 0)
		return -1;
	test->named = test->id != NULL;
	/* By bytes, it bounds how long a slow path may take. */
	if (test->duration == 0)
		test->duration = test->bytes ? 600000 : 10000;
	test->omit_given = test->omit >= 0;
	test->interval_given = test->interval >= 0;
	if (!test->engine)
		test->engine = strdup(test->kind == TOPOLOGY_COPY ? "copy" : "native");
	return test->engine ? tests_finish(reader, test) : reader_out_of_memory(reader);
}

int tests_check_ids(struct reader *reader)
{
	const struct topology *topology = reader->topology;
	size_t i, j;

	for (i = 0; i < topology->test_count; i++) {
		for (j = 0; j < i; j++) {
			if (strcmp(topology->tests[i].id, topology->tests[j].id) == 0)
				return reader_fail(reader, topology->tests[i].mark,
					"two tests are called \"%s\"; give one a name: {name: ...}",
					topology->tests[i].id);
		}
	}
	return 0;
}

#define TESTS_MAX 200

int tests_read(struct reader *reader, const struct node *tests)
{
	struct topology *topology = reader->topology;
	struct node tcp = {.kind = NODE_MAPPING, .key = (char[]){"tcp"}};
	struct node only = {.kind = NODE_MAPPING, .count = 1, .first = &tcp};
	const struct node *value = tests ? tests->first : &only;

	if (tests && (tests->kind != NODE_SEQUENCE || tests->count == 0))
		return reader_fail(
			reader, tests->mark, "tests must be a list: [tcp: {duration: 10s}]");
	if (tests && tests->count > TESTS_MAX)
		return reader_fail(reader, tests->mark, "more than %d tests", TESTS_MAX);
	topology->tests = calloc(tests ? tests->count : 1, sizeof(struct topology_test));
	if (!topology->tests)
		return reader_out_of_memory(reader);
	topology->test_count = 0;
	for (; value; value = value->next) {
		if (read_test(reader, value, &topology->tests[topology->test_count++]) < 0)
			return -1;
	}
	return tests_check_ids(reader);
}

void tests_free(struct topology_test *test)
{
	free(test->id);
	free(test->engine);
	free(test->congestion);
	free(test->transport);
	free(test->method);
	free(test->from);
	free(test->to);
	free(test->verify);
}
