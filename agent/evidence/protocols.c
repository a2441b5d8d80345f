/* The protocols' counters (/proc/net/snmp, netstat) and the input queue's (softnet_stat). */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "files.h"
#include "source.h"

static const struct {
	const char *group, *name;
} wanted[] = {
	{"Ip:", "ForwDatagrams"},
	{"Ip:", "InDiscards"},
	{"Ip:", "OutDiscards"},
	{"Ip:", "OutNoRoutes"},
	{"Ip:", "ReasmFails"},
	{"Ip:", "FragFails"},
	{"Tcp:", "RetransSegs"},
	{"Tcp:", "InErrs"},
	{"Tcp:", "AttemptFails"},
	{"Udp:", "InDatagrams"},
	{"Udp:", "OutDatagrams"},
	{"Udp:", "InErrors"},
	{"Udp:", "RcvbufErrors"},
	{"Udp:", "SndbufErrors"},
	{"TcpExt:", "ListenOverflows"},
	{"TcpExt:", "ListenDrops"},
	{"TcpExt:", "PruneCalled"},
	{"TcpExt:", "RcvPruned"},
	{"TcpExt:", "TCPRcvCollapsed"},
	{"TcpExt:", "TCPBacklogDrop"},
	{"TcpExt:", "TCPRcvQDrop"},
	{"TcpExt:", "TCPZeroWindowDrop"},
	{"TcpExt:", "TCPFastRetrans"},
	{"TcpExt:", "TCPSlowStartRetrans"},
	{"TcpExt:", "TCPLostRetransmit"},
	{"TcpExt:", "TCPTimeouts"},
	{"TcpExt:", "TCPSpuriousRTOs"},
	{"TcpExt:", "TCPLossProbes"},
	{"TcpExt:", "TCPSACKReorder"},
	{"TcpExt:", "TCPTSReorder"},
	{"TcpExt:", "TCPDSACKRecv"},
	{"TcpExt:", "TCPDSACKUndo"},
	{"TcpExt:", "TCPFullUndo"},
	{"TcpExt:", "TCPOFOQueue"},
	{"TcpExt:", "TCPMemoryPressures"},
	{"TcpExt:", "TCPToZeroWindowAdv"},
};

enum { WANTED = sizeof(wanted) / sizeof(wanted[0]) };

struct protocols_snapshot {
	bool there[WANTED];
	uint64_t values[WANTED];
};

/* Groups come as two lines, "Tcp: name name ..." and "Tcp: value value ...". */
static void read_group(char *names, char *values, struct protocols_snapshot *snapshot)
{
	const char *group = files_next_word(&names);
	const char *again = files_next_word(&values);

	if (!group || !again || strcmp(group, again) != 0)
		return;
	for (;;) {
		const char *name = files_next_word(&names);
		const char *value = files_next_word(&values);
		int64_t number;

		if (!name || !value)
			return;
		for (size_t i = 0; i < WANTED; i++) {
			const char *at = value;

			if (strcmp(name, wanted[i].name) != 0 ||
				strcmp(group, wanted[i].group) != 0 ||
				!files_parse_number(&at, &number))
				continue;
			snapshot->there[i] = true;
			snapshot->values[i] = (uint64_t)number;
		}
	}
}

static void read_groups(const char *root, const char *file, struct protocols_snapshot *snapshot)
{
	char path[FILES_PATH_MAX];
	char *text = files_join(path, sizeof(path), root, file, NULL) ? files_read_all(path) : NULL;
	char *rest = text;

	while (rest) {
		char *names = files_next_line(&rest);
		char *values = names ? files_next_line(&rest) : NULL;

		if (!values)
			break;
		read_group(names, values, snapshot);
	}
	free(text);
}

static void *take_protocols(const struct evidence_scope *scope)
{
	struct protocols_snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return NULL;
	read_groups(scope->root, "/proc/net/snmp", snapshot);
	read_groups(scope->root, "/proc/net/netstat", snapshot);
	return snapshot;
}

static void say_protocols(const void *before, const void *now, const struct evidence_scope *scope,
	struct agent *agent, uint32_t id)
{
	const struct protocols_snapshot *from = before;
	const struct protocols_snapshot *to = now;

	(void)scope;
	for (size_t i = 0; from && to && i < WANTED; i++) {
		if (!from->there[i] || !to->there[i])
			continue;
		struct wire_writer *writer = agent_begin(agent, id, "protocol");

		wire_writer_text(writer, "name", wanted[i].name);
		wire_writer_number(
			writer, "delta", (int64_t)source_delta(from->values[i], to->values[i]));
		agent_end(agent);
	}
}

const struct evidence_source source_protocols = {.take = take_protocols, .say = say_protocols};

struct softnet_snapshot {
	/* Sums over the CPUs, modulo 2^32 as each of them is. */
	uint32_t dropped, squeezed;
};

/* A line a CPU, hexadecimal: processed, dropped, squeezed, ... */
static void *take_softnet(const struct evidence_scope *scope)
{
	char path[FILES_PATH_MAX];
	char *text = files_join(path, sizeof(path), scope->root, "/proc/net/softnet_stat", NULL)
			     ? files_read_all(path)
			     : NULL;
	struct softnet_snapshot *snapshot = text ? calloc(1, sizeof(*snapshot)) : NULL;
	char *rest = text;

	while (snapshot) {
		char *line = files_next_line(&rest);

		if (!line)
			break;
		files_next_word(&line);
		const char *dropped = files_next_word(&line);
		const char *squeezed = files_next_word(&line);

		snapshot->dropped += dropped ? (uint32_t)strtoul(dropped, NULL, 16) : 0;
		snapshot->squeezed += squeezed ? (uint32_t)strtoul(squeezed, NULL, 16) : 0;
	}
	free(text);
	return snapshot;
}

static void say_softnet(const void *before, const void *now, const struct evidence_scope *scope,
	struct agent *agent, uint32_t id)
{
	const struct softnet_snapshot *from = before;
	const struct softnet_snapshot *to = now;

	(void)scope;
	if (!from || !to)
		return;
	struct wire_writer *writer = agent_begin(agent, id, "softnet");

	wire_writer_number(writer, "dropped", (uint32_t)(to->dropped - from->dropped));
	wire_writer_number(writer, "squeezed", (uint32_t)(to->squeezed - from->squeezed));
	agent_end(agent);
}

const struct evidence_source source_softnet = {.take = take_softnet, .say = say_softnet};
