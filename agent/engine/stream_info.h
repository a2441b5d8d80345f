/* What the kernel's TCP_INFO tells of the sending end, summed up over the streams of a trial. */
#ifndef STREAM_INFO_H
#define STREAM_INFO_H

#include <stdint.h>

enum stream_info_item {
	INFO_RETRANSMITS,    /* segments so far, summed */
	INFO_RTT_US,         /* mean of the streams */
	INFO_MIN_RTT_US,     /* least */
	INFO_CWND,           /* segments, summed */
	INFO_DELIVERY_BYTES, /* a second, summed */
	INFO_BUSY_US,        /* so far, summed; as the two below */
	INFO_RWND_LIMITED_US,
	INFO_SNDBUF_LIMITED_US,
	INFO_REORDERING,  /* greatest */
	INFO_PATH_MTU,    /* least */
	INFO_BYTES_ACKED, /* so far, summed */
	INFO_BYTES_SENT,  /* so far, retransmissions included, summed */
	INFO_BYTES_RETRANSMITTED,
	INFO_APP_LIMITED, /* streams whose delivery rate was limited by us */
	INFO_ITEMS,
};

enum { INFO_UNKNOWN = -1 };

struct stream_info {
	int64_t items[INFO_ITEMS]; /* INFO_UNKNOWN where the kernel's struct is too short */
};

/* Asks each of the sockets. */
void stream_info_read(const int *fds, int count, struct stream_info *ret);

#endif
