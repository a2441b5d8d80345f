/* A trial's JSON as a checked struct run_trial. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "plan.h"

struct number_field {
	const char *key;
	size_t offset;
	double max;
};

static const struct number_field number_fields[] = {
	{"throughput_bps", offsetof(struct run_trial, throughput_bps), 1e15},
	{"bytes", offsetof(struct run_trial, bytes), 1e18},
	{"seconds", offsetof(struct run_trial, seconds), 1e9},
	{"retransmits", offsetof(struct run_trial, retransmits), 1e15},
	{"rtt_us", offsetof(struct run_trial, rtt_us), 1e12},
	{"min_rtt_us", offsetof(struct run_trial, min_rtt_us), 1e12},
	{"loss_percent", offsetof(struct run_trial, loss_percent), 100},
	{"jitter_us", offsetof(struct run_trial, jitter_us), 1e12},
};

static const struct number_field udp_fields[] = {
	{"packets", offsetof(struct run_trial, packets), 1e18},
	{"lost", offsetof(struct run_trial, lost), 1e18},
	{"socket_drops", offsetof(struct run_trial, socket_drops), 1e18},
	{"packets_per_second", offsetof(struct run_trial, packets_per_second), 1e12},
	{"sent_bps", offsetof(struct run_trial, sent_bps), 1e15},
};

static bool absent(const cJSON *item)
{
	return !item || cJSON_IsNull(item);
}

static int read_fields(struct run_trial *trial, const cJSON *object,
	const struct number_field *fields, size_t count, const char *where, struct error *err)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct number_field *field = &fields[i];
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, field->key);
		double value = json_number(object, field->key);

		if (!absent(item) && isnan(value))
			return error_set(err, ERROR_FORMAT, where,
				"'%s' is not a number; null means not known", field->key);
		if (value < 0 || value > field->max)
			return error_set(err, ERROR_FORMAT, where,
				"'%s' is %g; it must be between 0 and %g", field->key, value,
				field->max);
		*(double *)(void *)((char *)trial + field->offset) = value;
	}
	return 0;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int read_numbers(struct run_trial *trial, const char *where, struct error *err)
{
	const cJSON *udp = cJSON_GetObjectItemCaseSensitive(trial->json, "udp");
	const char *key = NULL;

	if (json_has_absurd_number(trial->json, &key))
		return error_set(
			err, ERROR_FORMAT, where, "'%s' is not a finite number below 1e18", key);
	if (read_fields(trial, trial->json, number_fields, COUNT(number_fields), where, err) < 0)
		return -1;
	return read_fields(trial, udp, udp_fields, COUNT(udp_fields), where, err);
}

static int read_round(struct run_trial *trial, const char *where, struct error *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(trial->json, "round");

	if (absent(item))
		return 0;
	if (!cJSON_IsNumber(item) || item->valuedouble < 1 || item->valuedouble > 1e6 ||
		item->valuedouble > item->valueint)
		return error_set(err, ERROR_FORMAT, where,
			"'round' must be a whole number from 1, or null when the trials were "
			"not interleaved");
	trial->round = item->valueint;
	return 0;
}

static int read_outcome(struct run_trial *trial, const char *where, struct error *err)
{
	const cJSON *ok = cJSON_GetObjectItemCaseSensitive(trial->json, "ok");
	const cJSON *message = cJSON_GetObjectItemCaseSensitive(trial->json, "error");

	if (!absent(ok) && !cJSON_IsBool(ok))
		return error_set(err, ERROR_FORMAT, where, "'ok' must be true or false");
	if (!absent(message) && !cJSON_IsString(message))
		return error_set(err, ERROR_FORMAT, where, "'error' must be a text or null");
	trial->ok = !cJSON_IsFalse(ok);
	trial->error = cJSON_GetStringValue(message);
	trial->path_proof = json_text(trial->json, "path_proof");
	if (trial->ok && trial->throughput_bps <= 0) {
		trial->ok = false;
		trial->error = "no data arrived (throughput 0)";
	}
	if (!trial->ok && !trial->error)
		trial->error = "failed, no cause recorded";
	return 0;
}

/* The text of an optional field, or fallback; -1 when it is there and no text. */
static int read_text(const struct run_trial *trial, const char *key, const char *fallback,
	const char **ret, const char *where, struct error *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(trial->json, key);

	if (!absent(item) && !cJSON_IsString(item))
		return error_set(err, ERROR_FORMAT, where, "'%s' must be a text", key);
	*ret = absent(item) ? fallback : item->valuestring;
	return 0;
}

