/*
 * Rates and losses as input for `tc -batch` and `nft -f`. Pure.
 *
 * A link's rate is a token bucket on each end's egress. A router's forward_limit is a class of its
 * own beside it: the forward hook marks what is forwarded with the class's id as priority, and HTB
 * puts it there, so that what the router itself sends is not slowed and the drops show at its
 * class. HTB then shapes the link's rate as well, as tbf has no classes.
 */
#ifndef LAB_SHAPING_H
#define LAB_SHAPING_H

#include <stdio.h>

#include "lab_layout.h"

struct lab_shape {
	int64_t rate;  /* bit/s, 0 = unshaped */
	int64_t limit; /* bit/s for forwarded packets, 0 = none that is below the rate */
	int64_t queue; /* ms */
	int mtu;       /* bytes, 0 = the kernel's */
};

/* What leaves this end of a cable. */
struct lab_shape lab_shaping_of(const struct topology *topology, size_t link, bool end_b);

/* True when either direction has a rate, a limit or a loss: packets must then be what they are on a
 * wire, so segmentation offloads are switched off at both ends. */
bool lab_shaping_needs_packets(const struct topology *topology, size_t link);

/* Bytes a token bucket of this rate (bit/s) holds: 2 ms, at least 3 frames of the MTU. */
int64_t lab_shaping_burst(int64_t rate, int mtu);

/* Lines for `tc -batch` for one host: nothing when its interfaces are unshaped. */
void lab_shaping_write_tc(const struct lab_layout *layout, size_t host, FILE *out);

/* Rules for `nft -f` for one host (loss, forward_limit, nat); nothing when it has none. Returns -1
 * when out of memory. */
int lab_shaping_write_nft(const struct lab_layout *layout, size_t host, FILE *out);

#endif
