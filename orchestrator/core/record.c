#include "record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

static void add_number(cJSON *object, const char *name, double value)
{
	if (isnan(value))
		cJSON_AddNullToObject(object, name);
	else
		cJSON_AddNumberToObject(object, name, value);
}

static void add_text(cJSON *object, const char *name, const char *text)
{
	if (text && *text)
		cJSON_AddStringToObject(object, name, text);
	else
		cJSON_AddNullToObject(object, name);
}

cJSON *record_create(const struct record_trial *trial, const char *error)
{
	const struct plan *plan = trial->plan;
	const struct plan_segment *segment = &plan->segments[trial->series->segment];
	const struct topology_test *test = &plan->topology->tests[trial->series->test];
	cJSON *record = cJSON_CreateObject();

	if (!record)
		return NULL;
	add_number(record, "round", trial->round);
	add_text(record, "path", plan->topology->paths[segment->path].name);
	add_text(record, "segment", segment->name);
	add_text(record, "test", test->id);
	add_text(record, "engine", test->engine);
	add_text(record, "direction", plan_direction_name(trial->series->direction));
	cJSON_AddBoolToObject(record, "ok", !error);
	add_text(record, "error", error);
	add_text(record, "started", trial->started);
	add_text(record, "sender", trial->sender);
	add_text(record, "receiver", trial->receiver);
	add_text(record, "listener", trial->listener);
	return record;
}

static void add_intervals(cJSON *record, const struct sample *sample)
{
	cJSON *list = cJSON_AddArrayToObject(record, "intervals");

	for (size_t i = 0; i < sample->interval_count; i++) {
		const struct sample_interval *interval = &sample->intervals[i];
		cJSON *item = cJSON_CreateObject();

		add_number(item, "start", interval->start);
		add_number(item, "end", interval->end);
		if (interval->omitted)
			cJSON_AddTrueToObject(item, "omitted");
		add_number(item, "bytes", interval->bytes);
		add_number(item, "retransmits", interval->retransmits);
		add_number(item, "rtt_us", interval->rtt_us);
		add_number(item, "min_rtt_us", interval->min_rtt_us);
		add_number(item, "cwnd", interval->cwnd);
		add_number(item, "delivery_bps", interval->delivery_bps);
		if (sample->udp.given) {
			add_number(item, "packets", interval->packets);
			add_number(item, "lost", interval->lost);
		}
		cJSON_AddItemToArray(list, item);
	}
}

static void add_limits(cJSON *record, const struct sample *sample)
{
	cJSON *limits = cJSON_AddObjectToObject(record, "limits");

	add_number(limits, "busy_us", sample->busy_us);
	add_number(limits, "rwnd_limited_us", sample->rwnd_limited_us);
	add_number(limits, "sndbuf_limited_us", sample->sndbuf_limited_us);
	add_number(limits, "app_limited", sample->app_limited);
	add_number(limits, "elapsed_us", sample->elapsed_us);
}

static void add_connection(cJSON *record, const struct sample *sample)
{
	cJSON *connection = cJSON_AddObjectToObject(record, "connection");

	add_number(connection, "mss", sample->mss);
	add_text(connection, "congestion", sample->congestion);
	add_number(connection, "send_buffer", sample->send_buffer);
	add_number(connection, "receive_buffer", sample->receive_buffer);
	add_number(connection, "path_mtu", sample->path_mtu);
	add_number(connection, "reordering", sample->reordering);
	add_text(connection, "send_method", sample->send_method);
	add_text(connection, "receive_method", sample->receive_method);
	cJSON_AddBoolToObject(connection, "device_bound", sample->device_bound);
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
		add_number(object, numbers[i].name, numbers[i].value);
	add_text(object, "send_fallbacks", udp->send_fallbacks);
	add_text(object, "receive_fallbacks", udp->receive_fallbacks);
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

		add_number(item, "rate_bps", probe->rate_bps);
		add_number(item, "throughput_bps", probe->throughput_bps);
		add_number(item, "loss_percent", probe->loss_percent);
		cJSON_AddBoolToObject(item, "passed", probe->passed);
		cJSON_AddItemToArray(list, item);
	}
}

void record_add_sample(cJSON *record, const struct sample *sample)
{
	add_number(record, "throughput_bps", sample->throughput_bps);
	add_number(record, "bytes", sample->bytes);
	add_number(record, "seconds", sample->seconds);
	add_number(record, "total_bytes_sent", sample->total_sent);
	add_number(record, "total_bytes_received", sample->total_received);
	add_number(record, "retransmits", sample->retransmits);
	add_number(record, "rtt_us", sample->rtt_us);
	add_number(record, "min_rtt_us", sample->min_rtt_us);
	add_number(record, "loss_percent", sample->loss_percent);
	add_number(record, "jitter_us", sample->jitter_us);
	add_intervals(record, sample);
	add_limits(record, sample);
	add_connection(record, sample);
	add_udp(record, &sample->udp);
	add_probes(record, sample);
	cJSON_AddNullToObject(record, "raw");
}

void record_add_proof(cJSON *record, const struct proof *proof)
{
	add_text(record, "path_proof", proof_state_name(proof->state));
	add_text(record, "proof", proof->text);
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

	add_text(host, "kernel", facts->kernel);
	add_text(host, "arch", facts->arch);
	add_text(host, "firmware", facts->firmware);
	add_number(host, "cpus", facts->cpus);
	add_text(host, "boot_id", facts->boot_id);
	cJSON_AddObjectToObject(host, "tools");
	return host;
}
