#include "binding.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "suggest.h"

/* One end on the way to its binding. */
struct side {
	const struct topology *topology;
	const struct topology_end *end;
	const struct facts *facts;
	char device[IFNAMSIZ];  /* bears the addresses, is bound to */
	char counter[IFNAMSIZ]; /* is counted */
};

static const char *host_name(const struct side *side)
{
	return side->topology->hosts[side->end->host].name;
}

static int fail(const struct side *side, struct error *err, const char *message)
{
	char where[sizeof(err->where)];

	return error_set(err, ERROR_TOPOLOGY,
		topology_where(side->topology, side->end->mark, where, sizeof(where)), "%s",
		message);
}

#define NAMES_MAX 64

static int no_interface(const struct side *side, struct error *err)
{
	const char *names[NAMES_MAX];
	char near[SUGGEST_TEXT_MAX], list[400] = "none", message[900];
	size_t used = 0, i;

	for (i = 0; i < side->facts->interface_count && i < NAMES_MAX; i++) {
		names[i] = side->facts->interfaces[i].name;
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
				used ? ", " : "", names[i]);
	}
	snprintf(message, sizeof(message), "host \"%s\" has no interface \"%s\"; it has %s%s",
		host_name(side), side->end->device, list,
		suggest_text(side->end->device, names, i, sizeof(names[0]), near, sizeof(near)));
	return fail(side, err, message);
}

static bool has_addresses(const struct facts *facts, const char *device)
{
	size_t i;

	for (i = 0; i < facts->address_count; i++) {
		if (strcmp(facts->addresses[i].interface, device) == 0)
			return true;
	}
	return false;
}

/*
 * A member cannot be bound to: its bridge or bond takes the packets, so it lends address and
 * device. A bond may be in a bridge. Other masters (a VRF) leave the addresses where they are.
 */
static const struct facts_interface *follow_masters(
	const struct facts *facts, const struct facts_interface *interface)
{
	int steps;

	for (steps = 0; steps < 8 && interface->master[0]; steps++) {
		const struct facts_interface *master =
			facts_find_interface(facts, interface->master);

		if (!master)
			return interface;
		if (strcmp(master->kind, "bridge") != 0 && strcmp(master->kind, "bond") != 0 &&
			has_addresses(facts, interface->name))
			return interface;
		interface = master;
	}
	return interface;
}

static int find_device(struct side *side, struct error *err)
{
	const struct facts_interface *interface;

	if (!side->end->device)
		return fail(side, err, "the end names no interface");
	interface = facts_find_interface(side->facts, side->end->device);
	if (!interface)
		return no_interface(side, err);
	strcpy(side->counter, interface->name);
	strcpy(side->device, follow_masters(side->facts, interface)->name);
	return 0;
}

static int address_bytes(int family, const char *text, unsigned char bytes[16])
{
	return inet_pton(family == 4 ? AF_INET : AF_INET6, text, bytes) == 1 ? 0 : -1;
}

static bool same_address(const struct facts_address *address, const char *text)
{
	unsigned char mine[16], other[16];

	return address_bytes(address->family, address->address, mine) == 0 &&
	       address_bytes(address->family, text, other) == 0 &&
	       memcmp(mine, other, address->family == 4 ? 4 : 16) == 0;
}

/* May this address be this end's? One that the file names may also be old or temporary. */
static bool is_candidate(const struct side *side, const struct facts_address *address)
{
	const struct topology_end *end = side->end;

	if (strcmp(address->interface, side->device) != 0 || address->tentative)
		return false;
	if (topology_end_is_alias(end) && strcmp(address->label, end->interface) != 0)
		return false;
	if (end->address)
		return same_address(address, end->address);
	return !address->deprecated && !address->temporary;
}

static bool shares_prefix(const unsigned char *a, const unsigned char *b, int prefix)
{
	int whole = prefix / 8, rest = prefix % 8;
	unsigned char mask = (unsigned char)(0xff << (8 - rest));

	return memcmp(a, b, (size_t)whole) == 0 &&
	       (rest == 0 || ((a[whole] ^ b[whole]) & mask) == 0);
}

/* On-link seen from both: the longer prefix decides. The same address twice is no pair. */
static bool share_subnet(const struct facts_address *a, const struct facts_address *b)
{
	unsigned char a_bytes[16], b_bytes[16];
	int prefix = a->prefix > b->prefix ? a->prefix : b->prefix;

	return a->family == b->family && address_bytes(a->family, a->address, a_bytes) == 0 &&
	       address_bytes(b->family, b->address, b_bytes) == 0 &&
	       memcmp(a_bytes, b_bytes, a->family == 4 ? 4 : 16) != 0 &&
	       shares_prefix(a_bytes, b_bytes, prefix);
}

/* What a pair of addresses must be; the rows are tried in this order. */
static const struct {
	int family;
	bool link_local;
} preferences[] = {{4, false}, {6, false}, {4, true}, {6, true}};

struct pair {
	const struct facts_address *a, *b;
};

static bool fits(const struct side *side, const struct facts_address *address, size_t preference)
{
	return is_candidate(side, address) && address->family == preferences[preference].family &&
	       address->link_local == preferences[preference].link_local;
}

static bool find_pair(
	const struct side *a, const struct side *b, size_t preference, struct pair *ret)
{
	/* Whoever names both addresses may mean a point-to-point line without a common subnet. */
	bool both_named = a->end->address && b->end->address;
	size_t i, j;

	for (i = 0; i < a->facts->address_count; i++) {
		const struct facts_address *x = &a->facts->addresses[i];

		if (!fits(a, x, preference))
			continue;
		for (j = 0; j < b->facts->address_count; j++) {
			const struct facts_address *y = &b->facts->addresses[j];

			if (fits(b, y, preference) && (both_named || share_subnet(x, y))) {
				*ret = (struct pair){x, y};
				return true;
			}
		}
	}
	return false;
}

