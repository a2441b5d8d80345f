/*
 * What an asker counts: questions, the answers' times, and what was never answered, by part (see
 * `mark` in docs/wire.md) and by interval. Every question belongs to the part and the interval in
 * which it was asked, however late its answer is; an interval's times are those of the answers that
 * came in it. All times are microseconds of the asker's clock.
 */
#ifndef ECHO_COUNT_H
#define ECHO_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"

enum {
	ECHO_PARTS_MAX = 4,
	ECHO_LATE_US = 5000000, /* an answer that takes longer is a lost one */
};

struct echo_part {
	struct histogram times;
	int64_t sum_us, min_us; /* of the answers' times; min_us only when there are some */
	int64_t asked;
	int64_t begun_us, ended_us;
};

struct echo_interval {
	int64_t asked, answered;       /* of the questions asked in it */
	int64_t count, p50_us, max_us; /* of the answers that came in it */
};

struct echo_question {
	int64_t asked_us;
	int32_t interval; /* -1: none */
	int8_t part;      /* -1: asked in the omitted time */
	bool open;
};

struct echo_count {
	struct echo_question *questions; /* ring, by number */
	size_t capacity;
	uint64_t next; /* number of the next question */
	size_t open;
	int64_t longest_us; /* of all answers; 0 before the first */
	int64_t zero_us, omit_us;
	struct echo_part parts[ECHO_PARTS_MAX];
	size_t part; /* the current one */
	int64_t interval_us;
	struct echo_interval *intervals;
	size_t interval_count, interval; /* room, and the current one */
	struct histogram current;
};

/*
 * capacity: how many questions may be open at once; older ones are lost. interval_us 0: none.
 * Returns 0 or -ENOMEM.
 */
int echo_count_init(
	struct echo_count *count, size_t capacity, int64_t duration_us, int64_t interval_us);
void echo_count_finish(struct echo_count *count);

/* Time 0. What is asked in the first omit_us counts in no part. */
void echo_count_begin(struct echo_count *count, int64_t now_us, int64_t omit_us);

/* Notes a question and returns its number. */
uint64_t echo_count_ask(struct echo_count *count, int64_t now_us);

/* False for an answer to no open question: doubled, invented, or too late. */
bool echo_count_answer(struct echo_count *count, uint64_t number, int64_t now_us);

/* The next part begins; false when there were too many. */
bool echo_count_mark(struct echo_count *count, int64_t now_us);

/* All is over: nothing was asked after ended_us, and nothing more is to come. */
void echo_count_end(struct echo_count *count, int64_t ended_us);

/* How many intervals have begun. */
size_t echo_count_intervals(const struct echo_count *count);

#endif
