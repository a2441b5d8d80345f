/* What an asker counts, at times that the test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "echo_count.h"

#define ZERO INT64_C(7000000000)

static struct echo_count *make(size_t capacity, int64_t omit_us, int64_t interval_us)
{
	struct echo_count *count = calloc(1, sizeof(*count));

	assert_non_null(count);
	assert_int_equal(echo_count_init(count, capacity, 1000000, interval_us), 0);
	echo_count_begin(count, ZERO, omit_us);
	return count;
}

static void unmake(struct echo_count *count)
{
	echo_count_finish(count);
	free(count);
}

static void counts_each_answer_once(void **state)
{
	struct echo_count *count = make(8, 0, 0);
	uint64_t first = echo_count_ask(count, ZERO), second = echo_count_ask(count, ZERO + 100);

	(void)state;
	assert_int_equal(count->open, 2);
	assert_true(echo_count_answer(count, second, ZERO + 150));
	assert_false(echo_count_answer(count, second, ZERO + 160));
	assert_false(echo_count_answer(count, second + 1, ZERO + 160));
	assert_false(echo_count_answer(count, UINT64_MAX, ZERO + 160));
	assert_true(echo_count_answer(count, first, ZERO + 4000000));
	assert_int_equal(count->open, 0);
	assert_int_equal(count->parts[0].asked, 2);
	assert_int_equal(count->parts[0].times.total, 2);
	assert_int_equal(count->parts[0].min_us, 50);
	assert_int_equal(count->parts[0].times.max, 4000000);
	assert_int_equal(count->parts[0].sum_us, 4000050);
	unmake(count);
}

static void loses_what_is_too_late_or_too_old(void **state)
{
	struct echo_count *count = make(4, 0, 0);
	uint64_t late = echo_count_ask(count, ZERO);

	(void)state;
	assert_false(echo_count_answer(count, late, ZERO + ECHO_LATE_US + 1));
	for (int i = 0; i < 4; i++)
		echo_count_ask(count, ZERO + 10);
	/* Its place in the ring is another question's now. */
	assert_false(echo_count_answer(count, late, ZERO + 20));
	assert_int_equal(count->open, 4);
	assert_int_equal(count->parts[0].asked - (int64_t)count->parts[0].times.total, 5);
	unmake(count);
}

static void answers_belong_to_their_questions_part(void **state)
{
	struct echo_count *count = make(8, 1000, 0);
	uint64_t omitted = echo_count_ask(count, ZERO + 500);
	uint64_t idle = echo_count_ask(count, ZERO + 2000), loaded;

	(void)state;
	assert_true(echo_count_mark(count, ZERO + 3000));
	loaded = echo_count_ask(count, ZERO + 3000);
	assert_true(echo_count_answer(count, omitted, ZERO + 3500));
	assert_true(echo_count_answer(count, idle, ZERO + 3600));
	assert_true(echo_count_answer(count, loaded, ZERO + 3700));
	echo_count_end(count, ZERO + 5000);
	assert_int_equal(count->parts[0].asked, 1);
	assert_int_equal(count->parts[0].min_us, 1600);
	assert_int_equal(count->parts[0].begun_us, ZERO + 1000);
	assert_int_equal(count->parts[0].ended_us, ZERO + 3000);
	assert_int_equal(count->parts[1].asked, 1);
	assert_int_equal(count->parts[1].min_us, 700);
	assert_int_equal(count->parts[1].ended_us, ZERO + 5000);
	for (size_t i = 2; i < ECHO_PARTS_MAX; i++)
		assert_true(echo_count_mark(count, ZERO + 6000));
	assert_false(echo_count_mark(count, ZERO + 6000));
	unmake(count);
}

static void tells_intervals(void **state)
{
	struct echo_count *count = make(8, 0, 250000);
	uint64_t lost = echo_count_ask(count, ZERO + 1), late = echo_count_ask(count, ZERO + 2);

	(void)state;
	(void)lost;
	echo_count_answer(count, late, ZERO + 300002);
	echo_count_answer(count, echo_count_ask(count, ZERO + 900000), ZERO + 900040);
	echo_count_end(count, ZERO + 1000000);
	assert_int_equal(echo_count_intervals(count), 4);
	/* Asked in the first, one of them answered; that answer came in the second. */
	assert_int_equal(count->intervals[0].asked, 2);
	assert_int_equal(count->intervals[0].answered, 1);
	assert_int_equal(count->intervals[0].count, 0);
	assert_int_equal(count->intervals[1].count, 1);
	assert_int_equal(count->intervals[1].max_us, 300000);
	assert_int_equal(count->intervals[2].count, 0);
	assert_int_equal(count->intervals[3].count, 1);
	assert_int_equal(count->intervals[3].p50_us, 40);
	unmake(count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_each_answer_once),
		cmocka_unit_test(loses_what_is_too_late_or_too_old),
		cmocka_unit_test(answers_belong_to_their_questions_part),
		cmocka_unit_test(tells_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