/* "192.168.1.1/24, fe80::1/64": what the device has, usable or not. */
static const char *list_addresses(const struct side *side, char *buffer, size_t size)
{
	size_t used = 0, i;

	snprintf(buffer, size, "none");
	for (i = 0; i < side->facts->address_count && used < size; i++) {
		const struct facts_address *address = &side->facts->addresses[i];

		if (strcmp(address->interface, side->device) != 0)
			continue;
		used += (size_t)snprintf(buffer + used, size - used, "%s%s/%d%s", used ? ", " : "",
			address->address, address->prefix,
			address->tentative    ? " (tentative)"
			: address->deprecated ? " (deprecated)"
			: address->temporary  ? " (temporary)"
					      : "");
	}
	return buffer;
}

/* Has the end an address at all? Says which of its wishes is not met. */
static int check_candidates(const struct side *side, int family, struct error *err)
{
	const struct topology_end *end = side->end;
	char list[400], message[900];
	size_t i;

	for (i = 0; i < side->facts->address_count; i++) {
		const struct facts_address *address = &side->facts->addresses[i];

		if (is_candidate(side, address) && (family == 0 || address->family == family))
			return 0;
	}
	list_addresses(side, list, sizeof(list));
	if (end->address)
		snprintf(message, sizeof(message),
			"\"%s\" of host \"%s\" has no usable address %s%s; its addresses: %s",
			side->device, host_name(side), end->address,
			family == 4   ? " of IPv4"
			: family == 6 ? " of IPv6"
				      : "",
			list);
	else if (topology_end_is_alias(end))
		snprintf(message, sizeof(message),
			"host \"%s\" has no %saddress with the label \"%s\"; addresses of \"%s\": "
			"%s",
			host_name(side),
			family == 4   ? "IPv4 "
			: family == 6 ? "IPv6 "
				      : "",
			end->interface, side->device, list);
	else
		snprintf(message, sizeof(message),
			"\"%s\" of host \"%s\" has no usable %saddress; its addresses: %s",
			side->device, host_name(side),
			family == 4   ? "IPv4 "
			: family == 6 ? "IPv6 "
				      : "",
			list);
	return fail(side, err, message);
}

static int no_pair(const struct side *a, const struct side *b, struct error *err)
{
	char a_list[300], b_list[300], message[1000];

	snprintf(message, sizeof(message),
		"\"%s\" of host \"%s\" (%s) and \"%s\" of host \"%s\" (%s) share no subnet; if "
		"that "
		"is meant, name both addresses: HOST:INTERFACE@ADDRESS",
		a->device, host_name(a), list_addresses(a, a_list, sizeof(a_list)), b->device,
		host_name(b), list_addresses(b, b_list, sizeof(b_list)));
	return fail(a, err, message);
}

static void bind_side(
	const struct side *side, const struct facts_address *address, struct binding *ret)
{
	bool scoped = address->family == 6 && address->link_local;

	memset(ret, 0, sizeof(*ret));
	ret->family = address->family;
	ret->prefix = address->prefix;
	strcpy(ret->device, side->device);
	strcpy(ret->counter, side->counter);
	snprintf(ret->address, sizeof(ret->address), "%.46s%s%.15s", address->address,
		scoped ? "%" : "", scoped ? side->device : "");
}

const char *binding_address_from(
	const struct binding *to, const struct binding *from, char buffer[FACTS_ADDRESS_MAX])
{
	size_t length = strcspn(to->address, "%");

	if (!to->address[length])
		snprintf(buffer, FACTS_ADDRESS_MAX, "%s", to->address);
	else
		snprintf(buffer, FACTS_ADDRESS_MAX, "%.*s%%%s", (int)length, to->address,
			from->device);
	return buffer;
}

int binding_resolve_link(const struct topology *topology, const struct topology_link *link,
	const struct facts *facts_a, const struct facts *facts_b, int family, struct binding *ret_a,
	struct binding *ret_b, struct error *err)
{
	struct side a = {.topology = topology, .end = &link->a, .facts = facts_a};
	struct side b = {.topology = topology, .end = &link->b, .facts = facts_b};
	struct pair pair;
	size_t i;

	if (find_device(&a, err) < 0 || find_device(&b, err) < 0 ||
		check_candidates(&a, family, err) < 0 || check_candidates(&b, family, err) < 0)
		return -1;
	for (i = 0; i < sizeof(preferences) / sizeof(preferences[0]); i++) {
		if (family != 0 && family != preferences[i].family)
			continue;
		if (find_pair(&a, &b, i, &pair)) {
			bind_side(&a, pair.a, ret_a);
			bind_side(&b, pair.b, ret_b);
			return 0;
		}
	}
	return no_pair(&a, &b, err);
}

bool binding_on_link(const struct facts *facts, const char *device, const char *address)
{
	struct facts_address other = {.family = strchr(address, ':') ? 6 : 4};
	size_t length = strcspn(address, "%");
	size_t i;

	if (length >= sizeof(other.address))
		return false;
	memcpy(other.address, address, length);
	for (i = 0; i < facts->address_count; i++) {
		if (strcmp(facts->addresses[i].interface, device) == 0 &&
			share_subnet(&facts->addresses[i], &other))
			return true;
	}
	return false;
}
