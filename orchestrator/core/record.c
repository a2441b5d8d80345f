#include "record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "json.h"

cJSON *record_create(const struct record_trial *trial, const char *error)
{
	static const char *const results[] = {"throughput_bps", "bytes", "seconds", "retransmits",
		"rtt_us", "loss_percent", "jitter_us", "path_proof"};
	const struct plan *plan = trial->plan;
	const struct plan_segment *segment = &plan->segments[trial->series->segment];
	const struct topology_test *test = &plan->topology->tests[trial->series->test];
	cJSON *record = cJSON_CreateObject();

	if (!record)
		return NULL;
	json_add_number(record, "round", trial->round);
	json_add_text(record, "path", plan->topology->paths[segment->path].name);
	json_add_text(record, "segment", segment->name);
	json_add_text(record, "test", test->id);
	json_add_text(record, "engine", test->engine);
	json_add_text(record, "direction", plan_direction_name(trial->series->direction));
	cJSON_AddBoolToObject(record, "ok", !error);
	json_add_text(record, "error", error);
	json_add_text(record, "started", trial->started);
	json_add_text(record, "sender", trial->sender);
	json_add_text(record, "receiver", trial->receiver);
	json_add_text(record, "listener", trial->listener);
	/* Readers of the file find the same keys in every trial. */
	for (size_t i = 0; error && i < sizeof(results) / sizeof(results[0]); i++)
		cJSON_AddNullToObject(record, results[i]);
	return record;
}

static const char *const way_names[SAMPLE_WAYS] = {"forward", "reverse"};

/* direction: of two at once, else NULL. */
static void add_intervals(cJSON *list, const struct sample *sample, const char *direction)
{
	for (size_t i = 0; i < sample->interval_count; i++) {
		const struct sample_interval *interval = &sample->intervals[i];
		cJSON *item = cJSON_CreateObject();

		if (direction)
			json_add_text(item, "direction", direction);
		json_add_number(item, "start", interval->start);
		json_add_number(item, "end", interval->end);
		if (interval->omitted)
			cJSON_AddTrueToObject(item, "omitted");
		json_add_number(item, "bytes", interval->bytes);
		json_add_number(item, "retransmits", interval->retransmits);
		json_add_number(item, "rtt_us", interval->rtt_us);
		json_add_number(item, "min_rtt_us", interval->min_rtt_us);
		json_add_number(item, "cwnd", interval->cwnd);
		json_add_number(item, "delivery_bps", interval->delivery_bps);
		if (sample->udp.given) {
			json_add_number(item, "packets", interval->packets);
			json_add_number(item, "lost", interval->lost);
		}
		cJSON_AddItemToArray(list, item);
	}
}

static void add_limits(cJSON *record, const struct sample *sample)
{
	cJSON *limits = cJSON_AddObjectToObject(record, "limits");

	json_add_number(limits, "busy_us", sample->busy_us);
	json_add_number(limits, "rwnd_limited_us", sample->rwnd_limited_us);
	json_add_number(limits, "sndbuf_limited_us", sample->sndbuf_limited_us);
	json_add_number(limits, "app_limited", sample->app_limited);
	json_add_number(limits, "elapsed_us", sample->elapsed_us);
	json_add_number(limits, "busy_share", sample->busy_share);
	json_add_number(limits, "rwnd_limited_share", sample->rwnd_limited_share);
	json_add_number(limits, "sndbuf_limited_share", sample->sndbuf_limited_share);
}

/* A comma list as an array; left out when there is nothing. */
static void add_fallbacks(cJSON *connection, const struct sample *sample)
{
	const char *const lists[] = {sample->send_fallbacks, sample->receive_fallbacks};
	cJSON *array = NULL;

	for (size_t i = 0; i < 2; i++) {
		for (const char *at = lists[i]; *at;) {
			size_t length = strcspn(at, ",");
			char name[sizeof(sample->send_fallbacks)];

			snprintf(name, sizeof(name), "%.*s", (int)length, at);
			if (!array)
				array = cJSON_AddArrayToObject(connection, "fallbacks");
			cJSON_AddItemToArray(array, cJSON_CreateString(name));
			at += length + (at[length] == ',');
		}
	}
}

