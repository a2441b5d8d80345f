/*
 * From "router:wlan0" to what a socket needs: which device to bind to, which address, which
 * interface's counters to read (docs/topology.md, "Link"). Pure: topology and facts in.
 */
#ifndef BINDING_H
#define BINDING_H

#include "facts.h"
#include "topology.h"

struct binding {
	int family;                      /* 4 or 6 */
	char address[FACTS_ADDRESS_MAX]; /* numeric; link-local with %device */
	char device[IFNAMSIZ];           /* SO_BINDTODEVICE: master of a member, base of an alias */
	char counter[IFNAMSIZ];          /* interface whose counters and link facts count */
	int prefix;
};

/*
 * Resolves both ends of one link. The default addresses are the pair that shares a subnet, family 4
 * before 6 unless family says otherwise; deprecated, temporary and tentative addresses are skipped;
 * link-local is used only when nothing else is shared. Fails with ERROR_TOPOLOGY citing the end's
 * file:line:column: no such interface (with a did-you-mean), no address, no common subnet.
 */
int binding_resolve_link(const struct topology *topology, const struct topology_link *link,
	const struct facts *facts_a, const struct facts *facts_b, int family, struct binding *ret_a,
	struct binding *ret_b, struct error *err);

/*
 * The address of `to` as `from` must write it: a link-local one takes the scope of from's own
 * device. Returns buffer.
 */
const char *binding_address_from(
	const struct binding *to, const struct binding *from, char buffer[FACTS_ADDRESS_MAX]);

/* Is address on a subnet of one of the host's addresses on device? (No gateway needed.) */
bool binding_on_link(const struct facts *facts, const char *device, const char *address);

#endif
