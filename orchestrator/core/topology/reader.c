#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"
#include "place.h"

int(reader_fail)(const struct reader *reader, struct topology_mark mark, const char *format, ...)
{
	char message[sizeof(reader->err->message)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return place_fail(reader->err, reader->topology->file, mark, "%s", message);
}

int reader_out_of_memory(const struct reader *reader)
{
	return error_set(reader->err, ERROR_SYSTEM, reader->topology->file, "out of memory");
}

static int unknown_key(struct reader *reader, const struct node *entry, const char *what,
	const struct field_table *table)
{
	char near[SUGGEST_TEXT_MAX];

	if (reader->mode == TOPOLOGY_RECORDED)
		return 0;
	return reader_fail(reader, entry->key_mark, "unknown key \"%.64s\" in %s%s", entry->key,
		what,
		suggest_text(entry->key, table->fields, table->count, sizeof(struct field), near,
			sizeof(near)));
}

int reader_mapping(struct reader *reader, const struct node *node, const char *what,
	const struct field_table *table, void *base)
{
	const struct node *entry;

	if (node_is_null(node))
		return 0;
	if (node->kind != NODE_MAPPING)
		return reader_fail(
			reader, node->mark, "%s must be a mapping of keys to values", what);
	for (entry = node->first; entry; entry = entry->next) {
		const struct field *field = NULL;
		size_t i;
		int result = 0;

		for (i = 0; i < table->count && !field; i++) {
			if (strcmp(table->fields[i].name, entry->key) == 0)
				field = &table->fields[i];
		}
		if (!field)
			result = unknown_key(reader, entry, what, table);
		else if (field->takes_null || !node_is_null(entry))
			result = field->read(reader, field, entry, (char *)base + field->offset);
		if (result < 0)
			return result;
	}
	return 0;
}

const char *reader_text(struct reader *reader, const char *name, const struct node *value)
{
	if (value->kind == NODE_SCALAR && value->text[0] != '\0')
		return value->text;
	reader_fail(reader, value->mark, "%s must be %s", name,
		value->kind == NODE_SCALAR ? "given a value" : "one value, not a list or mapping");
	return NULL;
}

void reader_free_list(char **items, size_t count)
{
	size_t i;

	for (i = 0; items && i < count; i++)
		free(items[i]);
	free(items);
}

int reader_list(struct reader *reader, const char *name, const struct node *value,
	char ***ret_items, size_t *ret_count)
{
	const struct node *item;
	size_t count = 0;
	char **items;

	if (value->kind != NODE_SEQUENCE || value->count == 0)
		return reader_fail(reader, value->mark, "%s must be a list: [a, b, ...]", name);
	items = calloc(value->count, sizeof(*items));
	if (!items)
		return reader_out_of_memory(reader);
	for (item = value->first; item; item = item->next) {
		const char *text = reader_text(reader, name, item);

		if (text && !(items[count] = strdup(text)))
			reader_out_of_memory(reader);
		if (!text || !items[count]) {
			reader_free_list(items, count);
			return -1;
		}
		count++;
	}
	*ret_items = items;
	*ret_count = count;
	return 0;
}

#define ALPHANUMERIC "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static bool is_name(const char *name)
{
	size_t length = strlen(name);

	return length >= 1 && length <= 64 && strchr(ALPHANUMERIC, name[0]) &&
	       strspn(name, ALPHANUMERIC "._-") == length;
}

/* Recorded names come from elsewhere: only what would spoil a report is refused. */
static bool is_printable(const char *name)
{
	const unsigned char *byte = (const unsigned char *)name;

	while (*byte >= ' ' && *byte != 0x7f)
		byte++;
	return *byte == '\0' && name[0] != '\0' && strlen(name) <= 64;
}

int reader_check_name(
	struct reader *reader, struct topology_mark mark, const char *what, const char *name)
{
	if (reader->mode == TOPOLOGY_RECORDED ? is_printable(name) : is_name(name))
		return 0;
	return reader_fail(reader, mark,
		"\"%.70s\" cannot name %s; use up to 64 of A-Z a-z 0-9 . _ - and begin with a "
		"letter "
		"or digit",
		name, what);
}
