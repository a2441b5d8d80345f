/* `route`: which way the kernel would send, from a given device. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "agent.h"
#include "netlink.h"

#ifndef RTM_F_FIB_MATCH
#define RTM_F_FIB_MATCH 0x2000
#endif

struct route_question {
	int family;
	unsigned char to[16], from[16];
	bool has_from;
	int device; /* index, 0 for any */
};

struct route_answer {
	int family;
	bool found;
	unsigned char type;
	int device;
	char gateway[INET6_ADDRSTRLEN], source[INET6_ADDRSTRLEN]; /* empty when absent */
};

static void read_address(const struct rtattr *attribute, int family, char *text, size_t size)
{
	unsigned char raw[16] = {0};

	text[0] = '\0';
	if (attribute && netlink_copy(attribute, raw, sizeof(raw)) > 0 &&
		!inet_ntop(family, raw, text, (socklen_t)size))
		text[0] = '\0';
}

static void visit_route(const struct nlmsghdr *message, void *context)
{
	struct route_answer *answer = context;
	const struct rtmsg *body = netlink_body(message);
	const struct rtattr *attributes[RTA_MAX + 1];

	if (message->nlmsg_type != RTM_NEWROUTE || message->nlmsg_len < NLMSG_LENGTH(sizeof(*body)))
		return;
	netlink_attributes(message, sizeof(*body), attributes, RTA_MAX + 1);
	answer->found = true;
	answer->type = body->rtm_type;
	answer->device = (int)netlink_u32(attributes[RTA_OIF]);
	read_address(
		attributes[RTA_GATEWAY], answer->family, answer->gateway, sizeof(answer->gateway));
	read_address(
		attributes[RTA_PREFSRC], answer->family, answer->source, sizeof(answer->source));
}

static int ask_route(
	const struct route_question *question, unsigned int flags, struct route_answer *ret)
{
	size_t size = question->family == AF_INET ? 4 : 16;
	struct rtmsg body = {.rtm_family = (unsigned char)question->family,
		.rtm_dst_len = (unsigned char)(size * 8),
		.rtm_src_len = (unsigned char)(question->has_from ? size * 8 : 0),
		.rtm_flags = flags};
	struct netlink_request request;

	*ret = (struct route_answer){.family = question->family};
	netlink_request_init(&request, RTM_GETROUTE, 0, &body, sizeof(body));
	netlink_request_add(&request, RTA_DST, question->to, size);
	if (question->has_from)
		netlink_request_add(&request, RTA_SRC, question->from, size);
	if (question->device)
		netlink_request_add(&request, RTA_OIF, &question->device, sizeof(question->device));
	int result = netlink_ask(&request, visit_route, ret);

	if (result == 0 && (!ret->found || (ret->type != RTN_UNICAST && ret->type != RTN_LOCAL)))
		return -ENETUNREACH;
	return result;
}

/* Returns NULL, or what is wrong with the request. */
static const char *read_question(const struct wire_record *request, struct route_question *ret)
{
	const char *to = wire_record_text(request, "to");
	const char *from = wire_record_text(request, "from");
	const char *interface = wire_record_text(request, "interface");
	int64_t family;

	*ret = (struct route_question){0};
	if (wire_record_number(request, "family", &family) < 0 || (family != 4 && family != 6))
		return "route: family= must be 4 or 6";
	ret->family = family == 4 ? AF_INET : AF_INET6;
	if (!to || inet_pton(ret->family, to, ret->to) != 1)
		return "route: to= is not an address of that family";
	ret->has_from = from && from[0];
	if (ret->has_from && inet_pton(ret->family, from, ret->from) != 1)
		return "route: from= is not an address of that family";
	if (interface && interface[0]) {
		ret->device = (int)if_nametoindex(interface);
		if (!ret->device)
			return "route: no such interface";
	}
	return NULL;
}

void request_route(struct agent *agent, const struct wire_record *request)
{
	struct route_question question;
	struct route_answer answer;
	char device[IFNAMSIZ] = "";
	const char *wrong = read_question(request, &question);

	if (wrong) {
		agent_say_error(agent, request->id, "bad", wrong);
		return;
	}
	/* Asked with a device, IPv4 takes every address for on-link when it finds no route. The
	 * first question, for the table's own entry, tells; kernels before 4.13 ignore the flag. */
	int result = ask_route(&question, RTM_F_FIB_MATCH, &answer);

	if (result == 0)
		result = ask_route(&question, 0, &answer);
	if (result < 0) {
		agent_say_errno(agent, request->id, "unreachable", "no route", -result);
		return;
	}
	if (!if_indextoname((unsigned int)answer.device, device))
		device[0] = '\0';
	struct wire_writer *writer = agent_begin(agent, request->id, "ok");

	wire_writer_text(writer, "device", device);
	if (answer.gateway[0])
		wire_writer_text(writer, "gateway", answer.gateway);
	if (answer.source[0])
		wire_writer_text(writer, "source", answer.source);
	agent_end(agent);
}
