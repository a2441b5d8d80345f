#include "echo_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int echo_count_init(
	struct echo_count *count, size_t capacity, int64_t duration_us, int64_t interval_us)
{
	memset(count, 0, sizeof(*count));
	count->capacity = capacity;
	count->questions = calloc(capacity, sizeof(*count->questions));
	count->interval_us = interval_us;
	if (interval_us > 0) {
		count->interval_count = (size_t)((duration_us + interval_us - 1) / interval_us);
		count->intervals = calloc(count->interval_count, sizeof(*count->intervals));
	}
	if (count->questions && (interval_us == 0 || count->intervals))
		return 0;
	echo_count_finish(count);
	return -ENOMEM;
}

void echo_count_finish(struct echo_count *count)
{
	free(count->questions);
	free(count->intervals);
	count->questions = NULL;
	count->intervals = NULL;
}

void echo_count_begin(struct echo_count *count, int64_t now_us, int64_t omit_us)
{
	count->zero_us = now_us;
	count->omit_us = omit_us;
	count->parts[0].begun_us = now_us + omit_us;
}

static void close_interval(struct echo_count *count)
{
	struct echo_interval *interval = &count->intervals[count->interval];

	interval->count = (int64_t)count->current.total;
	interval->p50_us = histogram_percentile(&count->current, 500);
	interval->max_us = count->current.max;
	histogram_clear(&count->current);
}

/* Stragglers after the last interval belong to it. */
static void move_on(struct echo_count *count, int64_t now_us)
{
	while (count->interval_us > 0 && count->interval + 1 < count->interval_count &&
		now_us - count->zero_us >= (int64_t)(count->interval + 1) * count->interval_us) {
		close_interval(count);
		count->interval++;
	}
}

uint64_t echo_count_ask(struct echo_count *count, int64_t now_us)
{
	struct echo_question *question = &count->questions[count->next % count->capacity];
	bool omitted = now_us < count->zero_us + count->omit_us;

	move_on(count, now_us);
	count->open += !question->open;
	*question = (struct echo_question){
		.asked_us = now_us,
		.interval = count->interval_us > 0 ? (int32_t)count->interval : -1,
		.part = (int8_t)(omitted ? -1 : (int)count->part),
		.open = true,
	};
	if (!omitted)
		count->parts[count->part].asked++;
	if (question->interval >= 0)
		count->intervals[question->interval].asked++;
	return count->next++;
}

static void add_time(struct echo_part *part, int64_t time_us)
{
	if (part->times.total == 0 || time_us < part->min_us)
		part->min_us = time_us;
	part->sum_us += time_us;
	histogram_add(&part->times, time_us);
}

bool echo_count_answer(struct echo_count *count, uint64_t number, int64_t now_us)
{
	struct echo_question *question = &count->questions[number % count->capacity];

	/* In the ring only the last `capacity` numbers are what they seem. */
	if (number >= count->next || count->next - number > count->capacity || !question->open)
		return false;
	int64_t time_us = now_us > question->asked_us ? now_us - question->asked_us : 0;

	if (time_us > ECHO_LATE_US)
		return false;
	move_on(count, now_us);
	question->open = false;
	count->open--;
	if (time_us > count->longest_us)
		count->longest_us = time_us;
	if (question->part >= 0)
		add_time(&count->parts[question->part], time_us);
	if (question->interval >= 0) {
		count->intervals[question->interval].answered++;
		histogram_add(&count->current, time_us);
	}
	return true;
}

bool echo_count_mark(struct echo_count *count, int64_t now_us)
{
	if (count->part + 1 == ECHO_PARTS_MAX)
		return false;
	count->parts[count->part].ended_us = now_us;
	count->part++;
	count->parts[count->part].begun_us = now_us;
	return true;
}

void echo_count_end(struct echo_count *count, int64_t ended_us)
{
	count->parts[count->part].ended_us = ended_us;
	if (count->interval_us > 0)
		close_interval(count);
}

size_t echo_count_intervals(const struct echo_count *count)
{
	return count->interval_us > 0 ? count->interval + 1 : 0;
}