static int read_path(struct run_trial *trial, const struct topology *topology, const char *where,
	struct error *err)
{
	const char *name = NULL;
	size_t i;

	if (read_text(trial, "path", NULL, &name, where, err) < 0)
		return -1;
	if (!name && topology->path_count == 1)
		name = topology->paths[0].name;
	if (!name)
		return error_set(err, ERROR_FORMAT, where,
			"no 'path', and the topology has %zu of them", topology->path_count);
	for (i = 0; i < topology->path_count; i++) {
		if (strcmp(topology->paths[i].name, name))
			continue;
		trial->path = topology->paths[i].name;
		trial->path_index = i;
		return 0;
	}
	return error_set(err, ERROR_FORMAT, where, "the topology has no path '%s'", name);
}

size_t run_find_segment(const struct topology *topology, size_t path_index, const char *name)
{
	const struct topology_path *path = &topology->paths[path_index];
	size_t length = strlen(path->name), j;

	for (j = 0; j < path->link_count; j++)
		if (!strcmp(topology->links[path->links[j]].name, name))
			return j;
	if (!strcmp(path->name, name))
		return 2 * path->link_count - 1;
	if (strncmp(path->name, name, length) || name[length] != ':')
		return (size_t)-1;
	/* Prefixes end at an inner host; the first link alone is no prefix. */
	for (j = 1; j + 1 < path->link_count; j++)
		if (!strcmp(topology->hosts[path->hosts[j + 1]].name, name + length + 1))
			return path->link_count + j;
	return (size_t)-1;
}

static int read_segment(struct run_trial *trial, const struct topology *topology, const char *where,
	struct error *err)
{
	if (read_text(trial, "segment", NULL, &trial->segment, where, err) < 0)
		return -1;
	if (!trial->segment)
		return error_set(err, ERROR_FORMAT, where,
			"no 'segment': a link's name, or '%s' for end to end", trial->path);
	trial->segment_index = run_find_segment(topology, trial->path_index, trial->segment);
	if (trial->segment_index == (size_t)-1)
		return error_set(err, ERROR_FORMAT, where,
			"path '%s' has no segment '%s': use a link's name, or '%s' for end to end",
			trial->path, trial->segment, trial->path);
	return 0;
}

/* Without declared tests a trial may call itself tcp, or tcp-ENGINE as a test of that engine is. */
static bool is_plain_tcp(const char *test)
{
	return !strcmp(test, "tcp") || (!strncmp(test, "tcp-", 4) && test[4]);
}

static int read_test(
	struct run_trial *trial, const struct run *run, const char *where, struct error *err)
{
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(run->document, "topology");
	bool declared = cJSON_GetObjectItemCaseSensitive(source, "tests") != NULL;
	const char *engine = "native";
	size_t i;

	if (read_text(trial, "test", "tcp", &trial->test, where, err) < 0)
		return -1;
	trial->test_index = (size_t)-1;
	for (i = 0; i < run->topology->test_count; i++)
		if (!strcmp(run->topology->tests[i].id, trial->test))
			trial->test_index = i;
	if (trial->test_index != (size_t)-1)
		engine = run->topology->tests[trial->test_index].engine;
	else if (declared || !is_plain_tcp(trial->test))
		return error_set(err, ERROR_FORMAT, where,
			"the topology's 'tests' has no test '%s'", trial->test);
	return read_text(trial, "engine", engine, &trial->engine, where, err);
}

