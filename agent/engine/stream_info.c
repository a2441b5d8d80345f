/*
 * The only file that sees linux/tcp.h: its struct is longer than the C libraries', and its names
 * collide with theirs.
 */
#include "stream_info.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

enum combine { SUM, MEAN, LEAST, GREATEST };

static const struct {
	enum combine combine;
	size_t offset, width;
} items[] = {
#define ITEM(combine, field)                                                                       \
	{                                                                                          \
		combine, offsetof(struct tcp_info, field),                                         \
			sizeof(((struct tcp_info *)NULL)->field)                                   \
	}
	[INFO_RETRANSMITS] = ITEM(SUM, tcpi_total_retrans),
	[INFO_RTT_US] = ITEM(MEAN, tcpi_rtt),
	[INFO_MIN_RTT_US] = ITEM(LEAST, tcpi_min_rtt),
	[INFO_CWND] = ITEM(SUM, tcpi_snd_cwnd),
	[INFO_DELIVERY_BYTES] = ITEM(SUM, tcpi_delivery_rate),
	[INFO_BUSY_US] = ITEM(SUM, tcpi_busy_time),
	[INFO_RWND_LIMITED_US] = ITEM(SUM, tcpi_rwnd_limited),
	[INFO_SNDBUF_LIMITED_US] = ITEM(SUM, tcpi_sndbuf_limited),
	[INFO_REORDERING] = ITEM(GREATEST, tcpi_reordering),
	[INFO_PATH_MTU] = ITEM(LEAST, tcpi_pmtu),
	[INFO_BYTES_ACKED] = ITEM(SUM, tcpi_bytes_acked),
	[INFO_BYTES_SENT] = ITEM(SUM, tcpi_bytes_sent),
	[INFO_BYTES_RETRANSMITTED] = ITEM(SUM, tcpi_bytes_retrans),
#undef ITEM
};

enum { TABLE_ITEMS = sizeof(items) / sizeof(items[0]) };

static int64_t read_item(const struct tcp_info *info, socklen_t length, size_t item)
{
	uint32_t narrow;
	uint64_t wide;

	if (items[item].offset + items[item].width > length)
		return INFO_UNKNOWN;
	const char *field = (const char *)info + items[item].offset;

	if (items[item].width == sizeof(narrow)) {
		memcpy(&narrow, field, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, field, sizeof(wide));
	return (int64_t)(wide & INT64_MAX);
}

static int64_t join(enum combine combine, int64_t so_far, int64_t more, bool first)
{
	if (more == INFO_UNKNOWN || (!first && so_far == INFO_UNKNOWN))
		return INFO_UNKNOWN;
	if (first)
		return more;
	if (combine == LEAST)
		return more < so_far ? more : so_far;
	if (combine == GREATEST)
		return more > so_far ? more : so_far;
	return so_far + more;
}

void stream_info_read(const int *fds, int count, struct stream_info *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < count; i++) {
		struct tcp_info info = {0};
		socklen_t length = sizeof(info);

		if (getsockopt(fds[i], IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
			length = 0;
		for (size_t item = 0; item < TABLE_ITEMS; item++)
			ret->items[item] = join(items[item].combine, ret->items[item],
				read_item(&info, length, item), i == 0);
		/* A bit beside the window scales; told together with the delivery rate. */
		bool told = ret->items[INFO_DELIVERY_BYTES] != INFO_UNKNOWN;

		ret->items[INFO_APP_LIMITED] = join(SUM, ret->items[INFO_APP_LIMITED],
			told ? info.tcpi_delivery_rate_app_limited : INFO_UNKNOWN, i == 0);
	}
	for (size_t item = 0; item < TABLE_ITEMS; item++) {
		if (items[item].combine == MEAN && ret->items[item] != INFO_UNKNOWN && count > 0)
			ret->items[item] /= count;
	}
	/* An empty minimum filter says so with all ones. */
	if (ret->items[INFO_MIN_RTT_US] == UINT32_MAX)
		ret->items[INFO_MIN_RTT_US] = INFO_UNKNOWN;
}
