#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nearest.h"

static const char *const words[] = {"run", "plan", "report", "resume", "compare", NULL};

static const char *find(const char *word)
{
	return nearest_find(word, words, sizeof(words) / sizeof(*words), sizeof(*words));
}

static void test_each_kind_of_slip(void **state)
{
	(void)state;
	assert_string_equal(find("repot"), "report");     /* left out */
	assert_string_equal(find("compaare"), "compare"); /* too much */
	assert_string_equal(find("resune"), "resume");    /* replaced */
	assert_string_equal(find("paln"), "plan");        /* swapped: one edit, not two */
	assert_string_equal(find("PLAN"), "plan");        /* case is no difference */
}

static void test_far_words_suggest_nothing(void **state)
{
	char longest[200];

	(void)state;
	memset(longest, 'p', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_null(find("xyz"));
	assert_null(find(""));
	assert_null(find("r"));
	assert_null(find(longest));
	assert_null(nearest_find("run", words, 0, sizeof(*words)));
}

static void test_names_in_a_table(void **state)
{
	static const struct {
		const char *name;
		int number;
	} rows[] = {{"forward", 1}, {"reverse", 2}};

	(void)state;
	assert_string_equal(nearest_find("revers", rows, 2, sizeof(*rows)), "reverse");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind_of_slip),
		cmocka_unit_test(test_far_words_suggest_nothing),
		cmocka_unit_test(test_names_in_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
