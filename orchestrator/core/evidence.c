#include "evidence.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "json.h"
#include "sample.h"

/* Adds a key of a record, null when the record does not tell. */
static void add_number(
	cJSON *object, const char *name, const struct wire_record *record, const char *key)
{
	json_add_number(object, name, sample_number(record, key));
}

static void add_text(cJSON *object, const struct wire_record *record, const char *key)
{
	json_add_text(object, key, wire_record_text(record, key));
}

/* Finds or makes the member of an object that the records of one type share. */
static cJSON *member(cJSON *object, const char *name, cJSON *(*create)(void))
{
	cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!found) {
		found = create();
		cJSON_AddItemToObject(object, name, found);
	}
	return found;
}

static void host_cpu(cJSON *host, const struct wire_record *record)
{
	static const char *const keys[] = {
		"user", "system", "irq", "softirq", "steal", "idle", "iowait"};
	double ticks[sizeof(keys) / sizeof(keys[0])], total = 0;
	cJSON *core = cJSON_CreateObject();

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		ticks[i] = sample_number(record, keys[i]);
		if (!(ticks[i] >= 0))
			ticks[i] = 0;
		total += ticks[i];
	}
	cJSON_AddItemToArray(member(host, "cores", cJSON_CreateArray), core);
	/* A window shorter than a tick tells nothing: the core stays an empty object. */
	if (total <= 0)
		return;
	for (size_t i = 0; i < 5; i++)
		cJSON_AddNumberToObject(core, keys[i], ticks[i] / total);
	cJSON_AddNumberToObject(core, "busy", 1 - (ticks[5] + ticks[6]) / total);
}

static void host_softnet(cJSON *host, const struct wire_record *record)
{
	add_number(host, "softnet_dropped", record, "dropped");
	add_number(host, "softnet_squeezed", record, "squeezed");
}

static void host_protocol(cJSON *host, const struct wire_record *record)
{
	const char *name = wire_record_text(record, "name");
	cJSON *protocol = member(host, "protocol", cJSON_CreateObject);

	/* There are dozens; those that did not move would be most of the run file. */
	if (name && sample_number(record, "delta") != 0 &&
		!cJSON_GetObjectItemCaseSensitive(protocol, name))
		add_number(protocol, name, record, "delta");
}

static void host_conntrack(cJSON *host, const struct wire_record *record)
{
	cJSON *conntrack = member(host, "conntrack", cJSON_CreateObject);

	if (cJSON_GetArraySize(conntrack))
		return;
	add_number(conntrack, "count", record, "count");
	add_number(conntrack, "max", record, "max");
}

static void add_to_list(
	cJSON *host, const char *list, const struct wire_record *record, const char *key)
{
	double value = sample_number(record, key);

	if (!isnan(value))
		cJSON_AddItemToArray(
			member(host, list, cJSON_CreateArray), cJSON_CreateNumber(value));
}

static void host_thermal(cJSON *host, const struct wire_record *record)
{
	add_to_list(host, "thermal", record, "millidegrees");
}

static void host_clock(cJSON *host, const struct wire_record *record)
{
	add_to_list(host, "clock_khz", record, "khz");
}

static void host_throttle(cJSON *host, const struct wire_record *record)
{
	cJSON *throttle = member(host, "throttle", cJSON_CreateObject);

	if (cJSON_GetArraySize(throttle))
		return;
	add_number(throttle, "periods", record, "periods");
	add_number(throttle, "throttled_us", record, "throttled_us");
}

static const struct {
	const char *type;
	void (*add)(cJSON *host, const struct wire_record *record);
} host_records[] = {
	{"cpu", host_cpu},
	{"softnet", host_softnet},
	{"protocol", host_protocol},
	{"conntrack", host_conntrack},
	{"thermal", host_thermal},
	{"clock", host_clock},
	{"throttle", host_throttle},
};

cJSON *evidence_host_json(const struct evidence *evidence)
{
	cJSON *host = cJSON_CreateObject();

	for (size_t i = 0; host && i < evidence->count; i++) {
		for (size_t j = 0; j < sizeof(host_records) / sizeof(host_records[0]); j++) {
			if (!strcmp(evidence->records[i]->type, host_records[j].type))
				host_records[j].add(host, evidence->records[i]);
		}
	}
	return host;
}

static const char *const counter_keys[] = {"rx_bytes", "tx_bytes", "rx_packets", "tx_packets",
	"rx_errors", "tx_errors", "rx_dropped", "tx_dropped"};

static bool about(const struct wire_record *record, const char *type, const char *interface)
{
	const char *name = wire_record_text(record, "interface");

	return !strcmp(record->type, type) && name && !strcmp(name, interface);
}

static void interface_qdisc(cJSON *object, const struct wire_record *record)
{
	static const char *const texts[] = {"kind", "handle", "parent"};
	static const char *const numbers[] = {"drops", "overlimits", "backlog", "bytes"};
	cJSON *qdisc = cJSON_CreateObject();

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		add_text(qdisc, record, texts[i]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		add_number(qdisc, numbers[i], record, numbers[i]);
	cJSON_AddItemToArray(member(object, "qdisc", cJSON_CreateArray), qdisc);
}

static void interface_link(cJSON *object, const struct wire_record *record)
{
	add_number(object, "speed_mbit", record, "speed_mbit");
	add_text(object, record, "duplex");
	if (!isnan(sample_number(record, "carrier")))
		cJSON_AddBoolToObject(object, "carrier", sample_number(record, "carrier") > 0);
	add_number(object, "mtu", record, "mtu");
	add_number(object, "wifi_rate_mbit", record, "wifi_rate_mbit");
	add_number(object, "signal_dbm", record, "signal_dbm");
}

cJSON *evidence_interface_json(const struct evidence *evidence, const char *interface)
{
	cJSON *object = cJSON_CreateObject();

	for (size_t i = 0; object && i < evidence->count; i++) {
		const struct wire_record *record = evidence->records[i];

		if (about(record, "counters", interface)) {
			for (size_t j = 0; j < sizeof(counter_keys) / sizeof(counter_keys[0]); j++)
				add_number(object, counter_keys[j], record, counter_keys[j]);
		} else if (about(record, "qdisc", interface)) {
			interface_qdisc(object, record);
		} else if (about(record, "link", interface)) {
			interface_link(object, record);
		}
	}
	return object;
}

double evidence_counter(const struct evidence *evidence, const char *interface, const char *key)
{
	for (size_t i = 0; i < evidence->count; i++) {
		if (about(evidence->records[i], "counters", interface))
			return sample_number(evidence->records[i], key);
	}
	return NAN;
}
