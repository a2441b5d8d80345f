#include "lab_layout.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* .255 is the broadcast address; a few are left for what a test adds by hand. */
#define LAB_HOSTS_MAX  250
#define LAB_LINKS_MAX  4096
#define IPV6_LEAST_MTU 1280

static int end_error(const struct topology *topology, const struct topology_end *end,
	struct error *err, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "'HOST:INTERFACE' ..." at the end's place in the file. */
static int end_error(const struct topology *topology, const struct topology_end *end,
	struct error *err, const char *format, ...)
{
	char where[200], message[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return error_set(err, ERROR_TOPOLOGY,
		topology_where(topology, end->mark, where, sizeof(where)), "'%s:%s' %s",
		topology->hosts[end->host].name, end->interface ? end->interface : "?", message);
}

const struct topology_end *lab_layout_end(const struct topology *topology, size_t link, bool end_b)
{
	return end_b ? &topology->links[link].b : &topology->links[link].a;
}

bool lab_layout_bridged(const struct topology_host *host, const char *device)
{
	if (host->lab.bridge_all)
		return true;
	for (size_t i = 0; i < host->lab.bridge_count; i++)
		if (!strcmp(host->lab.bridge[i], device))
			return true;
	return false;
}

bool lab_layout_attached(const struct lab_layout *layout, size_t host, size_t subnet)
{
	for (size_t i = 0; i < layout->port_count; i++)
		if (layout->ports[i].host == host && layout->ports[i].subnet == subnet)
			return true;
	return false;
}

size_t lab_layout_subnets(const struct lab_layout *layout, size_t host)
{
	size_t count = 0;

	for (size_t i = 0; i < layout->subnet_count; i++)
		count += lab_layout_attached(layout, host, i);
	return count;
}

static bool same_device(const struct topology_end *one, const struct topology_end *other)
{
	return one->host == other->host && !strcmp(one->device, other->device);
}

static int check_end(
	const struct topology *topology, const struct topology_end *end, struct error *err)
{
	if (!end->interface || !end->device || !*end->device)
		return end_error(topology, end, err, "names no interface; write HOST:INTERFACE");
	if (strlen(end->interface) >= IFNAMSIZ)
		return end_error(topology, end, err,
			"cannot be made: the kernel takes names of at most %d characters",
			IFNAMSIZ - 1);
	for (const char *c = end->interface; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("/\"\\%", *c))
			return end_error(topology, end, err,
				"cannot be made: the name has a character no lab can use");
	if (!strcmp(end->device, "lo") || !strcmp(end->device, LAB_BRIDGE))
		return end_error(topology, end, err, "is made by the lab itself; name another");
	if (topology_end_is_alias(end) &&
		lab_layout_bridged(&topology->hosts[end->host], end->device))
		return end_error(topology, end, err,
			"is an alias of a bridge member, which carries no address");
	return 0;
}

/* Finds the cable of a link, and refuses two cables in one interface. */
static int find_cable(struct lab_layout *layout, size_t link, struct error *err)
{
	const struct topology *topology = layout->topology;
	const struct topology_end *a = &topology->links[link].a, *b = &topology->links[link].b;

	layout->cable[link] = link;
	if (a->host == b->host)
		return end_error(topology, a, err, "has its other end on the same host");
	for (size_t i = 0; i < link; i++) {
		const struct topology_end *ia = &topology->links[i].a, *ib = &topology->links[i].b;

		if ((same_device(a, ia) && same_device(b, ib)) ||
			(same_device(a, ib) && same_device(b, ia))) {
			layout->cable[link] = layout->cable[i];
			return 0;
		}
		if (same_device(a, ia) || same_device(a, ib))
			return end_error(topology, a, err,
				"is already an end of link '%s'; an interface takes one cable",
				topology->links[i].name);
		if (same_device(b, ia) || same_device(b, ib))
			return end_error(topology, b, err,
				"is already an end of link '%s'; an interface takes one cable",
				topology->links[i].name);
	}
	return 0;
}

static int find_cables(struct lab_layout *layout, struct error *err)
{
	const struct topology *topology = layout->topology;

	for (size_t i = 0; i < topology->link_count; i++)
		if (check_end(topology, &topology->links[i].a, err) ||
			check_end(topology, &topology->links[i].b, err) ||
			find_cable(layout, i, err))
			return -1;
	return 0;
}

static void join(size_t *group, size_t count, size_t one, size_t other)
{
	size_t keep = group[one] < group[other] ? group[one] : group[other];
	size_t drop = group[one] < group[other] ? group[other] : group[one];

	for (size_t i = 0; i < count; i++)
		if (group[i] == drop)
			group[i] = keep;
}

static bool bridged_together(const struct topology *topology, size_t one, size_t other)
{
	for (int i = 0; i < 4; i++) {
		const struct topology_end *p = lab_layout_end(topology, one, i & 1);
		const struct topology_end *q = lab_layout_end(topology, other, i & 2);
		const struct topology_host *host = &topology->hosts[p->host];

		if (p->host == q->host && lab_layout_bridged(host, p->device) &&
			lab_layout_bridged(host, q->device))
			return true;
	}
	return false;
}

static bool brings_address(const struct topology_end *end)
{
	return topology_end_is_alias(end) || end->address;
}

/* Groups links into subnets; numbers them in the order of their first links. */
static void find_subnets(struct lab_layout *layout)
{
	const struct topology *topology = layout->topology;
	size_t *group = layout->subnet_of, count = topology->link_count, number = 0;

	for (size_t i = 0; i < count; i++)
		group[i] = i;
	for (size_t i = 0; i < count; i++) {
		const struct topology_link *link = &topology->links[i];

		if (layout->cable[i] != i &&
			!(brings_address(&link->a) && brings_address(&link->b)))
			join(group, count, i, layout->cable[i]);
		for (size_t j = 0; j < i; j++)
			if (bridged_together(topology, i, j))
				join(group, count, i, j);
	}
	/* A group bears its smallest link's index, so that this renumbering meets it first. */
	for (size_t i = 0; i < count; i++)
		group[i] = group[i] == i ? number++ : group[group[i]];
	layout->subnet_count = number;
}

static void choose_network(struct lab_subnet *subnet, size_t index)
{
	subnet->has4 = subnet->has6 = true;
	subnet->network4.s_addr =
		htonl(0x0a400000u | (uint32_t)(index / 256) << 16 | (uint32_t)(index % 256) << 8);
	memcpy(subnet->network6.s6_addr, "\xfd\x6f\x72\x63\x68\x00", 6);
	subnet->network6.s6_addr[6] = (uint8_t)(index >> 8);
	subnet->network6.s6_addr[7] = (uint8_t)index;
}

/* IPv6 does not exist on a device whose MTU is below its least packet (RFC 8200, section 5). */
static void drop_small_ipv6(struct lab_layout *layout)
{
	for (size_t i = 0; i < layout->topology->link_count; i++) {
		int mtu = layout->topology->links[i].lab.mtu;

		if (mtu && mtu < IPV6_LEAST_MTU)
			layout->subnets[layout->subnet_of[i]].has6 = false;
	}
}

/* An explicit address decides its subnet's network; the first one drops the chosen networks. */
static int write_network(struct lab_layout *layout, size_t link, bool end_b, struct error *err)
{
	const struct topology_end *end = lab_layout_end(layout->topology, link, end_b);
	struct lab_subnet *subnet = &layout->subnets[layout->subnet_of[link]];
	struct in_addr four;
	struct in6_addr six;
	bool clash;

	if (!end->address)
		return 0;
	if (!subnet->written)
		subnet->has4 = subnet->has6 = false;
	subnet->written = true;
	if (inet_pton(AF_INET, end->address, &four) == 1) {
		four.s_addr &= htonl(0xffffff00u);
		clash = subnet->has4 && subnet->network4.s_addr != four.s_addr;
		subnet->network4 = four;
		subnet->has4 = true;
	} else if (inet_pton(AF_INET6, end->address, &six) == 1) {
		memset(six.s6_addr + 8, 0, 8);
		clash = subnet->has6 && memcmp(&subnet->network6, &six, sizeof(six)) != 0;
		subnet->network6 = six;
		subnet->has6 = true;
	} else {
		return end_error(layout->topology, end, err,
			"has no address '%s'; write it in numbers, without a prefix", end->address);
	}
	if (clash)
		return end_error(layout->topology, end, err,
			"has %s, which is in another subnet than its link's other\n"
			"address (a lab's subnets are /24 and /64)",
			end->address);
	return 0;
}

static bool address_taken(const struct lab_layout *layout, const char *address)
{
	for (size_t i = 0; i < layout->port_count; i++)
		if (!strcmp(layout->ports[i].address4, address) ||
			!strcmp(layout->ports[i].address6, address))
			return true;
	for (size_t i = 0; i < layout->topology->link_count; i++)
		for (int b = 0; b < 2; b++) {
			const char *written = lab_layout_end(layout->topology, i, b)->address;

			if (written && !strcmp(written, address))
				return true;
		}
	return false;
}

/* Gives the port the subnet's next number that is free in both families. */
static int number_port(struct lab_layout *layout, struct lab_port *port)
{
	struct lab_subnet *subnet = &layout->subnets[port->subnet];

	for (; subnet->next <= LAB_HOSTS_MAX; subnet->next++) {
		struct in_addr four = {.s_addr = subnet->network4.s_addr | htonl(subnet->next)};
		struct in6_addr six = subnet->network6;

		six.s6_addr[15] = (uint8_t)subnet->next;
		inet_ntop(AF_INET, &four, port->address4, sizeof(port->address4));
		inet_ntop(AF_INET6, &six, port->address6, sizeof(port->address6));
		if ((subnet->has4 && address_taken(layout, port->address4)) ||
			(subnet->has6 && address_taken(layout, port->address6)))
			continue;
		if (!subnet->has4)
			*port->address4 = '\0';
		if (!subnet->has6 || port->label)
			*port->address6 = '\0';
		subnet->next++;
		return 0;
	}
	return -1;
}

static int check_unique(const struct lab_layout *layout, const struct topology_end *end,
	const char *address, struct error *err)
{
	for (size_t i = 0; i < layout->port_count; i++)
		if (!strcmp(layout->ports[i].address4, address) ||
			!strcmp(layout->ports[i].address6, address))
			return end_error(layout->topology, end, err,
				"has the address %s, which was given before", address);
	return 0;
}

/* Finds or makes the port; LAB_NONE on an error. */
static size_t need_port(struct lab_layout *layout, const struct topology_end *end,
	const char *label, const char *written, size_t subnet, struct error *err)
{
	const struct topology_host *host = &layout->topology->hosts[end->host];
	struct lab_port port = {.host = end->host, .label = label, .subnet = subnet};
	struct in6_addr six;

	port.interface = lab_layout_bridged(host, end->device) ? LAB_BRIDGE : end->device;
	for (size_t i = 0; i < layout->port_count; i++) {
		const struct lab_port *p = &layout->ports[i];

		if (p->host == port.host && p->subnet == subnet && !label == !p->label &&
			!strcmp(p->interface, port.interface) &&
			(!label || !strcmp(p->label, label)) &&
			(!written || !strcmp(p->address4, written) ||
				!strcmp(p->address6, written)))
			return i;
	}
	if (written && check_unique(layout, end, written, err))
		return LAB_NONE;
	if (written && inet_pton(AF_INET6, written, &six) == 1) {
		snprintf(port.address6, sizeof(port.address6), "%s", written);
	} else if (written) {
		snprintf(port.address4, sizeof(port.address4), "%s", written);
	} else if (number_port(layout, &port)) {
		end_error(layout->topology, end, err, "finds its subnet full: %d hosts at most",
			LAB_HOSTS_MAX);
		return LAB_NONE;
	}
	layout->ports[layout->port_count] = port;
	return layout->port_count++;
}

static bool device_has_own_end(const struct topology *topology, const struct topology_end *end)
{
	for (size_t i = 0; i < topology->link_count; i++)
		for (int b = 0; b < 2; b++) {
			const struct topology_end *other = lab_layout_end(topology, i, b);

			if (same_device(other, end) && !topology_end_is_alias(other))
				return true;
		}
	return false;
}

static int make_ports(struct lab_layout *layout, struct error *err)
{
	const struct topology *topology = layout->topology;

	for (size_t i = 0; i < topology->link_count * 2; i++) {
		const struct topology_end *end = lab_layout_end(topology, i / 2, i & 1);
		size_t subnet = layout->subnet_of[i / 2];

		/* An alias is a second address: its device has one of its own. */
		if (topology_end_is_alias(end) && !device_has_own_end(topology, end) &&
			need_port(layout, end, NULL, NULL, subnet, err) == LAB_NONE)
			return -1;
		layout->end_ports[i] =
			need_port(layout, end, topology_end_is_alias(end) ? end->interface : NULL,
				end->address, subnet, err);
		if (layout->end_ports[i] == LAB_NONE)
			return -1;
	}
	return 0;
}

static int check_nat(const struct topology *topology, struct error *err)
{
	char where[200];

	if (topology->path_count && topology->paths[0].link_count) {
		const struct topology_host *first = &topology->hosts[topology->paths[0].hosts[0]];

		if (first->lab.nat)
			return error_set(err, ERROR_TOPOLOGY,
				topology_where(topology, first->mark, where, sizeof(where)),
				"'%s' is the path's first host and cannot hide hosts from it;\n"
				"give nat to a host in the middle",
				first->name);
	}
	return 0;
}

static int fill_layout(struct lab_layout *layout, struct error *err)
{
	if (find_cables(layout, err) || check_nat(layout->topology, err))
		return -1;
	find_subnets(layout);
	for (size_t i = 0; i < layout->subnet_count; i++) {
		choose_network(&layout->subnets[i], i);
		layout->subnets[i].next = 1;
	}
	drop_small_ipv6(layout);
	for (size_t i = 0; i < layout->topology->link_count; i++)
		if (write_network(layout, i, false, err) || write_network(layout, i, true, err))
			return -1;
	return make_ports(layout, err);
}

struct lab_layout *lab_layout_create(const struct topology *topology, struct error *err)
{
	struct lab_layout *layout = calloc(1, sizeof(*layout));
	size_t links = topology->link_count;

	if (!links || links > LAB_LINKS_MAX) {
		free(layout);
		error_set(err, ERROR_TOPOLOGY, topology->file, "a lab needs 1 to %d links, not %zu",
			LAB_LINKS_MAX, links);
		return NULL;
	}
	if (layout) {
		layout->topology = topology;
		layout->cable = calloc(links, sizeof(*layout->cable));
		layout->subnet_of = calloc(links, sizeof(*layout->subnet_of));
		layout->subnets = calloc(links, sizeof(*layout->subnets));
		layout->end_ports = calloc(links * 2, sizeof(*layout->end_ports));
		/* An end makes one port, an alias two. */
		layout->ports = calloc(links * 4, sizeof(*layout->ports));
	}
	if (!layout || !layout->cable || !layout->subnet_of || !layout->subnets ||
		!layout->end_ports || !layout->ports)
		error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	else if (!fill_layout(layout, err))
		return layout;
	lab_layout_destroy(layout);
	return NULL;
}

void lab_layout_destroy(struct lab_layout *layout)
{
	if (!layout)
		return;
	free(layout->cable);
	free(layout->subnet_of);
	free(layout->subnets);
	free(layout->ports);
	free(layout->end_ports);
	free(layout);
}
