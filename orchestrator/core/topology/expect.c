#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"
#include "../units.h"
#include "parts.h"

struct expect_draft {
	const struct node *link, *min;
};

static const struct field expect_fields[] = {
	{"link", reader_node, offsetof(struct expect_draft, link)},
	{"min", reader_node, offsetof(struct expect_draft, min)},
};
static const struct field_table expect_table = FIELD_TABLE(expect_fields);

/* Is name a link, a path or PATH:HOST with HOST on the path? */
static bool is_segment(const struct topology *topology, const char *name)
{
	const char *colon = strchr(name, ':');
	size_t length = colon ? (size_t)(colon - name) : strlen(name);
	size_t i, j;

	if (topology_find_link(topology, name) != TOPOLOGY_NO_HOST)
		return true;
	for (i = 0; i < topology->path_count; i++) {
		const struct topology_path *path = &topology->paths[i];

		if (strlen(path->name) != length || memcmp(path->name, name, length) != 0)
			continue;
		if (!colon)
			return true;
		for (j = 2; j < path->link_count; j++) {
			if (strcmp(topology->hosts[path->hosts[j]].name, colon + 1) == 0)
				return true;
		}
	}
	return false;
}

static const char *suggest_segment(
	const struct topology *topology, const char *word, char *buffer, size_t size)
{
	parts_suggest_link(topology, word, buffer, size);
	if (buffer[0] != '\0')
		return buffer;
	return suggest_text(word, topology->paths, topology->path_count,
		sizeof(struct topology_path), buffer, size);
}

static int read_min(struct reader *reader, const struct node *min, struct topology_expect *expect)
{
	const struct field field = {.name = "min", .low = 1, .high = 1000000000000};
	char near[SUGGEST_TEXT_MAX];
	const struct node *entry;

	if (min->kind != NODE_MAPPING)
		return reader_fail(reader, min->mark, "min must be a mapping {SEGMENT: RATE}");
	expect->min = calloc(min->count + 1, sizeof(*expect->min));
	if (!expect->min)
		return reader_out_of_memory(reader);
	for (entry = min->first; entry; entry = entry->next) {
		struct topology_expect_min *item = &expect->min[expect->min_count];

		if (!is_segment(reader->topology, entry->key))
			return reader_fail(reader, entry->key_mark, "unknown segment \"%.130s\"%s",
				entry->key,
				suggest_segment(reader->topology, entry->key, near, sizeof(near)));
		if (reader_rate(reader, &field, entry, &item->rate) < 0)
			return -1;
		item->segment = strdup(entry->key);
		if (!item->segment)
			return reader_out_of_memory(reader);
		expect->min_count++;
	}
	return 0;
}

int expect_read(struct reader *reader, const struct node *value)
{
	struct topology_expect *expect = &reader->topology->expect;
	struct expect_draft draft = {NULL, NULL};
	const struct field field = {.name = "link"};
	char near[SUGGEST_TEXT_MAX];

	expect->mark = value->key_mark;
	if (reader_mapping(reader, value, "expect", &expect_table, &draft) < 0)
		return -1;
	expect->given = true;
	if (draft.link && reader_string(reader, &field, draft.link, &expect->link) < 0)
		return -1;
	if (draft.link && topology_find_link(reader->topology, expect->link) == TOPOLOGY_NO_HOST)
		return reader_fail(reader, draft.link->mark, "unknown link \"%.64s\"%s",
			expect->link,
			parts_suggest_link(reader->topology, expect->link, near, sizeof(near)));
	return draft.min ? read_min(reader, draft.min, expect) : 0;
}
