/* Evidence records as the run file's JSON. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "evidence.h"
#include "records.h"

static const char *const lines[] = {
	"9 cpu core=0 user=10 system=20 irq=0 softirq=40 steal=0 idle=20 iowait=10",
	"9 cpu core=1 user=0 system=0 irq=0 softirq=0 steal=0 idle=0 iowait=0",
	"9 counters interface=eth0 rx_bytes=5000 tx_bytes=70 rx_packets=4 tx_packets=1 rx_errors=0",
	"9 qdisc interface=eth0 kind=tbf handle=1: parent=root drops=12 overlimits=90 backlog=0 "
	"bytes=70",
	"9 qdisc interface=eth1 kind=fq drops=99", "9 softnet dropped=3 squeezed=8",
	"9 protocol name=InErrs delta=0", "9 protocol name=RetransSegs delta=17",
	"9 protocol name=RetransSegs delta=18",
	"9 link interface=eth0 speed_mbit=1000 duplex=full carrier=1 mtu=1500",
	"9 conntrack count=12 max=65536", "9 thermal zone=0 millidegrees=48500", "9 invented key=1",
	NULL};

static double number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

static struct evidence evidence(struct records *records)
{
	records_parse(records, lines);
	return (struct evidence){records->pointers, records->count};
}

static void test_host(void **state)
{
	static struct records records;
	struct evidence all = evidence(&records);
	cJSON *host = evidence_host_json(&all);
	const cJSON *cores = cJSON_GetObjectItemCaseSensitive(host, "cores");

	(void)state;
	assert_int_equal(cJSON_GetArraySize(cores), 2);
	/* iowait is idle time: 1 - (20 + 10) / 100 */
	assert_true(fabs(number(cJSON_GetArrayItem(cores, 0), "busy") - .7) < 1e-12);
	assert_true(fabs(number(cJSON_GetArrayItem(cores, 0), "softirq") - .4) < 1e-12);
	/* a window shorter than a tick says nothing, and must not say 0/0 */
	assert_int_equal(cJSON_GetArraySize(cJSON_GetArrayItem(cores, 1)), 0);
	assert_true(number(host, "softnet_dropped") == 3 && number(host, "softnet_squeezed") == 8);
	assert_true(
		number(cJSON_GetObjectItemCaseSensitive(host, "protocol"), "RetransSegs") == 17);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(host, "protocol")), 1);
	assert_true(number(cJSON_GetObjectItemCaseSensitive(host, "conntrack"), "max") == 65536);
	cJSON_Delete(host);
}

static void test_interface(void **state)
{
	static struct records records;
	struct evidence all = evidence(&records);
	cJSON *interface = evidence_interface_json(&all, "eth0");
	const cJSON *qdisc = cJSON_GetObjectItemCaseSensitive(interface, "qdisc");

	(void)state;
	assert_true(number(interface, "rx_bytes") == 5000);
	assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(interface, "tx_errors")));
	assert_int_equal(cJSON_GetArraySize(qdisc), 1);
	assert_true(number(cJSON_GetArrayItem(qdisc, 0), "drops") == 12);
	assert_true(number(interface, "speed_mbit") == 1000);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(interface, "carrier")));
	cJSON_Delete(interface);
}

static void test_counter(void **state)
{
	static struct records records;
	struct evidence all = evidence(&records);

	(void)state;
	assert_true(evidence_counter(&all, "eth0", "tx_bytes") == 70);
	assert_true(isnan(evidence_counter(&all, "eth0", "tx_errors")));
	assert_true(isnan(evidence_counter(&all, "eth7", "tx_bytes")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_interface),
		cmocka_unit_test(test_counter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
