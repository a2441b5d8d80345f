#include "lab_script.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_names.h"
#include "lab_routes.h"
#include "lab_shaping.h"

/* Writes one text; returns 0 and the text, or -1 when out of memory. */
typedef int (*script_writer)(const struct lab_layout *layout, size_t host, bool ipv6, FILE *out);

static char *write_text(
	script_writer writer, const struct lab_layout *layout, size_t host, bool ipv6)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int result;

	if (!out)
		return NULL;
	result = writer(layout, host, ipv6, out);
	if (fclose(out) || result) {
		free(text);
		return NULL;
	}
	return text;
}

static const char *namespace_of(
	const struct lab_layout *layout, size_t host, char buffer[static 2 * LAB_NAME_SIZE])
{
	return lab_names_host(
		layout->topology, &layout->topology->hosts[host], buffer, 2 * LAB_NAME_SIZE);
}

static int write_namespaces(const struct lab_layout *layout, size_t host, bool ipv6, FILE *out)
{
	char name[2 * LAB_NAME_SIZE];

	(void)host;
	(void)ipv6;
	for (size_t i = 0; i < layout->topology->host_count; i++)
		fprintf(out, "netns add %s\n", namespace_of(layout, i, name));
	return 0;
}

static int write_cables(const struct lab_layout *layout, size_t host, bool ipv6, FILE *out)
{
	char a[2 * LAB_NAME_SIZE], b[2 * LAB_NAME_SIZE];

	(void)host;
	(void)ipv6;
	for (size_t i = 0; i < layout->topology->link_count; i++) {
		const struct topology_link *link = &layout->topology->links[i];

		if (layout->cable[i] == i)
			fprintf(out, "link add name %s netns %s type veth peer name %s netns %s\n",
				link->a.device, namespace_of(layout, link->a.host, a),
				link->b.device, namespace_of(layout, link->b.host, b));
	}
	return 0;
}

static bool has_bridge(const struct lab_layout *layout, size_t host)
{
	for (size_t i = 0; i < layout->port_count; i++)
		if (layout->ports[i].host == host &&
			!strcmp(layout->ports[i].interface, LAB_BRIDGE))
			return true;
	return false;
}

/*
 * A lab has no name service, and asking for one fails at once: with a default route sshd and others
 * that look names up would wait seconds for this machine's resolver, which is out of a namespace's
 * reach.
 */
static void write_rules(bool ipv6, FILE *out)
{
	/* 17 is UDP: a small system has no /etc/protocols to find the name in. */
	fputs("rule add from 0.0.0.0/0 ipproto 17 dport 53 unreachable\n", out);
	if (ipv6)
		fputs("rule add from ::/0 ipproto 17 dport 53 unreachable\n", out);
}

static void write_devices(const struct lab_layout *layout, size_t host, FILE *out)
{
	const struct topology *topology = layout->topology;

	fputs("link set dev lo up\n", out);
	if (has_bridge(layout, host))
		fputs("link add name " LAB_BRIDGE " type bridge\n", out);
	for (size_t i = 0; i < topology->link_count * 2; i++) {
		const struct topology_end *end = lab_layout_end(topology, i / 2, i & 1);
		int mtu = topology->links[i / 2].lab.mtu;

		if (end->host != host || layout->cable[i / 2] != i / 2)
			continue;
		if (mtu)
			fprintf(out, "link set dev %s mtu %d\n", end->device, mtu);
		if (lab_layout_bridged(&topology->hosts[host], end->device))
			fprintf(out, "link set dev %s master " LAB_BRIDGE "\n", end->device);
		fprintf(out, "link set dev %s up\n", end->device);
	}
	if (has_bridge(layout, host))
		fputs("link set dev " LAB_BRIDGE " up\n", out);
}

static void write_addresses(const struct lab_layout *layout, size_t host, bool ipv6, FILE *out)
{
	for (size_t i = 0; i < layout->port_count; i++) {
		const struct lab_port *port = &layout->ports[i];

		if (port->host != host)
			continue;
		if (*port->address4)
			fprintf(out, "address add %s/24 dev %s%s%s\n", port->address4,
				port->interface, port->label ? " label " : "",
				port->label ? port->label : "");
		if (*port->address6 && ipv6)
			fprintf(out, "address add %s/64 dev %s nodad\n", port->address6,
				port->interface);
	}
}

