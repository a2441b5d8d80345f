#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hello.h"
#include "netlink.h"

/* linux/if.h has it, but collides with net/if.h; glibc's lacks it. */
#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP 0x10000
#endif

enum { LINKS_MAX = 1024 };

static struct hello_link *add_link(struct hello_links *links)
{
	if (links->count == links->capacity) {
		size_t capacity = links->capacity ? links->capacity * 2 : 16;
		struct hello_link *grown =
			capacity > LINKS_MAX ? NULL
					     : realloc(links->links, capacity * sizeof(*grown));

		if (!grown)
			return NULL;
		links->links = grown;
		links->capacity = capacity;
	}
	struct hello_link *link = &links->links[links->count++];

	memset(link, 0, sizeof(*link));
	return link;
}

static void visit_link(const struct nlmsghdr *message, void *context)
{
	const struct ifinfomsg *body = netlink_body(message);
	const struct rtattr *attributes[IFLA_MAX + 1];
	const struct rtattr *info[IFLA_INFO_MAX + 1];

	if (message->nlmsg_type != RTM_NEWLINK || message->nlmsg_len < NLMSG_LENGTH(sizeof(*body)))
		return;
	struct hello_link *link = add_link(context);

	if (!link)
		return;
	netlink_attributes(message, sizeof(*body), attributes, IFLA_MAX + 1);
	netlink_nested(attributes[IFLA_LINKINFO], info, IFLA_INFO_MAX + 1);
	netlink_text(attributes[IFLA_IFNAME], link->name, sizeof(link->name));
	netlink_text(info[IFLA_INFO_KIND], link->kind, sizeof(link->kind));
	link->index = body->ifi_index;
	link->master = (int)netlink_u32(attributes[IFLA_MASTER]);
	link->mtu = (int)netlink_u32(attributes[IFLA_MTU]);
	/* IFLA_CARRIER came with 3.9; the flag says the same. */
	link->carrier = (body->ifi_flags & IFF_LOWER_UP) != 0;
	link->loopback = (body->ifi_flags & IFF_LOOPBACK) != 0;
}

int hello_links_read(struct hello_links *links)
{
	struct ifinfomsg body = {.ifi_family = AF_UNSPEC};
	struct netlink_request request;

	netlink_request_init(&request, RTM_GETLINK, NLM_F_DUMP, &body, sizeof(body));
	return netlink_ask(&request, visit_link, links);
}

void hello_links_finish(struct hello_links *links)
{
	free(links->links);
	*links = (struct hello_links){0};
}

const struct hello_link *hello_links_find(const struct hello_links *links, int index)
{
	for (size_t i = 0; i < links->count; i++) {
		if (links->links[i].index == index)
			return &links->links[i];
	}
	return NULL;
}
