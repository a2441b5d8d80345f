/* One kind of evidence, and what it is asked for. */
#ifndef SOURCE_H
#define SOURCE_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;

enum { EVIDENCE_INTERFACES_MAX = 32 };

struct evidence_scope {
	const char *root;
	char interfaces[EVIDENCE_INTERFACES_MAX][IFNAMSIZ];
	size_t interface_count;
};

struct evidence_source {
	/* A snapshot in one block of memory, or NULL. No function: nothing to compare. */
	void *(*take)(const struct evidence_scope *scope);
	/* Says the differences, or the state as it is. The snapshots may be NULL. */
	void (*say)(const void *before, const void *now, const struct evidence_scope *scope,
		struct agent *agent, uint32_t id);
	bool late; /* belongs to the measured window: taken again after delay_ms */
};

extern const struct evidence_source source_cpu, source_counters, source_qdiscs, source_softnet,
	source_protocols, source_throttle, source_links, source_host;

/* How far a counter went. Counters of 32 bits wrap; one of 64 bits that fell was started anew. */
uint64_t source_delta(uint64_t before, uint64_t now);

bool source_wants(const struct evidence_scope *scope, const char *interface);

#endif
