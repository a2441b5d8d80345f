#include <arpa/inet.h>
#include <string.h>

#include "agent.h"
#include "hello.h"
#include "netlink.h"

#include <linux/if_addr.h>

struct addresses {
	struct agent *agent;
	uint32_t id;
	const struct hello_links *links;
};

static void add_flag(char *text, size_t size, const char *flag)
{
	if (text[0] != '\0')
		strncat(text, ",", size - strlen(text) - 1);
	strncat(text, flag, size - strlen(text) - 1);
}

static void say_flags(struct wire_writer *writer, int family, uint32_t flags)
{
	char text[64] = "";

	if (flags & IFA_F_DEPRECATED)
		add_flag(text, sizeof(text), "deprecated");
	/* The same bit means "secondary" in IPv4. */
	if (family == AF_INET6 && (flags & IFA_F_TEMPORARY))
		add_flag(text, sizeof(text), "temporary");
	if (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED))
		add_flag(text, sizeof(text), "tentative");
	wire_writer_text(writer, "flags", text);
}

static void visit_address(const struct nlmsghdr *message, void *context)
{
	const struct addresses *addresses = context;
	const struct ifaddrmsg *body = netlink_body(message);
	const struct rtattr *attributes[IFA_MAX + 1];
	unsigned char raw[16] = {0};
	char text[INET6_ADDRSTRLEN], label[64];

	if (message->nlmsg_type != RTM_NEWADDR || message->nlmsg_len < NLMSG_LENGTH(sizeof(*body)))
		return;
	if ((body->ifa_family != AF_INET && body->ifa_family != AF_INET6) ||
		body->ifa_scope == RT_SCOPE_HOST)
		return;
	const struct hello_link *link = hello_links_find(addresses->links, (int)body->ifa_index);

	if (!link || link->loopback)
		return;
	netlink_attributes(message, sizeof(*body), attributes, IFA_MAX + 1);
	/* On point-to-point links IFA_ADDRESS is the peer's. */
	netlink_copy(attributes[attributes[IFA_LOCAL] ? IFA_LOCAL : IFA_ADDRESS], raw, sizeof(raw));
	if (!inet_ntop(body->ifa_family, raw, text, sizeof(text)))
		return;
	netlink_text(attributes[IFA_LABEL], label, sizeof(label));
	struct wire_writer *writer = agent_begin(addresses->agent, addresses->id, "address");

	wire_writer_text(writer, "interface", link->name);
	wire_writer_text(writer, "label", label[0] ? label : link->name);
	wire_writer_number(writer, "family", body->ifa_family == AF_INET ? 4 : 6);
	wire_writer_text(writer, "address", text);
	wire_writer_number(writer, "prefix", body->ifa_prefixlen);
	wire_writer_text(writer, "scope", body->ifa_scope == RT_SCOPE_LINK ? "link" : "global");
	say_flags(writer, body->ifa_family,
		attributes[IFA_FLAGS] ? netlink_u32(attributes[IFA_FLAGS]) : body->ifa_flags);
	agent_end(addresses->agent);
}

int hello_say_addresses(struct agent *agent, uint32_t id, const struct hello_links *links)
{
	struct addresses addresses = {.agent = agent, .id = id, .links = links};
	struct ifaddrmsg body = {.ifa_family = AF_UNSPEC};
	struct netlink_request request;

	netlink_request_init(&request, RTM_GETADDR, NLM_F_DUMP, &body, sizeof(body));
	return netlink_ask(&request, visit_address, &addresses);
}
