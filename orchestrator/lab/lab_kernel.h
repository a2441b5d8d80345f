/*
 * What is set inside the namespaces without a tool: /proc/sys and offloads. One child process
 * enters one namespace after the other; the caller's own stays what it is.
 */
#ifndef LAB_KERNEL_H
#define LAB_KERNEL_H

#include <stdbool.h>

#include "lab_layout.h"

#define LAB_NETNS_FOLDER "/run/netns"

/* True when the kernel has IPv6. */
bool lab_kernel_has_ipv6(void);

/*
 * For namespaces that have no devices yet, as new devices take over the defaults: no duplicate
 * address detection (an address is usable at once), no reverse path filter, no TCP metrics kept
 * from one trial to the next, forwarding where a host is in several subnets, and ARP answered by
 * the interface that has the address.
 */
int lab_kernel_prepare(const struct lab_layout *layout, struct error *err);

/* Switches tso, gso, gro and tx-udp-segmentation off at both ends of every shaped or lossy cable.
 */
int lab_kernel_disable_offloads(const struct lab_layout *layout, struct error *err);

#endif
