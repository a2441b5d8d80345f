/*
 * How much has to have come before a receiver is woken (SO_RCVLOWAT). A receiver that does not copy
 * is faster than any sender: without a mark it sleeps and is woken for every segment or two.
 */
#ifndef STREAM_MARK_H
#define STREAM_MARK_H

#include <stddef.h>
#include <stdint.h>

struct stream_mark {
	int fd, mark;
	int calls;
	size_t bytes; /* since at_us */
	int64_t at_us;
};

/* The first byte came: from now on the mark follows the rate. A recv may return EAGAIN. */
void stream_mark_begin(struct stream_mark *mark, int fd);

/* After each recv; got = 0 when nothing came in its time. */
void stream_mark_follow(struct stream_mark *mark, size_t got);

#endif
