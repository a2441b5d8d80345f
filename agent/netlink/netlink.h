/* Questions to the kernel's routing netlink, answered message by message. */
#ifndef NETLINK_H
#define NETLINK_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

enum { NETLINK_REQUEST_MAX = 256 };

/* A request: netlink header, body, attributes. */
struct netlink_request {
	union {
		struct nlmsghdr header;
		char bytes[NETLINK_REQUEST_MAX];
	};
};

void netlink_request_init(struct netlink_request *request, uint16_t type, uint16_t flags,
	const void *body, size_t size);

/* Requests hold a few short attributes; one that does not fit is left out. */
void netlink_request_add(
	struct netlink_request *request, uint16_t type, const void *data, size_t size);

typedef void netlink_visit(const struct nlmsghdr *message, void *context);

/*
 * Sends the request and visits each answer. Works for dumps (NLM_F_DUMP) and for single answers.
 * Returns 0 or -errno, the kernel's own included.
 */
int netlink_ask(const struct netlink_request *request, netlink_visit *visit, void *context);

/* What follows a message's header. */
const void *netlink_body(const struct nlmsghdr *message);

/* The attributes of a message whose body has body_size bytes, indexed by type; absent ones NULL. */
void netlink_attributes(const struct nlmsghdr *message, size_t body_size,
	const struct rtattr **table, size_t table_size);

/* The same for attributes nested in another. A NULL nest has none. */
void netlink_nested(const struct rtattr *nest, const struct rtattr **table, size_t table_size);

/* The payload as a 32 bit number, 0 when absent or short. */
uint32_t netlink_u32(const struct rtattr *attribute);

/* The payload as text of at most size - 1 bytes; empty when absent. */
void netlink_text(const struct rtattr *attribute, char *text, size_t size);

/* Copies at most size bytes of the payload over *ret, which keeps the rest. Returns the bytes. */
size_t netlink_copy(const struct rtattr *attribute, void *ret, size_t size);

#endif
