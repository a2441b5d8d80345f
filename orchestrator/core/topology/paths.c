#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"
#include "parts.h"

static int allocate_path(struct reader *reader, struct topology_path *path, size_t link_max)
{
	path->hosts = calloc(link_max + 1, sizeof(*path->hosts));
	path->links = calloc(link_max + 1, sizeof(*path->links));
	path->flipped = calloc(link_max + 1, sizeof(*path->flipped));
	path->listen = TOPOLOGY_NO_HOST;
	if (!path->hosts || !path->links || !path->flipped)
		return reader_out_of_memory(reader);
	return 0;
}

/* Adds a link whose near end is the path's last host. */
static void append_link(const struct topology *topology, struct topology_path *path, size_t link)
{
	const struct topology_link *taken = &topology->links[link];
	size_t at = path->link_count;

	path->links[at] = link;
	path->flipped[at] = taken->b.host == path->hosts[at];
	path->hosts[at + 1] = path->flipped[at] ? taken->a.host : taken->b.host;
	path->link_count++;
}

static bool joins(const struct topology_link *link, size_t x, size_t y)
{
	return (link->a.host == x && link->b.host == y) || (link->a.host == y && link->b.host == x);
}

static bool touches(const struct topology_link *link, size_t host)
{
	return link->a.host == host || link->b.host == host;
}

/* "router, pc3": where the links of a host lead. */
static const char *neighbours(
	const struct topology *topology, size_t host, char *buffer, size_t size)
{
	size_t used = 0, i;

	snprintf(buffer, size, "nowhere");
	for (i = 0; i < topology->link_count && used < size; i++) {
		const struct topology_link *link = &topology->links[i];
		size_t other = link->a.host == host ? link->b.host : link->a.host;

		if (touches(link, host))
			used += (size_t)snprintf(buffer + used, size - used, "%s%s",
				used ? ", " : "", topology->hosts[other].name);
	}
	return buffer;
}

/* The one link between two hosts. */
static int find_link_between(
	struct reader *reader, const struct node *item, size_t from, size_t to, size_t *ret_link)
{
	const struct topology *topology = reader->topology;
	const char *from_name = topology->hosts[from].name, *to_name = topology->hosts[to].name;
	size_t found = TOPOLOGY_NO_HOST, i;
	char list[200];

	for (i = 0; i < topology->link_count; i++) {
		if (!joins(&topology->links[i], from, to))
			continue;
		if (found != TOPOLOGY_NO_HOST)
			return reader_fail(reader, item->mark,
				"\"%s\" and \"%s\" are joined by links \"%s\" and \"%s\"; name the "
				"one to "
				"take: [..., %s, %s, %s, ...]",
				from_name, to_name, topology->links[found].name,
				topology->links[i].name, from_name, topology->links[i].name,
				to_name);
		found = i;
	}
	if (found == TOPOLOGY_NO_HOST)
		return reader_fail(reader, item->mark,
			"the path does not connect: no link joins \"%s\" and \"%s\"; the links of "
			"\"%s\" lead to %s",
			from_name, to_name, from_name,
			neighbours(topology, from, list, sizeof(list)));
	*ret_link = found;
	return 0;
}

static int check_not_visited(struct reader *reader, const struct topology_path *path,
	const struct node *item, size_t host)
{
	size_t i;

	for (i = 0; i <= path->link_count; i++) {
		if (path->hosts[i] == host)
			return reader_fail(reader, item->mark, "host \"%s\" is on the path twice",
				reader->topology->hosts[host].name);
	}
	return 0;
}

static int unknown_item(struct reader *reader, const struct node *item)
{
	char near[SUGGEST_TEXT_MAX];

	return reader_fail(reader, item->mark, "unknown host \"%.64s\" in the path%s", item->text,
		parts_suggest_host(reader->topology, item->text, near, sizeof(near)));
}

