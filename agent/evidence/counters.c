/* The interfaces' own counters. */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "netlink.h"
#include "source.h"

/* The order of the kernel's structs, linux/if_link.h; both widths begin alike. */
enum {
	RX_PACKETS,
	TX_PACKETS,
	RX_BYTES,
	TX_BYTES,
	RX_ERRORS,
	TX_ERRORS,
	RX_DROPPED,
	TX_DROPPED,
	COUNTERS
};

enum { INTERFACES_MAX = 1024 };

struct counters {
	char name[IFNAMSIZ];
	uint64_t values[COUNTERS];
};

struct counters_snapshot {
	size_t count, capacity;
	struct counters each[];
};

static struct counters *add_counters(struct counters_snapshot **snapshot)
{
	struct counters_snapshot *grown = *snapshot;

	if (!grown || grown->count == grown->capacity) {
		size_t count = grown ? grown->count : 0;
		size_t capacity = count ? count * 2 : 16;

		if (capacity > INTERFACES_MAX)
			return NULL;
		grown = realloc(grown, sizeof(*grown) + capacity * sizeof(grown->each[0]));
		if (!grown)
			return NULL;
		grown->count = count;
		grown->capacity = capacity;
		*snapshot = grown;
	}
	return memset(&grown->each[grown->count++], 0, sizeof(grown->each[0]));
}

static void visit_counters(const struct nlmsghdr *message, void *context)
{
	const struct rtattr *attributes[IFLA_MAX + 1];
	uint32_t narrow[COUNTERS] = {0};

	if (message->nlmsg_type != RTM_NEWLINK ||
		message->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg)))
		return;
	struct counters *counters = add_counters(context);

	if (!counters)
		return;
	netlink_attributes(message, sizeof(struct ifinfomsg), attributes, IFLA_MAX + 1);
	netlink_text(attributes[IFLA_IFNAME], counters->name, sizeof(counters->name));
	if (attributes[IFLA_STATS64]) {
		netlink_copy(attributes[IFLA_STATS64], counters->values, sizeof(counters->values));
		return;
	}
	netlink_copy(attributes[IFLA_STATS], narrow, sizeof(narrow));
	for (int i = 0; i < COUNTERS; i++)
		counters->values[i] = narrow[i];
}

static void *take_counters(const struct evidence_scope *scope)
{
	struct ifinfomsg body = {.ifi_family = AF_UNSPEC};
	struct counters_snapshot *snapshot = NULL;
	struct netlink_request request;

	(void)scope;
	netlink_request_init(&request, RTM_GETLINK, NLM_F_DUMP, &body, sizeof(body));
	if (netlink_ask(&request, visit_counters, &snapshot) < 0) {
		free(snapshot);
		return NULL;
	}
	return snapshot;
}

static const struct counters *find_counters(
	const struct counters_snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->count; i++) {
		if (strcmp(snapshot->each[i].name, name) == 0)
			return &snapshot->each[i];
	}
	return NULL;
}

static void say_counters(const void *before, const void *now, const struct evidence_scope *scope,
	struct agent *agent, uint32_t id)
{
	static const char *const keys[COUNTERS] = {
		[RX_PACKETS] = "rx_packets",
		[TX_PACKETS] = "tx_packets",
		[RX_BYTES] = "rx_bytes",
		[TX_BYTES] = "tx_bytes",
		[RX_ERRORS] = "rx_errors",
		[TX_ERRORS] = "tx_errors",
		[RX_DROPPED] = "rx_dropped",
		[TX_DROPPED] = "tx_dropped",
	};
	const struct counters_snapshot *from = before;
	const struct counters_snapshot *to = now;

	(void)scope;
	for (size_t i = 0; from && to && i < to->count; i++) {
		const struct counters *old = find_counters(from, to->each[i].name);

		if (!old)
			continue;
		struct wire_writer *writer = agent_begin(agent, id, "counters");

		wire_writer_text(writer, "interface", to->each[i].name);
		for (int value = 0; value < COUNTERS; value++)
			wire_writer_number(writer, keys[value],
				(int64_t)source_delta(
					old->values[value], to->each[i].values[value]));
		agent_end(agent);
	}
}

const struct evidence_source source_counters = {.take = take_counters, .say = say_counters};
