#include "node.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "place.h"

struct builder {
	const char *file;
	struct error *err;
	struct node *root;
	struct node *stack[NODE_DEPTH_MAX]; /* the collections that are open */
	size_t depth;
	size_t nodes;
	size_t documents;
	char *key; /* of the entry whose value comes next */
	struct topology_mark key_mark;
};

static struct topology_mark mark_of(yaml_mark_t mark)
{
	/* libyaml counts from 0; the input cap keeps both within int. */
	return (struct topology_mark){(int)mark.line + 1, (int)mark.column + 1};
}

void node_free(struct node *node)
{
	struct node *child, *next;

	if (!node)
		return;
	for (child = node->first; child; child = next) {
		next = child->next;
		node_free(child);
	}
	free(node->text);
	free(node->key);
	free(node);
}

bool node_is_null(const struct node *node)
{
	return node->kind == NODE_SCALAR && node->plain &&
	       (node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
		       strcmp(node->text, "null") == 0);
}

static int out_of_memory(struct builder *builder)
{
	return error_set(builder->err, ERROR_SYSTEM, builder->file, "out of memory");
}

static void attach(struct builder *builder, struct node *node)
{
	struct node *parent = builder->depth ? builder->stack[builder->depth - 1] : NULL;

	node->key = builder->key;
	node->key_mark = builder->key_mark;
	builder->key = NULL;
	if (!parent) {
		builder->root = node;
		return;
	}
	if (parent->last)
		parent->last->next = node;
	else
		parent->first = node;
	parent->last = node;
	parent->count++;
}

/* Makes a node and puts it where it belongs: the tree owns it from then on. */
static struct node *add(struct builder *builder, enum node_kind kind, struct topology_mark mark)
{
	struct node *node;

	if (++builder->nodes > NODE_COUNT_MAX) {
		place_fail(builder->err, builder->file, mark, "more than %d values in one file",
			NODE_COUNT_MAX);
		return NULL;
	}
	node = calloc(1, sizeof(*node));
	if (!node) {
		out_of_memory(builder);
		return NULL;
	}
	node->kind = kind;
	node->mark = mark;
	attach(builder, node);
	return node;
}

static bool wants_key(const struct builder *builder)
{
	return builder->depth && builder->stack[builder->depth - 1]->kind == NODE_MAPPING &&
	       !builder->key;
}

static int check_properties(struct builder *builder, struct topology_mark mark,
	const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor)
		return place_fail(builder->err, builder->file, mark,
			"anchors (&%.20s) are not supported; write the value out in each place",
			(const char *)anchor);
	if (tag)
		return place_fail(builder->err, builder->file, mark,
			"tags (%.40s) are not supported; leave it out", (const char *)tag);
	return 0;
}

static int on_nothing(struct builder *builder, const yaml_event_t *event)
{
	(void)builder;
	(void)event;
	return 0;
}

static int on_document(struct builder *builder, const yaml_event_t *event)
{
	if (++builder->documents > 1)
		return place_fail(builder->err, builder->file, mark_of(event->start_mark),
			"a second document starts here; a topology is one document");
	return 0;
}

static int on_alias(struct builder *builder, const yaml_event_t *event)
{
	return place_fail(builder->err, builder->file, mark_of(event->start_mark),
		"aliases (*%.20s) are not supported; write the value out in each place",
		(const char *)event->data.alias.anchor);
}

static int on_key(struct builder *builder, const yaml_event_t *event, char *text)
{
	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(text, "<<") == 0) {
		free(text);
		return place_fail(builder->err, builder->file, mark_of(event->start_mark),
			"merge keys (<<) are not supported; write the keys out");
	}
	builder->key = text;
	builder->key_mark = mark_of(event->start_mark);
	return 0;
}

static int on_scalar(struct builder *builder, const yaml_event_t *event)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;
	struct topology_mark mark = mark_of(event->start_mark);
	struct node *node;
	char *text;

	if (check_properties(builder, mark, event->data.scalar.anchor, event->data.scalar.tag) < 0)
		return -1;
	if (memchr(value, '\0', length))
		return place_fail(builder->err, builder->file, mark, "a NUL byte in a text");
	text = strdup(value);
	if (!text)
		return out_of_memory(builder);
	if (wants_key(builder))
		return on_key(builder, event, text);
	node = add(builder, NODE_SCALAR, mark);
	if (!node) {
		free(text);
		return -1;
	}
	node->text = text;
	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

static int open_collection(struct builder *builder, enum node_kind kind, struct topology_mark mark)
{
	struct node *node;

	if (wants_key(builder))
		return place_fail(builder->err, builder->file, mark,
			"a key must be a word, not a list or mapping");
	if (builder->depth == NODE_DEPTH_MAX)
		return place_fail(builder->err, builder->file, mark,
			"nested more than %d levels deep", NODE_DEPTH_MAX);
	node = add(builder, kind, mark);
	if (!node)
		return -1;
	builder->stack[builder->depth++] = node;
	return 0;
}

static int on_sequence(struct builder *builder, const yaml_event_t *event)
{
	struct topology_mark mark = mark_of(event->start_mark);

	if (check_properties(builder, mark, event->data.sequence_start.anchor,
		    event->data.sequence_start.tag) < 0)
		return -1;
	return open_collection(builder, NODE_SEQUENCE, mark);
}

