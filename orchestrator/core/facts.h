/*
 * What a host says of itself in `hello`: system, interfaces, addresses. Filled record by record
 * from the wire; read by binding, run file and reports.
 */
#ifndef FACTS_H
#define FACTS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "wire.h"

#define FACTS_ADDRESS_MAX 64 /* text of an IPv6 address with %scope */

struct facts_interface {
	char name[IFNAMSIZ];
	char master[IFNAMSIZ]; /* bridge or bond, or empty */
	char kind[16];         /* physical, wifi, bridge, bond, vlan, veth, other */
	int index;
	int mtu;
	int speed_mbit; /* -1 unknown; believed only for physical */
	char duplex[8]; /* full, half or empty */
	bool carrier;
};

struct facts_address {
	char interface[IFNAMSIZ];
	char label[IFNAMSIZ];            /* eth0:1 for an alias, else the interface or empty */
	int family;                      /* 4 or 6 */
	char address[FACTS_ADDRESS_MAX]; /* numeric, without scope */
	int prefix;
	bool link_local, deprecated, temporary, tentative;
};

struct facts {
	char arch[32], kernel[96], firmware[160], boot_id[48];
	int cpus;
	int ticks; /* /proc/stat ticks per second */
	int uid;
	struct facts_interface *interfaces;
	size_t interface_count;
	struct facts_address *addresses;
	size_t address_count;
};

/*
 * Takes one record of a hello answer (host, interface, address; others are ignored). A hostile or
 * broken agent's record fails with ERROR_HOST; at most 4096 interfaces and addresses are kept.
 */
int facts_add(struct facts *facts, const struct wire_record *record, struct error *err);
void facts_finish(struct facts *facts);

const struct facts_interface *facts_find_interface(const struct facts *facts, const char *name);

#endif