/* Two subnets may have been given one network: what a host is in needs no route to it. */
static bool has_network(
	const struct lab_layout *layout, const size_t *gateways, size_t subnet, int family)
{
	const struct lab_subnet *wanted = &layout->subnets[subnet];

	for (size_t i = 0; i < layout->subnet_count; i++) {
		const struct lab_subnet *other = &layout->subnets[i];

		if (gateways[i] != LAB_DIRECT)
			continue;
		if (family == AF_INET && other->has4 &&
			other->network4.s_addr == wanted->network4.s_addr)
			return true;
		if (family == AF_INET6 && other->has6 &&
			!memcmp(&other->network6, &wanted->network6, sizeof(wanted->network6)))
			return true;
	}
	return false;
}

static int write_routes(const struct lab_layout *layout, size_t host, bool ipv6, FILE *out)
{
	size_t *gateways = calloc(layout->subnet_count, sizeof(*gateways));
	char network[INET6_ADDRSTRLEN];

	if (!gateways || lab_routes_find(layout, host, gateways)) {
		free(gateways);
		return -1;
	}
	for (size_t i = 0; i < layout->subnet_count; i++) {
		const struct lab_subnet *subnet = &layout->subnets[i];
		const struct lab_port *via;

		if (gateways[i] == LAB_DIRECT || gateways[i] == LAB_NONE)
			continue;
		via = &layout->ports[gateways[i]];
		if (subnet->has4 && *via->address4 && !has_network(layout, gateways, i, AF_INET))
			fprintf(out, "route replace %s/24 via %s\n",
				inet_ntop(AF_INET, &subnet->network4, network, sizeof(network)),
				via->address4);
		if (ipv6 && subnet->has6 && *via->address6 &&
			!IN6_IS_ADDR_LINKLOCAL(&subnet->network6) &&
			!has_network(layout, gateways, i, AF_INET6))
			fprintf(out, "route replace %s/64 via %s\n",
				inet_ntop(AF_INET6, &subnet->network6, network, sizeof(network)),
				via->address6);
	}
	free(gateways);
	return 0;
}

static int write_ip(const struct lab_layout *layout, size_t host, bool ipv6, FILE *out)
{
	write_rules(ipv6, out);
	write_devices(layout, host, out);
	write_addresses(layout, host, ipv6, out);
	return write_routes(layout, host, ipv6, out);
}

static int write_tc(const struct lab_layout *layout, size_t host, bool ipv6, FILE *out)
{
	(void)ipv6;
	lab_shaping_write_tc(layout, host, out);
	return 0;
}

static int write_nft(const struct lab_layout *layout, size_t host, bool ipv6, FILE *out)
{
	(void)ipv6;
	return lab_shaping_write_nft(layout, host, out);
}

struct lab_script *lab_script_create(
	const struct lab_layout *layout, bool with_ipv6, struct error *err)
{
	size_t hosts = layout->topology->host_count;
	struct lab_script *script = calloc(1, sizeof(*script));
	bool complete = script != NULL;

	if (script) {
		script->hosts = calloc(hosts, sizeof(*script->hosts));
		script->host_count = script->hosts ? hosts : 0;
		script->namespaces = write_text(write_namespaces, layout, 0, with_ipv6);
		script->cables = write_text(write_cables, layout, 0, with_ipv6);
		complete = script->hosts && script->namespaces && script->cables;
	}
	for (size_t i = 0; complete && i < hosts; i++) {
		struct lab_host_script *host = &script->hosts[i];

		host->ip = write_text(write_ip, layout, i, with_ipv6);
		host->tc = write_text(write_tc, layout, i, with_ipv6);
		host->nft = write_text(write_nft, layout, i, with_ipv6);
		complete = host->ip && host->tc && host->nft;
	}
	if (complete)
		return script;
	error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	lab_script_destroy(script);
	return NULL;
}

void lab_script_destroy(struct lab_script *script)
{
	if (!script)
		return;
	for (size_t i = 0; i < script->host_count; i++) {
		free(script->hosts[i].ip);
		free(script->hosts[i].tc);
		free(script->hosts[i].nft);
	}
	free(script->hosts);
	free(script->namespaces);
	free(script->cables);
	free(script);
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	return hash * 31 + lab_names_hash(data, size);
}

uint64_t lab_script_fingerprint(const struct lab_script *script, const struct topology *topology)
{
	uint64_t hash = 0;

	hash = mix(hash, script->namespaces, strlen(script->namespaces));
	hash = mix(hash, script->cables, strlen(script->cables));
	for (size_t i = 0; i < script->host_count; i++) {
		const struct lab_host_script *host = &script->hosts[i];

		hash = mix(hash, host->ip, strlen(host->ip));
		hash = mix(hash, host->tc, strlen(host->tc));
		hash = mix(hash, host->nft, strlen(host->nft));
		hash = mix(hash, &topology->hosts[i].lab.cpu, sizeof(double));
	}
	return hash;
}