static void add_connection(cJSON *record, const struct sample *sample)
{
	cJSON *connection = cJSON_AddObjectToObject(record, "connection");

	json_add_number(connection, "mss", sample->mss);
	json_add_text(connection, "congestion", sample->congestion);
	json_add_number(connection, "send_buffer", sample->send_buffer);
	json_add_number(connection, "receive_buffer", sample->receive_buffer);
	json_add_number(connection, "path_mtu", sample->path_mtu);
	json_add_number(connection, "reordering", sample->reordering);
	json_add_text(connection, "send_method", sample->send_method);
	json_add_text(connection, "receive_method", sample->receive_method);
	add_fallbacks(connection, sample);
	json_add_number(connection, "dscp", sample->dscp);
	json_add_number(connection, "pacing_bps", sample->pacing_bps);
	cJSON_AddBoolToObject(connection, "nodelay", sample->nodelay);
	cJSON_AddBoolToObject(connection, "device_bound", sample->device_bound);
}

static cJSON *latency_json(const struct sample_latency *latency)
{
	cJSON *object = cJSON_CreateObject();

	json_add_number(object, "count", latency->count);
	json_add_number(object, "lost", latency->lost);
	json_add_number(object, "min_us", latency->min_us);
	json_add_number(object, "mean_us", latency->mean_us);
	json_add_number(object, "p50_us", latency->p50_us);
	json_add_number(object, "p90_us", latency->p90_us);
	json_add_number(object, "p99_us", latency->p99_us);
	json_add_number(object, "p999_us", latency->p999_us);
	json_add_number(object, "max_us", latency->max_us);
	json_add_number(object, "rate_per_second", latency->rate_per_second);
	return object;
}

void record_add_load(cJSON *record, const struct record_load *loads, size_t count)
{
	cJSON *list = cJSON_AddArrayToObject(record, "latency_under_load");

	for (size_t i = 0; i < count; i++) {
		const struct record_load *load = &loads[i];
		cJSON *item = cJSON_CreateObject();

		json_add_text(item, "segment", load->segment);
		cJSON_AddItemToObject(item, "idle",
			load->answered ? latency_json(&load->idle) : cJSON_CreateNull());
		cJSON_AddItemToObject(item, "loaded",
			load->answered ? latency_json(&load->loaded) : cJSON_CreateNull());
		cJSON_AddItemToArray(list, item);
	}
}

/* Both directions at once: what is one direction's own. */
static void add_way(cJSON *ways, const struct sample *sample, const char *name)
{
	cJSON *way = cJSON_AddObjectToObject(ways, name);

	json_add_number(way, "throughput_bps", sample->throughput_bps);
	json_add_number(way, "bytes", sample->bytes);
	json_add_number(way, "seconds", sample->seconds);
	json_add_number(way, "total_bytes_sent", sample->total_sent);
	json_add_number(way, "total_bytes_received", sample->total_received);
	json_add_number(way, "retransmits", sample->retransmits);
	json_add_number(way, "rtt_us", sample->rtt_us);
	json_add_number(way, "min_rtt_us", sample->min_rtt_us);
	add_limits(way, sample);
	add_connection(way, sample);
}

static void add_ways(cJSON *record, const struct sample *sample)
{
	cJSON *intervals = cJSON_AddArrayToObject(record, "intervals");
	cJSON *ways;

	if (!sample->ways) {
		add_intervals(intervals, sample, NULL);
		add_limits(record, sample);
		add_connection(record, sample);
		return;
	}
	json_add_number(record, "forward_bps", sample->ways[SAMPLE_FORWARD].throughput_bps);
	json_add_number(record, "reverse_bps", sample->ways[SAMPLE_REVERSE].throughput_bps);
	ways = cJSON_AddObjectToObject(record, "ways");
	for (size_t i = 0; i < SAMPLE_WAYS; i++) {
		add_intervals(intervals, &sample->ways[i], way_names[i]);
		add_way(ways, &sample->ways[i], way_names[i]);
	}
}

