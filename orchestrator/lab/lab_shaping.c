#include "lab_shaping.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab_routes.h"

#define DEFAULT_QUEUE_MS 100
/* Short, so that a router that forwards too little also drops: in a trial of a second cubic leaves
 * slow start early and never fills 100 ms (no drops seen), while 15 ms dropped in every one and
 * cost no rate with cubic, reno and bbr. */
#define LIMIT_QUEUE_MS  15
#define DEFAULT_MTU     1500
#define ETHERNET_HEADER 14
#define BITS_PER_BYTE   8

static int64_t bytes_in(int64_t rate, int64_t milliseconds)
{
	return rate / BITS_PER_BYTE * milliseconds / 1000;
}

struct lab_shape lab_shaping_of(const struct topology *topology, size_t link, bool end_b)
{
	const struct topology_link *l = &topology->links[link];
	const struct topology_end *end = end_b ? &l->b : &l->a;
	int64_t own = end_b ? l->lab.rate_reverse : l->lab.rate_forward;
	struct lab_shape shape = {
		.rate = own ? own : l->rate,
		.limit = topology->hosts[end->host].lab.forward_limit,
		.queue = l->lab.queue ? l->lab.queue : DEFAULT_QUEUE_MS,
		.mtu = l->lab.mtu,
	};

	if (shape.rate && shape.limit >= shape.rate)
		shape.limit = 0;
	return shape;
}

bool lab_shaping_needs_packets(const struct topology *topology, size_t link)
{
	struct lab_shape a = lab_shaping_of(topology, link, false);
	struct lab_shape b = lab_shaping_of(topology, link, true);

	return a.rate || a.limit || b.rate || b.limit || topology->links[link].lab.loss > 0;
}

int64_t lab_shaping_burst(int64_t rate, int mtu)
{
	int64_t frames = 3 * (int64_t)((mtu ? mtu : DEFAULT_MTU) + ETHERNET_HEADER);
	int64_t burst = bytes_in(rate, 2);

	return burst > frames ? burst : frames;
}

static void write_class(FILE *out, const char *device, const char *parent, const char *id,
	int64_t rate, int64_t ceiling, int mtu)
{
	int64_t burst = lab_shaping_burst(ceiling, mtu);

	/* A quantum of one frame: classes then share in turns of a packet, and tc does not warn. */
	fprintf(out,
		"class add dev %s parent %s classid %s htb rate %" PRId64 "bit ceil %" PRId64
		"bit burst %" PRId64 "b cburst %" PRId64 "b quantum %d\n",
		device, parent, id, rate, ceiling, burst, burst,
		(mtu ? mtu : DEFAULT_MTU) + ETHERNET_HEADER);
}

static void write_queue(FILE *out, const char *device, const char *parent, const char *handle,
	int64_t rate, const struct lab_shape *shape)
{
	int64_t bytes = bytes_in(rate, shape->queue), least = lab_shaping_burst(rate, shape->mtu);

	fprintf(out, "qdisc add dev %s parent %s handle %s bfifo limit %" PRId64 "b\n", device,
		parent, handle, bytes > least ? bytes : least);
}

/* HTB: class 1:20 for what is forwarded, 1:10 for the rest of the link's rate. A link without a
 * rate sends the rest directly (default 0). */
static void write_htb(FILE *out, const char *device, const struct lab_shape *shape)
{
	struct lab_shape limited = *shape;
	const char *parent = "1:";

	limited.queue = LIMIT_QUEUE_MS;
	fprintf(out, "qdisc add dev %s root handle 1: htb default %s\n", device,
		shape->rate ? "10" : "0");
	if (shape->rate) {
		write_class(out, device, "1:", "1:1", shape->rate, shape->rate, shape->mtu);
		parent = "1:1";
		write_class(out, device, parent, "1:10", shape->rate - shape->limit, shape->rate,
			shape->mtu);
		write_queue(out, device, "1:10", "10:", shape->rate, shape);
	}
	write_class(out, device, parent, "1:20", shape->limit, shape->limit, shape->mtu);
	write_queue(out, device, "1:20", "20:", shape->limit, &limited);
}

