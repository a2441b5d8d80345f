/*
 * A YAML document as a tree that remembers where everything stood. Bounded in size, depth and
 * number of nodes, so that no input costs more than a moment; without anchors, aliases, merge keys,
 * tags and further documents, which would make one place of the file mean another.
 */
#ifndef TOPOLOGY_NODE_H
#define TOPOLOGY_NODE_H

#include "../topology.h"

#define NODE_INPUT_MAX (1u << 20) /* bytes */
#define NODE_DEPTH_MAX 32
#define NODE_COUNT_MAX 20000

enum node_kind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING };

struct node {
	enum node_kind kind;
	struct topology_mark mark;
	char *text; /* of a scalar */
	bool plain; /* a scalar without quotes */
	char *key;  /* of an entry of a mapping */
	struct topology_mark key_mark;
	size_t count; /* of children */
	struct node *first, *last, *next;
};

/* Fails with ERROR_TOPOLOGY at file:line:column. */
struct node *node_parse(const char *text, size_t length, const char *file, struct error *err);
void node_free(struct node *node);

/* An empty value, `null` or `~`: the same as a key that is not there. */
bool node_is_null(const struct node *node);

/*
 * The tree as JSON. Plain numbers, true, false and null get their type when JSON would print them
 * as they stand (or they begin with a point), so that "1.10" stays the name it may be. NULL when
 * out of memory.
 */
struct cJSON *node_to_json(const struct node *node);

#endif
