/*
 * Static routes: breadth-first over the subnets, so that every host reaches every subnet, except
 * through a nat host from its outside (the side of the path's first host) to its inside. Pure.
 */
#ifndef LAB_ROUTES_H
#define LAB_ROUTES_H

#include "lab_layout.h"

#define LAB_DIRECT ((size_t)-2)

/*
 * For each subnet (ret_gateways[subnet_count]): the port (index) of the next hop from this host,
 * LAB_DIRECT for a subnet the host is in, LAB_NONE for one it has no route to. Returns 0, or -1
 * when out of memory.
 */
int lab_routes_find(const struct lab_layout *layout, size_t host, size_t *ret_gateways);

/*
 * ret_outside[subnet_count]: the subnets that the path's first host reaches without passing this
 * host. Returns 0, or -1 when out of memory.
 */
int lab_routes_outside(const struct lab_layout *layout, size_t host, bool *ret_outside);

#endif
