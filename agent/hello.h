/* The interfaces and addresses of the host, for `hello`. */
#ifndef HELLO_H
#define HELLO_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;

struct hello_link {
	char name[IFNAMSIZ];
	char kind[16]; /* as the driver names it; empty for hardware */
	int index;
	int master; /* an index, 0 for none */
	int mtu;
	bool carrier, loopback;
};

struct hello_links {
	struct hello_link *links;
	size_t count, capacity;
};

/* Returns 0 or -errno. */
int hello_links_read(struct hello_links *links);
void hello_links_finish(struct hello_links *links);

/* NULL when there is none. */
const struct hello_link *hello_links_find(const struct hello_links *links, int index);

/* Says an `address` record for each. Returns 0 or -errno. */
int hello_say_addresses(struct agent *agent, uint32_t id, const struct hello_links *links);

#endif
