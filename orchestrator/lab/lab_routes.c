#include "lab_routes.h"

#include <stdlib.h>

struct visit {
	size_t host;
	size_t entry;   /* the subnet it was reached by */
	size_t gateway; /* first hop from the start */
};

struct search {
	const struct lab_layout *layout;
	struct visit *queue;
	size_t length;
	bool *seen;     /* by host */
	bool **outside; /* by host: a nat host's outside subnets, else NULL */
	size_t wall;    /* a host that is not passed, or LAB_NONE */
};

/* Every host in a subnet that was just reached is a next hop. */
static void enter_subnet(struct search *search, size_t subnet, size_t gateway)
{
	const struct lab_layout *layout = search->layout;

	for (size_t i = 0; i < layout->port_count; i++) {
		const struct lab_port *port = &layout->ports[i];

		if (port->subnet != subnet || search->seen[port->host])
			continue;
		search->seen[port->host] = true;
		search->queue[search->length++] =
			(struct visit){port->host, subnet, gateway == LAB_DIRECT ? i : gateway};
	}
}

static bool passes(const struct search *search, const struct visit *visit, size_t subnet)
{
	const bool *outside = search->outside ? search->outside[visit->host] : NULL;

	if (visit->host == search->wall)
		return false;
	return visit->entry == LAB_NONE || !outside || !outside[visit->entry] || outside[subnet];
}

static void run_search(struct search *search, size_t start, size_t *gateways)
{
	const struct lab_layout *layout = search->layout;

	for (size_t i = 0; i < layout->subnet_count; i++)
		gateways[i] = LAB_NONE;
	search->seen[start] = true;
	search->queue[search->length++] = (struct visit){start, LAB_NONE, LAB_DIRECT};
	for (size_t next = 0; next < search->length; next++) {
		const struct visit visit = search->queue[next];

		for (size_t i = 0; i < layout->port_count; i++) {
			size_t subnet = layout->ports[i].subnet;

			if (layout->ports[i].host != visit.host || gateways[subnet] != LAB_NONE ||
				!passes(search, &visit, subnet))
				continue;
			gateways[subnet] = visit.gateway;
			enter_subnet(search, subnet, visit.gateway);
		}
	}
}

static int search_from(const struct lab_layout *layout, size_t start, size_t wall, bool **outside,
	size_t *ret_gateways)
{
	size_t hosts = layout->topology->host_count;
	struct search search = {.layout = layout, .outside = outside, .wall = wall};
	int result = -1;

	search.queue = calloc(hosts + 1, sizeof(*search.queue));
	search.seen = calloc(hosts + 1, sizeof(*search.seen));
	if (search.queue && search.seen) {
		run_search(&search, start, ret_gateways);
		result = 0;
	}
	free(search.queue);
	free(search.seen);
	return result;
}

int lab_routes_outside(const struct lab_layout *layout, size_t host, bool *ret_outside)
{
	const struct topology *topology = layout->topology;
	size_t first = topology->path_count ? topology->paths[0].hosts[0] : 0;
	size_t *gateways = calloc(layout->subnet_count, sizeof(*gateways));
	int result = gateways ? search_from(layout, first, host, NULL, gateways) : -1;

	for (size_t i = 0; !result && i < layout->subnet_count; i++)
		ret_outside[i] = gateways[i] != LAB_NONE;
	free(gateways);
	return result;
}

static void free_outside(bool **outside, size_t hosts)
{
	for (size_t i = 0; outside && i < hosts; i++)
		free(outside[i]);
	free(outside);
}

int lab_routes_find(const struct lab_layout *layout, size_t host, size_t *ret_gateways)
{
	const struct topology *topology = layout->topology;
	bool **outside = calloc(topology->host_count + 1, sizeof(*outside));
	int result = outside ? 0 : -1;

	for (size_t i = 0; !result && i < topology->host_count; i++) {
		if (!topology->hosts[i].lab.nat)
			continue;
		outside[i] = calloc(layout->subnet_count, sizeof(**outside));
		if (!outside[i] || lab_routes_outside(layout, i, outside[i]))
			result = -1;
	}
	if (!result)
		result = search_from(layout, host, LAB_NONE, outside, ret_gateways);
	free_outside(outside, topology->host_count);
	return result;
}
