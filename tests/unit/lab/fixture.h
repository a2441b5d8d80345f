/* Topologies made by hand, so that the lab's tests do not depend on the loader. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "topology.h"

struct topology *fixture_create(const char *name);
void fixture_destroy(struct topology *topology);

/* Each returns what it added; pointers stay good, up to 64 of each. */
struct topology_host *fixture_host(struct topology *topology, const char *name);
/* Ends as in a file: host:interface[@address]. */
struct topology_link *fixture_link(
	struct topology *topology, const char *name, const char *a, const char *b);
/* A path over links 0..count-1, from host 0. */
void fixture_path(struct topology *topology, size_t count);

/* pc1:eth0 - router:eth0 (wan), router:wlan0 - pc2:wlan0 (wlan). */
struct topology *fixture_home(void);

#endif