/* A host goes on over the only link to it; a link says which one, its far host may follow. */
static int walk_item(struct reader *reader, struct topology_path *path, const struct node **item)
{
	const struct topology *topology = reader->topology;
	size_t here = path->hosts[path->link_count];
	const char *text = reader_text(reader, "path", *item);
	size_t host = text ? topology_find_host(topology, text) : TOPOLOGY_NO_HOST;
	size_t link = text ? topology_find_link(topology, text) : TOPOLOGY_NO_HOST;
	const struct node *next = (*item)->next;

	if (!text)
		return -1;
	if (host != TOPOLOGY_NO_HOST) {
		if (check_not_visited(reader, path, *item, host) < 0 ||
			find_link_between(reader, *item, here, host, &link) < 0)
			return -1;
		append_link(topology, path, link);
		return 0;
	}
	if (link == TOPOLOGY_NO_HOST)
		return unknown_item(reader, *item);
	if (!touches(&topology->links[link], here))
		return reader_fail(reader, (*item)->mark,
			"the path does not connect: link \"%s\" does not begin at host \"%s\"",
			text, topology->hosts[here].name);
	if (!next || next->kind != NODE_SCALAR ||
		!joins(&topology->links[link], here, topology_find_host(topology, next->text)))
		return reader_fail(reader, (*item)->mark,
			"link \"%s\" must stand between its two hosts in the path", text);
	if (check_not_visited(reader, path, next, topology_find_host(topology, next->text)) < 0)
		return -1;
	append_link(topology, path, link);
	*item = next;
	return 0;
}

static int walk(struct reader *reader, struct topology_path *path, const struct node *list)
{
	const struct topology *topology = reader->topology;
	const struct node *item;
	const char *text;

	if (list->kind != NODE_SEQUENCE || list->count < 2)
		return reader_fail(
			reader, list->mark, "a path must be a list of at least two hosts");
	if (allocate_path(reader, path, list->count) < 0)
		return -1;
	text = reader_text(reader, "path", list->first);
	if (!text)
		return -1;
	path->hosts[0] = topology_find_host(topology, text);
	if (path->hosts[0] == TOPOLOGY_NO_HOST)
		return unknown_item(reader, list->first);
	for (item = list->first->next; item; item = item->next) {
		if (walk_item(reader, path, &item) < 0)
			return -1;
	}
	return 0;
}

static int read_listen(struct reader *reader, struct topology_path *path, const struct node *listen)
{
	const struct topology *topology = reader->topology;
	size_t near = path->hosts[0], far = path->hosts[path->link_count];
	const char *text = reader_text(reader, "listen", listen);
	size_t host = text ? topology_find_host(topology, text) : TOPOLOGY_NO_HOST;

	if (!text)
		return -1;
	if (strcmp(text, "auto") == 0)
		return 0;
	if (host == TOPOLOGY_NO_HOST || (host != near && host != far))
		return reader_fail(reader, listen->mark,
			"listen must be auto or an end of the path, \"%s\" or \"%s\", not "
			"\"%.64s\"",
			topology->hosts[near].name, topology->hosts[far].name, text);
	path->listen = host;
	return 0;
}

/* A path in the long form: {hosts: [...], listen: HOST} */
struct path_draft {
	const struct node *hosts, *listen;
};

static const struct field path_fields[] = {
	{"hosts", reader_node, offsetof(struct path_draft, hosts)},
	{"listen", reader_node, offsetof(struct path_draft, listen)},
};
static const struct field_table path_table = FIELD_TABLE(path_fields);

static int read_path(struct reader *reader, const char *name, const struct node *value,
	const struct node *listen)
{
	struct topology *topology = reader->topology;
	struct topology_path *path = &topology->paths[topology->path_count++];
	struct path_draft draft = {.hosts = value, .listen = listen};

	path->mark = value->key_mark;
	path->name = strdup(name);
	if (!path->name)
		return reader_out_of_memory(reader);
	if (reader_check_name(reader, value->key_mark, "a path", name) < 0)
		return -1;
	if (value->kind == NODE_MAPPING) {
		draft.hosts = NULL;
		if (reader_mapping(reader, value, "the path", &path_table, &draft) < 0)
			return -1;
		if (!draft.hosts)
			return reader_fail(
				reader, value->mark, "path \"%s\" needs hosts: [...]", name);
	}
	if (walk(reader, path, draft.hosts) < 0)
		return -1;
	return draft.listen ? read_listen(reader, path, draft.listen) : 0;
}

