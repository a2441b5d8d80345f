/*
 * The lab as a drawing: which links are cables, which cables form one subnet, and which address
 * every interface gets. Pure: computed from the topology alone, the same each time.
 *
 *  - A link is a cable (a veth pair), except when both its devices are those of an earlier link:
 *    then it is a second view of that cable (two addresses on one interface).
 *  - A host's bridged interfaces are ports of br-lan; links joined by a bridge are one subnet.
 *  - Subnet s is 10.(64 + s/256).(s mod 256).0/24 and fd6f:7263:6800:s::/64, hosts counted from
 *    1 in the order of the links. An explicit @address sets its subnet instead (/24 or /64), and
 * the subnet then has only the families that were written.
 *  - An alias (eth0:1) is one more IPv4 address with that label; IPv6 knows no labels.
 */
#ifndef LAB_LAYOUT_H
#define LAB_LAYOUT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "topology.h"

#define LAB_BRIDGE "br-lan"
#define LAB_NONE   ((size_t)-1)

struct lab_subnet {
	bool has4, has6;
	bool written; /* its network was given by an explicit address */
	struct in_addr network4;
	struct in6_addr network6;
	unsigned next; /* the next host number to try */
};

/* One address pair of one interface. */
struct lab_port {
	size_t host;
	const char *interface; /* the device that carries the addresses: eth0 or br-lan */
	const char *label;     /* eth0:1, or NULL */
	size_t subnet;
	char address4[INET_ADDRSTRLEN]; /* empty when there is none */
	char address6[INET6_ADDRSTRLEN];
};

struct lab_layout {
	const struct topology *topology;
	size_t *cable;     /* by link: the link whose veth pair it is; itself as a rule */
	size_t *subnet_of; /* by link: index into subnets */
	struct lab_subnet *subnets;
	size_t subnet_count;
	struct lab_port *ports;
	size_t port_count;
	size_t *end_ports; /* [2 * link + (end b)]: index into ports */
};

/* NULL with ERROR_TOPOLOGY (file:line:column) for what no lab can be made of. */
struct lab_layout *lab_layout_create(const struct topology *topology, struct error *err);
void lab_layout_destroy(struct lab_layout *layout);

/* True when the lab makes this device of the host a member of br-lan. */
bool lab_layout_bridged(const struct topology_host *host, const char *device);

/* An end of a link. */
const struct topology_end *lab_layout_end(const struct topology *topology, size_t link, bool end_b);

/* True when the host has an address in the subnet. */
bool lab_layout_attached(const struct lab_layout *layout, size_t host, size_t subnet);

/* How many subnets the host is in; with two or more it forwards. */
size_t lab_layout_subnets(const struct lab_layout *layout, size_t host);

#endif