static int on_mapping(struct builder *builder, const yaml_event_t *event)
{
	struct topology_mark mark = mark_of(event->start_mark);

	if (check_properties(builder, mark, event->data.mapping_start.anchor,
		    event->data.mapping_start.tag) < 0)
		return -1;
	return open_collection(builder, NODE_MAPPING, mark);
}

static int on_end(struct builder *builder, const yaml_event_t *event)
{
	(void)event;
	builder->depth--;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a;
	const struct node *y = *(const struct node *const *)b;
	int order = strcmp(x->key, y->key);

	if (order)
		return order;
	if (x->key_mark.line != y->key_mark.line)
		return x->key_mark.line < y->key_mark.line ? -1 : 1;
	return x->key_mark.column < y->key_mark.column ? -1 : 1;
}

/* Sorted, because a hostile mapping may have thousands of keys. */
static int on_mapping_end(struct builder *builder, const yaml_event_t *event)
{
	const struct node *mapping = builder->stack[builder->depth - 1];
	const struct node **sorted, *child;
	size_t count = 0, i;
	int result = on_end(builder, event);

	if (mapping->count < 2)
		return result;
	sorted = calloc(mapping->count, sizeof(const struct node *));
	if (!sorted)
		return out_of_memory(builder);
	for (child = mapping->first; child; child = child->next)
		sorted[count++] = child;
	qsort(sorted, count, sizeof(const struct node *), by_key);
	for (i = 1; i < count && result == 0; i++) {
		if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
			result = place_fail(builder->err, builder->file, sorted[i]->key_mark,
				"duplicate key \"%.64s\"; it stands in line %d already",
				sorted[i]->key, sorted[i - 1]->key_mark.line);
	}
	free(sorted);
	return result;
}

typedef int (*event_handler)(struct builder *builder, const yaml_event_t *event);

static const event_handler handlers[] = {
	[YAML_NO_EVENT] = on_nothing,
	[YAML_STREAM_START_EVENT] = on_nothing,
	[YAML_STREAM_END_EVENT] = on_nothing,
	[YAML_DOCUMENT_START_EVENT] = on_document,
	[YAML_DOCUMENT_END_EVENT] = on_nothing,
	[YAML_ALIAS_EVENT] = on_alias,
	[YAML_SCALAR_EVENT] = on_scalar,
	[YAML_SEQUENCE_START_EVENT] = on_sequence,
	[YAML_SEQUENCE_END_EVENT] = on_end,
	[YAML_MAPPING_START_EVENT] = on_mapping,
	[YAML_MAPPING_END_EVENT] = on_mapping_end,
};

/* Bad bytes are reported by offset, everything else by mark. */
static int syntax_error(
	const struct builder *builder, const yaml_parser_t *parser, const char *text, size_t length)
{
	struct topology_mark mark = mark_of(parser->problem_mark);
	const char *problem = parser->problem ? parser->problem : "cannot be read";
	size_t i;

	if (parser->error == YAML_MEMORY_ERROR)
		return error_set(builder->err, ERROR_SYSTEM, builder->file, "out of memory");
	if (parser->error == YAML_READER_ERROR) {
		mark = (struct topology_mark){1, 1};
		for (i = 0; i < parser->problem_offset && i < length; i++) {
			mark.column = text[i] == '\n' ? 1 : mark.column + 1;
			mark.line += text[i] == '\n';
		}
	}
	return place_fail(builder->err, builder->file, mark, "not valid YAML: %s", problem);
}

static int build(struct builder *builder, yaml_parser_t *parser, const char *text, size_t length)
{
	bool end = false;

	while (!end) {
		yaml_event_t event;
		int result;

		if (!yaml_parser_parse(parser, &event))
			return syntax_error(builder, parser, text, length);
		result = handlers[event.type](builder, &event);
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
		if (result < 0)
			return result;
	}
	if (!builder->root)
		return error_set(builder->err, ERROR_TOPOLOGY, builder->file, "the file is empty");
	return 0;
}

/*
 * libyaml compares every %TAG directive with all before it, before the first event comes: a
 * megabyte of them took 14 s. Tags are refused anyway.
 */
static int check_directives(struct builder *builder, const char *text, size_t length)
{
	static const char directive[] = "%TAG";
	const size_t size = sizeof(directive) - 1;
	const char *line = text, *end = text + length;
	int number = 1;

	while (line && (size_t)(end - line) >= size) {
		if (memcmp(line, directive, size) == 0)
			return place_fail(builder->err, builder->file,
				(struct topology_mark){number, 1},
				"tags (%s) are not supported; leave it out", directive);
		line = memchr(line, '\n', (size_t)(end - line));
		line = line ? line + 1 : NULL;
		number++;
	}
	return 0;
}

struct node *node_parse(const char *text, size_t length, const char *file, struct error *err)
{
	struct builder builder = {.file = file, .err = err};
	yaml_parser_t parser;
	int result;

	if (length > NODE_INPUT_MAX) {
		error_set(err, ERROR_TOPOLOGY, file,
			"%zu bytes are more than the %u bytes a topology may have", length,
			NODE_INPUT_MAX);
		return NULL;
	}
	if (check_directives(&builder, text, length) < 0)
		return NULL;
	if (!yaml_parser_initialize(&parser)) {
		out_of_memory(&builder);
		return NULL;
	}
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	result = build(&builder, &parser, text, length);
	yaml_parser_delete(&parser);
	free(builder.key);
	if (result < 0) {
		node_free(builder.root);
		return NULL;
	}
	return builder.root;
}
