#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suggest.h"
#include "parts.h"

/* A link while it is read: what needs its ends is looked at when they are there. */
struct link_draft {
	struct topology_link link;
	const struct node *a, *b, *listen, *lab;
	int64_t lab_rate;
};

static bool is_interface(const char *text, size_t length)
{
	size_t i;

	if (length == 0 || length >= IFNAMSIZ)
		return false;
	for (i = 0; i < length; i++) {
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '/')
			return false;
	}
	return true;
}

static bool is_address(const char *text)
{
	unsigned char bytes[16];

	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static int find_end_host(
	struct reader *reader, const struct node *value, const char *name, size_t *ret_host)
{
	char near[SUGGEST_TEXT_MAX];
	size_t host = topology_find_host(reader->topology, name);

	if (host == TOPOLOGY_NO_HOST && reader->mode == TOPOLOGY_RECORDED) {
		host = hosts_imply(reader, name, value->mark);
		if (host == TOPOLOGY_NO_HOST)
			return -1;
	}
	if (host == TOPOLOGY_NO_HOST)
		return reader_fail(reader, value->mark, "unknown host \"%.64s\"%s", name,
			parts_suggest_host(reader->topology, name, near, sizeof(near)));
	*ret_host = host;
	return 0;
}

/* interface[@address], what follows the host's colon */
static int read_interface(
	struct reader *reader, const struct node *value, const char *text, struct topology_end *end)
{
	const char *at = strchr(text, '@');
	size_t length = at ? (size_t)(at - text) : strlen(text);
	const char *colon = memchr(text, ':', length);

	if (!is_interface(text, length) || (colon && colon == text))
		return reader_fail(reader, value->mark,
			"\"%.40s\" in end \"%.80s\" cannot be an interface (1 to %d characters)",
			text, value->text, IFNAMSIZ - 1);
	if (at && !is_address(at + 1))
		return reader_fail(reader, value->mark,
			"\"%.60s\" in end \"%.80s\" is not an IPv4 or IPv6 address", at + 1,
			value->text);
	end->interface = strndup(text, length);
	end->device = strndup(text, colon ? (size_t)(colon - text) : length);
	end->address = at ? strdup(at + 1) : NULL;
	if (!end->interface || !end->device || (at && !end->address))
		return reader_out_of_memory(reader);
	return 0;
}

static int read_end(struct reader *reader, const char *which, const struct node *value,
	struct topology_end *end)
{
	const char *text = reader_text(reader, which, value);
	const char *colon = text ? strchr(text, ':') : NULL;
	char *host;
	int result;

	if (!text)
		return -1;
	if (!colon && reader->mode == TOPOLOGY_FILE)
		return reader_fail(reader, value->mark,
			"end \"%.80s\" needs an interface: HOST:INTERFACE, as in \"%.40s:eth0\"",
			text, text);
	end->mark = value->mark;
	host = strndup(text, colon ? (size_t)(colon - text) : strlen(text));
	if (!host)
		return reader_out_of_memory(reader);
	result = find_end_host(reader, value, host, &end->host);
	free(host);
	if (result < 0 || !colon)
		return result;
	return read_interface(reader, value, colon + 1, end);
}

static const struct reader_choice media[] = {{"ethernet", TOPOLOGY_ETHERNET},
	{"wifi", TOPOLOGY_WIFI}, {"other", TOPOLOGY_OTHER_MEDIUM}, {NULL, 0}};

#define RATE_LOW  1000
#define RATE_HIGH 1000000000000

#define LAB(member) offsetof(struct link_draft, link.lab.member)

static const struct field lab_fields[] = {
	{"rate", reader_rate, offsetof(struct link_draft, lab_rate), RATE_LOW, RATE_HIGH},
	{"rate_forward", reader_rate, LAB(rate_forward), RATE_LOW, RATE_HIGH},
	{"rate_reverse", reader_rate, LAB(rate_reverse), RATE_LOW, RATE_HIGH},
	{"queue", reader_duration, LAB(queue), 1, 10000},
	{"mtu", reader_int, LAB(mtu), 576, 65535},
	{"loss", reader_percent, LAB(loss), 0, 100},
};
static const struct field_table lab_table = FIELD_TABLE(lab_fields);

#define LINK(member) offsetof(struct link_draft, member)

static const struct field link_fields[] = {
	{"name", reader_name, LINK(link.name)},
	{"a", reader_node, LINK(a)},
	{"b", reader_node, LINK(b)},
	{"rate", reader_rate, LINK(link.rate), RATE_LOW, RATE_HIGH},
	{"medium", reader_choice, LINK(link.medium), .choices = media},
	{"shares", reader_name, LINK(link.shares)},
	{"listen", reader_node, LINK(listen)},
	{"lab", reader_node, LINK(lab)},
};
static const struct field_table link_table = FIELD_TABLE(link_fields);

static int read_link_lab(struct reader *reader, struct link_draft *draft)
{
	struct topology_link_lab *lab = &draft->link.lab;
	int64_t both;

	if (draft->lab && !reader->topology->lab)
		return reader_fail(reader, draft->lab->key_mark,
			"lab keys of a link need \"lab: {}\" on the topology");
	if (draft->lab && reader_mapping(reader, draft->lab, "lab", &lab_table, draft) < 0)
		return -1;
	if (!reader->topology->lab)
		return 0;
	both = draft->lab_rate ? draft->lab_rate : draft->link.rate;
	lab->rate_forward = lab->rate_forward ? lab->rate_forward : both;
	lab->rate_reverse = lab->rate_reverse ? lab->rate_reverse : both;
	return 0;
}

static int read_link_listen(struct reader *reader, struct link_draft *draft)
{
	const struct topology_host *hosts = reader->topology->hosts;
	const char *a = hosts[draft->link.a.host].name;
	const char *b = hosts[draft->link.b.host].name;
	const char *text;

	if (!draft->listen)
		return 0;
	text = reader_text(reader, "listen", draft->listen);
	if (!text)
		return -1;
	if (strcmp(text, "auto") == 0)
		draft->link.listen = TOPOLOGY_LISTEN_AUTO;
	else if (strcmp(text, a) == 0)
		draft->link.listen = TOPOLOGY_LISTEN_A;
	else if (strcmp(text, b) == 0)
		draft->link.listen = TOPOLOGY_LISTEN_B;
	else
		return reader_fail(reader, draft->listen->mark,
			"listen must be auto, \"%s\" or \"%s\", not \"%.64s\"", a, b, text);
	return 0;
}

static int finish_link(struct reader *reader, const struct node *value, struct link_draft *draft)
{
	struct topology_link *link = &draft->link;

	if (!link->name)
		return reader_fail(reader, value->mark, "a link needs a name");
	if (!draft->a || !draft->b)
		return reader_fail(reader, value->mark,
			"link \"%s\" needs two ends: a: \"HOST:INTERFACE\", b: \"HOST:INTERFACE\"",
			link->name);
	if (topology_find_link(reader->topology, link->name) != TOPOLOGY_NO_HOST)
		return reader_fail(
			reader, value->mark, "two links are called \"%s\"; rename one", link->name);
	if (read_end(reader, "a", draft->a, &link->a) < 0 ||
		read_end(reader, "b", draft->b, &link->b) < 0)
		return -1;
	if (link->a.host == link->b.host)
		return reader_fail(reader, draft->b->mark,
			"link \"%s\" has both ends on host \"%s\"", link->name,
			reader->topology->hosts[link->a.host].name);
	if (read_link_listen(reader, draft) < 0)
		return -1;
	return read_link_lab(reader, draft);
}

/* A lab makes each interface, so that it can be the end of one link only. */
static int check_lab_interface(
	struct reader *reader, const struct topology_end *end, const struct topology_end *other)
{
	if (end == other || end->host != other->host || !end->interface || !other->interface ||
		strcmp(end->interface, other->interface) != 0)
		return 0;
	return reader_fail(reader, end->mark,
		"in a lab an interface ends one link; \"%s:%s\" stands in line %d already",
		reader->topology->hosts[end->host].name, end->interface, other->mark.line);
}

static int check_lab_interfaces(struct reader *reader)
{
	const struct topology *topology = reader->topology;
	size_t i, j;

	for (i = 0; topology->lab && i < topology->link_count; i++) {
		for (j = 0; j < i; j++) {
			const struct topology_link *link = &topology->links[i];
			const struct topology_link *before = &topology->links[j];

			if (check_lab_interface(reader, &link->a, &before->a) < 0 ||
				check_lab_interface(reader, &link->a, &before->b) < 0 ||
				check_lab_interface(reader, &link->b, &before->a) < 0 ||
				check_lab_interface(reader, &link->b, &before->b) < 0)
				return -1;
		}
	}
	return 0;
}

int links_read(struct reader *reader, const struct node *links)
{
	struct topology *topology = reader->topology;
	const struct node *value;

	if (links->kind != NODE_SEQUENCE || links->count == 0)
		return reader_fail(reader, links->mark,
			"links must be a list of at least one {name: ..., a: ..., b: ...}");
	topology->links = calloc(links->count, sizeof(struct topology_link));
	if (!topology->links)
		return reader_out_of_memory(reader);
	for (value = links->first; value; value = value->next) {
		struct link_draft draft = {.link.mark = value->mark};
		int result = reader_mapping(reader, value, "a link", &link_table, &draft);

		if (result == 0)
			result = finish_link(reader, value, &draft);
		/* Also a broken one: the topology frees it. */
		topology->links[topology->link_count++] = draft.link;
		if (result < 0)
			return result;
	}
	return check_lab_interfaces(reader);
}
