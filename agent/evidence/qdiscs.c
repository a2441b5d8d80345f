/* Queues of the named interfaces: qdiscs and their classes. */
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "netlink.h"
#include "source.h"

enum { QUEUES_MAX = 256 };

struct queue {
	int index;
	uint32_t handle, parent;
	char kind[16];
	uint64_t bytes;
	uint32_t drops, overlimits, backlog;
};

struct queues_snapshot {
	const struct evidence_scope *scope; /* while it is taken */
	size_t count;
	struct queue each[QUEUES_MAX];
};

/* Kernels since 2.6.12 have TCA_STATS2; the older struct is what is left of a qdisc without. */
static void read_statistics(const struct rtattr *const *attributes, struct queue *queue)
{
	const struct rtattr *nested[TCA_STATS_MAX + 1];
	struct gnet_stats_queue depth = {0};
	struct tc_stats old = {0};

	if (!attributes[TCA_STATS2]) {
		netlink_copy(attributes[TCA_STATS], &old, sizeof(old));
		queue->bytes = old.bytes;
		queue->drops = old.drops;
		queue->overlimits = old.overlimits;
		queue->backlog = old.backlog;
		return;
	}
	netlink_nested(attributes[TCA_STATS2], nested, TCA_STATS_MAX + 1);
	netlink_copy(nested[TCA_STATS_BASIC], &queue->bytes, sizeof(queue->bytes));
	netlink_copy(nested[TCA_STATS_QUEUE], &depth, sizeof(depth));
	queue->drops = depth.drops;
	queue->overlimits = depth.overlimits;
	queue->backlog = depth.backlog;
}

static void visit_queue(const struct nlmsghdr *message, void *context)
{
	struct queues_snapshot *snapshot = context;
	const struct tcmsg *body = netlink_body(message);
	const struct rtattr *attributes[TCA_MAX + 1];
	char name[IFNAMSIZ];

	if ((message->nlmsg_type != RTM_NEWQDISC && message->nlmsg_type != RTM_NEWTCLASS) ||
		message->nlmsg_len < NLMSG_LENGTH(sizeof(*body)) || snapshot->count == QUEUES_MAX)
		return;
	if (!if_indextoname((unsigned int)body->tcm_ifindex, name) ||
		!source_wants(snapshot->scope, name))
		return;
	struct queue *queue = &snapshot->each[snapshot->count++];

	netlink_attributes(message, sizeof(*body), attributes, TCA_MAX + 1);
	queue->index = body->tcm_ifindex;
	queue->handle = body->tcm_handle;
	queue->parent = body->tcm_parent;
	if (message->nlmsg_type == RTM_NEWTCLASS)
		strcpy(queue->kind, "class");
	else
		netlink_text(attributes[TCA_KIND], queue->kind, sizeof(queue->kind));
	read_statistics(attributes, queue);
}

static void ask_queues(uint16_t type, int index, struct queues_snapshot *snapshot)
{
	struct tcmsg body = {.tcm_family = AF_UNSPEC, .tcm_ifindex = index};
	struct netlink_request request;

	netlink_request_init(&request, type, NLM_F_DUMP, &body, sizeof(body));
	netlink_ask(&request, visit_queue, snapshot);
}

static void *take_queues(const struct evidence_scope *scope)
{
	struct queues_snapshot *snapshot;

	if (scope->interface_count == 0)
		return NULL;
	snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return NULL;
	snapshot->scope = scope;
	/* Qdiscs of all interfaces come at once, classes by the interface. */
	ask_queues(RTM_GETQDISC, 0, snapshot);
	for (size_t i = 0; i < scope->interface_count; i++) {
		unsigned int index = if_nametoindex(scope->interfaces[i]);

		if (index)
			ask_queues(RTM_GETTCLASS, (int)index, snapshot);
	}
	return snapshot;
}

static const struct queue *find_queue(
	const struct queues_snapshot *snapshot, const struct queue *wanted)
{
	static const struct queue fresh;

	for (size_t i = 0; snapshot && i < snapshot->count; i++) {
		const struct queue *queue = &snapshot->each[i];

		if (queue->index == wanted->index && queue->handle == wanted->handle &&
			queue->parent == wanted->parent && strcmp(queue->kind, wanted->kind) == 0)
			return queue;
	}
	return &fresh;
}

static char *put_hex(char *at, uint32_t number)
{
	int shift = 12;

	while (shift > 0 && (number >> shift) == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[(number >> shift) & 15];
	return at;
}

/* As tc prints it: `1:`, `1:10`, root, ingress. */
static void say_handle(struct wire_writer *writer, const char *key, uint32_t handle)
{
	char text[12];
	char *at = text;

	if (handle == TC_H_ROOT || handle == TC_H_INGRESS) {
		wire_writer_text(writer, key, handle == TC_H_ROOT ? "root" : "ingress");
		return;
	}
	at = put_hex(at, TC_H_MAJ(handle) >> 16);
	*at++ = ':';
	if (TC_H_MIN(handle))
		at = put_hex(at, TC_H_MIN(handle));
	*at = '\0';
	wire_writer_text(writer, key, text);
}

static void say_queues(const void *before, const void *now, const struct evidence_scope *scope,
	struct agent *agent, uint32_t id)
{
	const struct queues_snapshot *to = now;
	char name[IFNAMSIZ];

	(void)scope;
	for (size_t i = 0; before && to && i < to->count; i++) {
		const struct queue *queue = &to->each[i];
		const struct queue *old = find_queue(before, queue);

		if (!if_indextoname((unsigned int)queue->index, name))
			continue;
		struct wire_writer *writer = agent_begin(agent, id, "qdisc");

		wire_writer_text(writer, "interface", name);
		wire_writer_text(writer, "kind", queue->kind);
		say_handle(writer, "handle", queue->handle);
		say_handle(writer, "parent", queue->parent);
		wire_writer_number(writer, "drops", (uint32_t)(queue->drops - old->drops));
		wire_writer_number(
			writer, "overlimits", (uint32_t)(queue->overlimits - old->overlimits));
		wire_writer_number(writer, "backlog", queue->backlog);
		wire_writer_number(
			writer, "bytes", (int64_t)source_delta(old->bytes, queue->bytes));
		agent_end(agent);
	}
}

const struct evidence_source source_qdiscs = {.take = take_queues, .say = say_queues};