static void write_tbf(FILE *out, const char *device, const struct lab_shape *shape)
{
	fprintf(out,
		"qdisc add dev %s root handle 1: tbf rate %" PRId64 "bit burst %" PRId64
		"b latency %" PRId64 "ms\n",
		device, shape->rate, lab_shaping_burst(shape->rate, shape->mtu), shape->queue);
}

void lab_shaping_write_tc(const struct lab_layout *layout, size_t host, FILE *out)
{
	const struct topology *topology = layout->topology;

	for (size_t i = 0; i < topology->link_count * 2; i++) {
		const struct topology_end *end = lab_layout_end(topology, i / 2, i & 1);
		struct lab_shape shape = lab_shaping_of(topology, i / 2, i & 1);

		if (end->host != host || layout->cable[i / 2] != i / 2)
			continue;
		if (shape.limit)
			write_htb(out, end->device, &shape);
		else if (shape.rate)
			write_tbf(out, end->device, &shape);
	}
}

/* Lost on arrival, so that the sender's counters show what it sent. Neighbour discovery is spared:
 * a lost one costs a second, which is no property of the link. */
static void write_loss(const struct lab_layout *layout, size_t host, FILE *out)
{
	const struct topology *topology = layout->topology;
	bool open = false;

	for (size_t i = 0; i < topology->link_count * 2; i++) {
		const struct topology_end *end = lab_layout_end(topology, i / 2, i & 1);
		double loss = topology->links[i / 2].lab.loss;

		if (end->host != host || layout->cable[i / 2] != i / 2 || loss <= 0)
			continue;
		fputs(open ? "" : "table netdev orch {\n", out);
		open = true;
		fprintf(out,
			"chain loss_%zu {\n"
			"type filter hook ingress device \"%s\" priority 0;\n"
			"icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept\n"
			"meta protocol { ip, ip6 } numgen random mod 1000000 < %.0f drop\n"
			"}\n",
			i, end->device, loss * 1e4);
	}
	fputs(open ? "}\n" : "", out);
}

/* Only what came in by another interface is hidden (iif != 0): the router's own packets may be
 * bound to one of several addresses, which masquerading would replace. */
static int write_nat(const struct lab_layout *layout, size_t host, FILE *out)
{
	bool *outside = calloc(layout->subnet_count, sizeof(*outside));
	const char *comma = "";

	if (!outside || lab_routes_outside(layout, host, outside)) {
		free(outside);
		return -1;
	}
	fputs("table inet orch_nat {\nchain masquerade_out {\n"
	      "type nat hook postrouting priority 100;\n"
	      "iif != 0 oifname { ",
		out);
	for (size_t i = 0; i < layout->port_count; i++) {
		const struct lab_port *port = &layout->ports[i];

		if (port->host != host || port->label || !outside[port->subnet])
			continue;
		fprintf(out, "%s\"%s\"", comma, port->interface);
		comma = ", ";
	}
	/* A path that never comes near this host leaves nothing to hide. */
	fputs(*comma ? " } masquerade\n}\n}\n" : "\"lo\" } masquerade\n}\n}\n", out);
	free(outside);
	return 0;
}

int lab_shaping_write_nft(const struct lab_layout *layout, size_t host, FILE *out)
{
	const struct topology_host *h = &layout->topology->hosts[host];

	write_loss(layout, host, out);
	if (h->lab.forward_limit)
		fputs("table inet orch_limit {\nchain forward_class {\n"
		      "type filter hook forward priority 0;\n"
		      "meta priority set \"1:20\"\n}\n}\n",
			out);
	return h->lab.nat ? write_nat(layout, host, out) : 0;
}