static int read_direction(struct run_trial *trial, const char *where, struct error *err)
{
	static const enum topology_direction known[] = {
		TOPOLOGY_FORWARD, TOPOLOGY_REVERSE, TOPOLOGY_BIDIR};
	const char *name = NULL;
	size_t i;

	if (read_text(trial, "direction", "forward", &name, where, err) < 0)
		return -1;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(plan_direction_name(known[i]), name))
			continue;
		trial->direction = known[i];
		return 0;
	}
	return error_set(err, ERROR_FORMAT, where,
		"unknown direction '%s': forward, reverse or bidir", name);
}

static void read_intervals(struct run_trial *trial)
{
	const cJSON *intervals = cJSON_GetObjectItemCaseSensitive(trial->json, "intervals");
	const cJSON *interval;

	cJSON_ArrayForEach (interval, intervals) {
		double bytes = json_number(interval, "bytes");

		if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(interval, "omitted")) &&
			bytes <= 0)
			trial->stalled = true;
	}
}

static double known_or_negative(double value)
{
	return isnan(value) ? -1 : value;
}

static double known_or_zero(double value)
{
	return isnan(value) ? 0 : value;
}

static void read_cores(struct run_host_evidence *evidence, const cJSON *cores)
{
	const cJSON *core;

	cJSON_ArrayForEach (core, cores) {
		double soft = known_or_zero(json_number(core, "softirq")) +
			      known_or_zero(json_number(core, "irq"));
		double steal = json_number(core, "steal");
		double busy = json_number(core, "busy");

		if (isnan(busy))
			busy = known_or_zero(json_number(core, "user")) +
			       known_or_zero(json_number(core, "system")) + soft +
			       known_or_zero(steal);
		if (steal > evidence->steal)
			evidence->steal = steal;
		if (busy > evidence->busiest) {
			evidence->busiest = busy;
			evidence->busiest_softirq = soft;
		}
	}
}

static int read_hosts(struct run_trial *trial)
{
	const cJSON *hosts = cJSON_GetObjectItemCaseSensitive(trial->json, "hosts");
	const cJSON *host;
	size_t count = cJSON_IsObject(hosts) ? (size_t)cJSON_GetArraySize(hosts) : 0;

	if (!count)
		return 0;
	trial->hosts = calloc(count, sizeof(*trial->hosts));
	if (!trial->hosts)
		return -1;
	cJSON_ArrayForEach (host, hosts) {
		struct run_host_evidence *evidence = &trial->hosts[trial->host_count++];

		*evidence = (struct run_host_evidence){
			.host = host->string,
			.busiest = -1,
			.busiest_softirq = -1,
			.steal = -1,
			.wait_us = known_or_negative(json_number(host, "wait_us")),
			.run_us = known_or_negative(json_number(host, "run_us")),
			.softnet_dropped = known_or_negative(json_number(host, "softnet_dropped")),
			.softnet_squeezed =
				known_or_negative(json_number(host, "softnet_squeezed")),
		};
		read_cores(evidence, cJSON_GetObjectItemCaseSensitive(host, "cores"));
	}
	return 0;
}

/* A packet dropped by a leaf counts again in its class and its root: the largest is the number. */
static double most_qdisc_drops(const cJSON *interface)
{
	const cJSON *qdiscs = cJSON_GetObjectItemCaseSensitive(interface, "qdisc"), *qdisc;
	double most = 0;

	if (!cJSON_IsArray(qdiscs))
		return -1;
	cJSON_ArrayForEach (qdisc, qdiscs)
		most = fmax(most, known_or_zero(json_number(qdisc, "drops")));
	return most;
}

static void read_interface(struct run_interface_evidence *evidence, const cJSON *item,
	const char *host, const char *name)
{
	double speed = json_number(item, "speed_mbit");

	*evidence = (struct run_interface_evidence){
		.host = host,
		.interface = name,
		.rx_bytes = known_or_negative(json_number(item, "rx_bytes")),
		.tx_bytes = known_or_negative(json_number(item, "tx_bytes")),
		.rx_dropped = known_or_negative(json_number(item, "rx_dropped")),
		.tx_dropped = known_or_negative(json_number(item, "tx_dropped")),
		.rx_errors = known_or_negative(json_number(item, "rx_errors")),
		.tx_errors = known_or_negative(json_number(item, "tx_errors")),
		.qdisc_drops = most_qdisc_drops(item),
		.speed_mbit = speed > 0 && speed < 1e8 ? (int)speed : -1,
	};
}