static void add_udp(cJSON *record, const struct sample_udp *udp)
{
	const struct {
		const char *name;
		double value;
	} numbers[] = {
		{"size", udp->size},
		{"packets", udp->packets},
		{"lost", udp->lost},
		{"duplicates", udp->duplicates},
		{"reordered", udp->reordered},
		{"socket_drops", udp->socket_drops},
		{"packets_per_second", udp->packets_per_second},
		{"jitter_p50_us", udp->jitter_p50_us},
		{"jitter_p90_us", udp->jitter_p90_us},
		{"jitter_p99_us", udp->jitter_p99_us},
		{"jitter_max_us", udp->jitter_max_us},
		{"sent_packets", udp->sent_packets},
		{"sent_bps", udp->sent_bps},
		{"burst", udp->burst},
		{"late", udp->late},
		{"refused", udp->refused},
	};
	cJSON *object;

	if (!udp->given)
		return;
	object = cJSON_AddObjectToObject(record, "udp");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_add_number(object, numbers[i].name, numbers[i].value);
}

static void add_probes(cJSON *record, const struct sample *sample)
{
	cJSON *list;

	if (!sample->probes)
		return;
	list = cJSON_AddArrayToObject(record, "probes");
	for (size_t i = 0; i < sample->probe_count; i++) {
		const struct sample_probe *probe = &sample->probes[i];
		cJSON *item = cJSON_CreateObject();

		json_add_number(item, "rate_bps", probe->rate_bps);
		json_add_number(item, "throughput_bps", probe->throughput_bps);
		json_add_number(item, "loss_percent", probe->loss_percent);
		cJSON_AddBoolToObject(item, "passed", probe->passed);
		cJSON_AddItemToArray(list, item);
	}
}

void record_add_sample(cJSON *record, const struct sample *sample)
{
	json_add_number(record, "throughput_bps", sample->throughput_bps);
	json_add_number(record, "bytes", sample->bytes);
	json_add_number(record, "seconds", sample->seconds);
	json_add_number(record, "total_bytes_sent", sample->total_sent);
	json_add_number(record, "total_bytes_received", sample->total_received);
	json_add_number(record, "retransmits", sample->retransmits);
	json_add_number(record, "rtt_us", sample->rtt_us);
	json_add_number(record, "min_rtt_us", sample->min_rtt_us);
	json_add_number(record, "loss_percent", sample->loss_percent);
	json_add_number(record, "jitter_us", sample->jitter_us);
	if (sample->is_latency)
		cJSON_AddItemToObject(record, "latency", latency_json(&sample->latency));
	add_ways(record, sample);
	add_udp(record, &sample->udp);
	add_probes(record, sample);
	cJSON_AddNullToObject(record, "raw");
}

void record_add_proof(cJSON *record, const struct proof *proof)
{
	json_add_text(record, "path_proof", proof_state_name(proof->state));
	json_add_text(record, "proof", proof->text);
	if (proof->cross_traffic)
		cJSON_AddItemToArray(cJSON_AddArrayToObject(record, "flags"),
			cJSON_CreateString("cross_traffic"));
	if (proof->state != PROOF_CONTRADICTED)
		return;
	cJSON_ReplaceItemInObjectCaseSensitive(record, "ok", cJSON_CreateFalse());
	cJSON_ReplaceItemInObjectCaseSensitive(record, "error", cJSON_CreateString(proof->text));
}

void record_add_evidence(cJSON *record, const struct record_evidence *evidence, size_t count)
{
	cJSON *hosts = cJSON_AddObjectToObject(record, "hosts");
	cJSON *interfaces = cJSON_AddObjectToObject(record, "interfaces");

	for (size_t i = 0; i < count; i++) {
		const struct record_evidence *item = &evidence[i];
		cJSON *object;
		char name[160];

		if (item->interface) {
			snprintf(name, sizeof(name), "%s:%s", item->host, item->interface);
			object = evidence_interface_json(&item->evidence, item->interface);
			cJSON_AddItemToObject(interfaces, name, object);
			continue;
		}
		object = evidence_host_json(&item->evidence);
		if (!isnan(item->wait_us))
			cJSON_AddNumberToObject(object, "wait_us", item->wait_us);
		if (!isnan(item->run_us))
			cJSON_AddNumberToObject(object, "run_us", item->run_us);
		cJSON_AddItemToObject(hosts, item->host, object);
	}
}

struct cJSON *record_host(const struct facts *facts)
{
	cJSON *host = cJSON_CreateObject();

	json_add_text(host, "kernel", facts->kernel);
	json_add_text(host, "arch", facts->arch);
	json_add_text(host, "firmware", facts->firmware);
	json_add_number(host, "cpus", facts->cpus);
	json_add_text(host, "boot_id", facts->boot_id);
	cJSON_AddObjectToObject(host, "tools");
	return host;
}
