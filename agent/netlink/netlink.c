#include "netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	ANSWER_MAX = 32768, /* the kernel fills at most 32 KiB of a dump at once */
	PATIENCE_S = 2,
};

void netlink_request_init(struct netlink_request *request, uint16_t type, uint16_t flags,
	const void *body, size_t size)
{
	memset(request, 0, sizeof(*request));
	request->header.nlmsg_len = (uint32_t)NLMSG_LENGTH(size);
	request->header.nlmsg_type = type;
	request->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	memcpy(NLMSG_DATA(&request->header), body, size);
}

void netlink_request_add(
	struct netlink_request *request, uint16_t type, const void *data, size_t size)
{
	size_t at = NLMSG_ALIGN(request->header.nlmsg_len);
	struct rtattr attribute = {.rta_len = (uint16_t)RTA_LENGTH(size), .rta_type = type};

	if (at + RTA_SPACE(size) > sizeof(request->bytes))
		return;
	memcpy(request->bytes + at, &attribute, sizeof(attribute));
	memcpy(request->bytes + at + RTA_LENGTH(0), data, size);
	request->header.nlmsg_len = (uint32_t)(at + RTA_LENGTH(size));
}

/* NLMSG_DATA() casts the const away. */
const void *netlink_body(const struct nlmsghdr *message)
{
	return (const char *)message + NLMSG_HDRLEN;
}

/* Returns 1 when more is to come, 0 at the end, or -errno. */
static int visit_answers(const char *bytes, size_t length, netlink_visit *visit, void *context)
{
	const struct nlmsghdr *message = (const void *)bytes;

	while (length >= sizeof(*message) && message->nlmsg_len >= sizeof(*message) &&
		message->nlmsg_len <= length) {
		if (message->nlmsg_type == NLMSG_DONE)
			return 0;
		if (message->nlmsg_type == NLMSG_ERROR) {
			struct nlmsgerr failure = {0};

			if (message->nlmsg_len >= NLMSG_LENGTH(sizeof(failure.error)))
				memcpy(&failure.error, netlink_body(message),
					sizeof(failure.error));
			return failure.error;
		}
		visit(message, context);
		if (!(message->nlmsg_flags & NLM_F_MULTI))
			return 0;
		size_t step = NLMSG_ALIGN(message->nlmsg_len);

		if (step >= length)
			break;
		length -= step;
		message = (const void *)((const char *)message + step);
	}
	return 1;
}

int netlink_ask(const struct netlink_request *request, netlink_visit *visit, void *context)
{
	char bytes[ANSWER_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int result = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, request->bytes, request->header.nlmsg_len, 0) < 0)
		result = -errno;
	while (result > 0) {
		ssize_t got = recv(fd, bytes, sizeof(bytes), 0);

		if (got < 0 && errno == EINTR)
			continue;
		result = got < 0 ? -errno : visit_answers(bytes, (size_t)got, visit, context);
	}
	close(fd);
	return result;
}

static void index_attributes(const struct rtattr *attribute, size_t length,
	const struct rtattr **table, size_t table_size)
{
	memset(table, 0, table_size * sizeof(*table));
	while (length >= sizeof(*attribute) && attribute->rta_len >= sizeof(*attribute) &&
		attribute->rta_len <= length) {
		size_t type = attribute->rta_type & ~(size_t)(NLA_F_NESTED | NLA_F_NET_BYTEORDER);
		size_t step = RTA_ALIGN(attribute->rta_len);

		if (type < table_size)
			table[type] = attribute;
		if (step >= length)
			return;
		length -= step;
		attribute = (const void *)((const char *)attribute + step);
	}
}

void netlink_attributes(const struct nlmsghdr *message, size_t body_size,
	const struct rtattr **table, size_t table_size)
{
	size_t offset = NLMSG_ALIGN(NLMSG_LENGTH(body_size));
	size_t length = message->nlmsg_len > offset ? message->nlmsg_len - offset : 0;

	index_attributes((const void *)((const char *)message + offset), length, table, table_size);
}

static const void *payload(const struct rtattr *attribute)
{
	return (const char *)attribute + RTA_LENGTH(0);
}

static size_t payload_size(const struct rtattr *attribute)
{
	return attribute ? attribute->rta_len - RTA_LENGTH(0) : 0;
}

void netlink_nested(const struct rtattr *nest, const struct rtattr **table, size_t table_size)
{
	index_attributes(nest ? payload(nest) : NULL, payload_size(nest), table, table_size);
}

size_t netlink_copy(const struct rtattr *attribute, void *ret, size_t size)
{
	size_t length = payload_size(attribute);

	if (length > size)
		length = size;
	if (length > 0)
		memcpy(ret, payload(attribute), length);
	return length;
}

uint32_t netlink_u32(const struct rtattr *attribute)
{
	uint32_t number = 0;

	if (payload_size(attribute) >= sizeof(number))
		netlink_copy(attribute, &number, sizeof(number));
	return number;
}

void netlink_text(const struct rtattr *attribute, char *text, size_t size)
{
	size_t length = netlink_copy(attribute, text, size - 1);

	text[length] = '\0';
}