/* Keys are "HOST:NAME"; what belongs to no host of the topology is kept in the JSON only. */
static int read_interfaces(struct run_trial *trial, const struct topology *topology)
{
	const cJSON *interfaces = cJSON_GetObjectItemCaseSensitive(trial->json, "interfaces");
	const cJSON *item;
	size_t count = cJSON_IsObject(interfaces) ? (size_t)cJSON_GetArraySize(interfaces) : 0, i;

	if (!count)
		return 0;
	trial->interfaces = calloc(count, sizeof(*trial->interfaces));
	if (!trial->interfaces)
		return -1;
	cJSON_ArrayForEach (item, interfaces) {
		const char *colon = strchr(item->string, ':');
		size_t length = colon ? (size_t)(colon - item->string) : 0;

		for (i = 0; colon && i < topology->host_count; i++) {
			const char *host = topology->hosts[i].name;

			if (strlen(host) == length && !strncmp(host, item->string, length))
				read_interface(&trial->interfaces[trial->interface_count++], item,
					host, colon + 1);
		}
	}
	return 0;
}

struct run_trial *run_view_create(
	const struct run *run, struct cJSON *json, const char *where, struct error *err)
{
	struct run_trial *trial = calloc(1, sizeof(*trial));

	if (!trial) {
		cJSON_Delete(json);
		error_set(err, ERROR_SYSTEM, where, "out of memory");
		return NULL;
	}
	trial->json = json;
	if (!cJSON_IsObject(json)) {
		error_set(err, ERROR_FORMAT, where, "a trial must be an object");
		goto failed;
	}
	if (read_numbers(trial, where, err) < 0 || read_round(trial, where, err) < 0 ||
		read_outcome(trial, where, err) < 0 ||
		read_path(trial, run->topology, where, err) < 0 ||
		read_segment(trial, run->topology, where, err) < 0 ||
		read_test(trial, run, where, err) < 0 || read_direction(trial, where, err) < 0)
		goto failed;
	if (run_view_read_latency(trial, run->topology, where, err) < 0)
		goto failed;
	trial->value = run_is_latency_test(run->topology, trial->test_index)
			       ? trial->latency.p50_us
			       : trial->throughput_bps;
	read_intervals(trial);
	if (read_hosts(trial) < 0 || read_interfaces(trial, run->topology) < 0) {
		error_set(err, ERROR_SYSTEM, where, "out of memory");
		goto failed;
	}
	return trial;

failed:
	run_view_free(trial);
	return NULL;
}

void run_view_free(struct run_trial *trial)
{
	if (!trial)
		return;
	cJSON_Delete(trial->json);
	free(trial->loads);
	free(trial->hosts);
	free(trial->interfaces);
	free(trial);
}

bool run_trial_valid(const struct run_trial *trial)
{
	return trial->ok && trial->value >= 0 &&
	       !(trial->path_proof && !strcmp(trial->path_proof, "contradicted"));
}

bool run_is_capacity_test(const struct topology *topology, size_t test_index)
{
	const struct topology_test *test;

	if (test_index == (size_t)-1)
		return true;
	test = &topology->tests[test_index];
	if (test->kind == TOPOLOGY_TCP)
		return test->pacing == 0;
	return test->kind == TOPOLOGY_UDP && test->rate_search;
}

bool run_is_fixed_rate_test(const struct topology *topology, size_t test_index)
{
	const struct topology_test *test;

	if (test_index == (size_t)-1)
		return false;
	test = &topology->tests[test_index];
	return test->kind == TOPOLOGY_UDP && !test->rate_search;
}