static size_t count_links(const struct topology *topology, size_t host)
{
	size_t count = 0, i;

	for (i = 0; i < topology->link_count; i++)
		count += touches(&topology->links[i], host);
	return count;
}

/* The link of a host that is not the one given. */
static size_t other_link(const struct topology *topology, size_t host, size_t not_this)
{
	size_t i;

	for (i = 0; i < topology->link_count; i++) {
		if (i != not_this && touches(&topology->links[i], host))
			return i;
	}
	return TOPOLOGY_NO_HOST;
}

static bool is_branching(const struct topology *topology)
{
	size_t i;

	for (i = 0; i < topology->host_count; i++) {
		if (count_links(topology, i) > 2)
			return true;
	}
	return false;
}

/* The chain's end on the side of the first link's a; TOPOLOGY_NO_HOST when the links form a ring.
 */
static size_t chain_start(const struct topology *topology)
{
	size_t host = topology->links[0].a.host, link = 0, steps;

	for (steps = 0; steps <= topology->link_count; steps++) {
		link = other_link(topology, host, link);
		if (link == TOPOLOGY_NO_HOST)
			return host;
		host = topology->links[link].a.host == host ? topology->links[link].b.host
							    : topology->links[link].a.host;
	}
	return TOPOLOGY_NO_HOST;
}

/* Without a path the links must form one chain, walked from the first link's a side. */
static int chain(struct reader *reader, const struct node *listen)
{
	struct topology *topology = reader->topology;
	struct topology_path *path = &topology->paths[topology->path_count++];
	struct topology_mark mark = topology->links[0].mark;
	size_t start = is_branching(topology) ? TOPOLOGY_NO_HOST : chain_start(topology);
	size_t link = TOPOLOGY_NO_HOST;

	path->mark = mark;
	path->name = strdup("path");
	if (!path->name || allocate_path(reader, path, topology->link_count) < 0)
		return reader_out_of_memory(reader);
	path->hosts[0] = start;
	while (start != TOPOLOGY_NO_HOST && path->link_count < topology->link_count) {
		link = other_link(topology, path->hosts[path->link_count], link);
		if (link == TOPOLOGY_NO_HOST)
			break;
		append_link(topology, path, link);
	}
	if (path->link_count < topology->link_count)
		return reader_fail(reader, mark,
			"the links do not form one chain; say what to measure with \"path: [HOST, "
			"..., "
			"HOST]\"");
	return listen ? read_listen(reader, path, listen) : 0;
}

static int check_names(struct reader *reader)
{
	const struct topology *topology = reader->topology;
	size_t i;

	for (i = 0; i < topology->path_count; i++) {
		const struct topology_path *path = &topology->paths[i];
		size_t link = topology_find_link(topology, path->name);

		if (link != TOPOLOGY_NO_HOST)
			return reader_fail(reader, topology->links[link].mark,
				"link \"%s\" has the name of a path; rename it", path->name);
	}
	return 0;
}

int paths_read(struct reader *reader, const struct node *path, const struct node *paths,
	const struct node *listen)
{
	const struct node *entry;
	size_t count = paths ? paths->count : 1;

	if (path && paths)
		return reader_fail(reader, paths->key_mark, "give either path or paths, not both");
	if (paths && (paths->kind != NODE_MAPPING || count == 0))
		return reader_fail(
			reader, paths->mark, "paths must be a mapping {NAME: [HOST, ..., HOST]}");
	reader->topology->paths = calloc(count, sizeof(struct topology_path));
	if (!reader->topology->paths)
		return reader_out_of_memory(reader);
	for (entry = paths ? paths->first : NULL; entry; entry = entry->next) {
		if (read_path(reader, entry->key, entry, listen) < 0)
			return -1;
	}
	if (path && read_path(reader, "path", path, listen) < 0)
		return -1;
	if (!path && !paths && chain(reader, listen) < 0)
		return -1;
	return check_names(reader);
}
