#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"
#include "parts.h"
#include "place.h"

/* The top of the file; the parts are read when all of them are known, in whatever order. */
struct document {
	int orch;
	char *name;
	int trials;
	const struct node *lab, *hosts, *links, *path, *paths, *listen, *tests, *verdict, *expect;
};

static int read_format(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	int version = 0;

	if (reader_int(reader, field, value, &version) < 0)
		return -1;
	if (version != 1)
		return reader_fail(reader, value->mark,
			"format %d is not known to this version of orch; it reads \"orch: 1\"",
			version);
	*(int *)target = version;
	return 0;
}

#define TOP(member) offsetof(struct document, member)

static const struct field top_fields[] = {
	{"orch", read_format, TOP(orch), 0, 1000},
	{"name", reader_name, TOP(name)},
	{"lab", reader_node, TOP(lab), .takes_null = true},
	{"hosts", reader_node, TOP(hosts)},
	{"links", reader_node, TOP(links)},
	{"path", reader_node, TOP(path)},
	{"paths", reader_node, TOP(paths)},
	{"listen", reader_node, TOP(listen)},
	{"trials", reader_int, TOP(trials), 1, 100000},
	{"tests", reader_node, TOP(tests)},
	{"verdict", reader_node, TOP(verdict)},
	{"expect", reader_node, TOP(expect)},
};
static const struct field_table top_table = FIELD_TABLE(top_fields);

static int read_end_to_end(
	struct reader *reader, const struct field *field, const struct node *value, void *target)
{
	struct topology_verdict *verdict = target;

	verdict->end_to_end_given = true;
	return reader_margin(reader, field, value, &verdict->end_to_end);
}

static const struct field verdict_fields[] = {
	{"tie", reader_margin, offsetof(struct topology_verdict, tie), 0, 50},
	{"end_to_end", read_end_to_end, 0, 0, 50},
};
static const struct field_table verdict_table = FIELD_TABLE(verdict_fields);

/* `lab: {}` has no keys of its own yet; `lab:` alone says the same. */
static int read_lab(struct reader *reader, const struct node *lab)
{
	static const struct field_table nothing = {NULL, 0};

	if (!lab)
		return 0;
	reader->topology->lab = true;
	return reader_mapping(reader, lab, "lab", &nothing, NULL);
}

/* What a file must have and a recorded run may leave out. */
static int check_required(
	struct reader *reader, const struct node *root, const struct document *document)
{
	static const char *const hints[] = {"orch: 1", "name: NAME", "hosts: {NAME: {...}}"};
	const bool given[] = {document->orch != 0, document->name != NULL, document->hosts != NULL};
	size_t i;

	for (i = 0; i < 3 && reader->mode == TOPOLOGY_FILE; i++) {
		if (!given[i])
			return reader_fail(
				reader, root->mark, "the topology needs \"%s\"", hints[i]);
	}
	if (!document->links)
		return reader_fail(reader, root->mark,
			"the topology needs \"links: [{name: ..., a: ..., b: ...}]\"");
	return 0;
}

static int read_document(struct reader *reader, const struct node *root, struct document *document)
{
	struct topology *topology = reader->topology;

	if (root->kind != NODE_MAPPING)
		return reader_fail(
			reader, root->mark, "the topology must be a mapping of keys to values");
	if (reader_mapping(reader, root, "the topology", &top_table, document) < 0 ||
		check_required(reader, root, document) < 0 || read_lab(reader, document->lab) < 0 ||
		hosts_read(reader, document->hosts, document->links->count) < 0 ||
		links_read(reader, document->links) < 0 || hosts_check(reader) < 0 ||
		paths_read(reader, document->path, document->paths, document->listen) < 0 ||
		tests_read(reader, document->tests) < 0)
		return -1;
	if (document->verdict && reader_mapping(reader, document->verdict, "verdict",
					 &verdict_table, &topology->verdict) < 0)
		return -1;
	if (document->expect && expect_read(reader, document->expect) < 0)
		return -1;
	topology->source = node_to_json(root);
	return topology->source ? 0 : reader_out_of_memory(reader);
}

