#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above it */
#include <cmocka.h>
#include <string.h>

#include "lab_tool.h"

static void test_missing_tool_names_its_package(void **state)
{
	struct error err = {0};
	char path[64];

	(void)state;
	assert_null(lab_tool_find("no-such-tool", path, sizeof(path), &err));
	assert_int_equal(err.code, ERROR_LAB);
	assert_non_null(strstr(err.message, "apt-get install no-such-tool"));
}

static void test_status_and_words(void **state)
{
	const char *const good[] = {"sh", "-c", "read line; test \"$line\" = hello", NULL};
	const char *const bad[] = {"sh", "-c", "cat >&2; exit 3", NULL};
	const char *const deaf[] = {"sh", "-c", "exec 0<&-; echo too much >&2; exit 1", NULL};
	static char much[300000];
	struct error err = {0};

	(void)state;
	assert_int_equal(lab_tool_run(good, "hello\n", &err), 0);
	assert_int_equal(lab_tool_run(bad, "what is wrong\n", &err), -1);
	assert_non_null(strstr(err.message, "'sh' failed: what is wrong"));
	/* More input than a pipe holds, to one that does not read it. */
	memset(much, 'x', sizeof(much) - 1);
	assert_int_equal(lab_tool_run(deaf, much, &err), -1);
	assert_non_null(strstr(err.message, "too much"));
	/* And more output than is kept. */
	assert_int_equal(lab_tool_run(bad, much, &err), -1);
	assert_true(strlen(err.message) < sizeof(err.message));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_tool_names_its_package),
		cmocka_unit_test(test_status_and_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
