#include "record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "json.h"

cJSON *record_create(const struct record_trial *trial, const char *error)
{
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
	return record;
}

static void add_intervals(cJSON *record, const struct sample *sample)
{
	cJSON *list = cJSON_AddArrayToObject(record, "intervals");

	for (size_t i = 0; i < sample->interval_count; i++) {
		const struct sample_interval *interval = &sample->intervals[i];
		cJSON *item = cJSON_CreateObject();

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
	add_intervals(record, sample);
	add_limits(record, sample);
	add_connection(record, sample);
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