struct topology *topology_load(const char *text, size_t length, const char *file,
	enum topology_mode mode, struct error *err)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	struct document document = {.trials = 10};
	struct error unused;
	struct reader reader = {topology, mode, err ? err : &unused};
	struct node *root;
	int result = -1;

	if (topology)
		topology->file = strdup(file);
	if (!topology || !topology->file) {
		error_set(err, ERROR_SYSTEM, file, "out of memory");
		free(topology);
		return NULL;
	}
	topology->mode = mode;
	topology->verdict = (struct topology_verdict){.tie = .05, .end_to_end = .10};
	root = node_parse(text, length, file, reader.err);
	if (root)
		result = read_document(&reader, root, &document);
	topology->name = document.name;
	topology->trials = document.trials;
	node_free(root);
	if (result < 0) {
		topology_free(topology);
		return NULL;
	}
	return topology;
}

static void free_host(struct topology_host *host)
{
	free(host->name);
	free(host->ssh.host);
	free(host->ssh.user);
	free(host->ssh.identity);
	free(host->ssh.via);
	free(host->ssh.proxy_command);
	free(host->ssh.known_hosts);
	free(host->ssh.password_env);
	reader_free_list(host->exec, host->exec_count);
	free(host->firmware_command);
	free(host->tmp);
	free(host->agent);
	reader_free_list(host->tool_names, host->tool_count);
	/* The path of a tool may be there before its name is. */
	if (host->tool_paths)
		free(host->tool_paths[host->tool_count]);
	reader_free_list(host->tool_paths, host->tool_count);
	reader_free_list(host->lab.bridge, host->lab.bridge_count);
}

static void free_end(struct topology_end *end)
{
	free(end->interface);
	free(end->device);
	free(end->address);
}

static void free_path(struct topology_path *path)
{
	free(path->name);
	free(path->hosts);
	free(path->links);
	free(path->flipped);
}

void topology_free(struct topology *topology)
{
	size_t i;

	if (!topology)
		return;
	for (i = 0; i < topology->host_count; i++)
		free_host(&topology->hosts[i]);
	for (i = 0; i < topology->link_count; i++) {
		free(topology->links[i].name);
		free(topology->links[i].shares);
		free_end(&topology->links[i].a);
		free_end(&topology->links[i].b);
	}
	for (i = 0; i < topology->path_count; i++)
		free_path(&topology->paths[i]);
	for (i = 0; i < topology->test_count; i++)
		tests_free(&topology->tests[i]);
	for (i = 0; i < topology->expect.min_count; i++)
		free(topology->expect.min[i].segment);
	free(topology->expect.min);
	free(topology->expect.link);
	free(topology->hosts);
	free(topology->links);
	free(topology->paths);
	free(topology->tests);
	free(topology->file);
	free(topology->name);
	cJSON_Delete(topology->source);
	free(topology);
}

const char *topology_where(
	const struct topology *topology, struct topology_mark mark, char *buffer, size_t size)
{
	return place_text(topology->file, mark, buffer, size);
}

bool topology_end_is_alias(const struct topology_end *end)
{
	return strcmp(end->interface, end->device) != 0;
}

size_t topology_find_host(const struct topology *topology, const char *name)
{
	size_t i;

	for (i = 0; i < topology->host_count; i++) {
		if (strcmp(topology->hosts[i].name, name) == 0)
			return i;
	}
	return TOPOLOGY_NO_HOST;
}

size_t topology_find_link(const struct topology *topology, const char *name)
{
	size_t i;

	for (i = 0; i < topology->link_count; i++) {
		if (strcmp(topology->links[i].name, name) == 0)
			return i;
	}
	return TOPOLOGY_NO_HOST;
}

const char *parts_suggest_host(
	const struct topology *topology, const char *word, char *buffer, size_t size)
{
	return suggest_text(word, topology->hosts, topology->host_count,
		sizeof(struct topology_host), buffer, size);
}

const char *parts_suggest_link(
	const struct topology *topology, const char *word, char *buffer, size_t size)
{
	return suggest_text(word, topology->links, topology->link_count,
		sizeof(struct topology_link), buffer, size);
}
