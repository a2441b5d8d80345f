#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct text_case {
	const char *text, *shown;
};

static void check_escapes(const struct text_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *shown = text_escape(cases[i].text);

		assert_string_equal(shown, cases[i].shown);
		free(shown);
	}
}

static void test_hostile_text(void **state)
{
	static const struct text_case cases[] = {
		{"router", "router"}, {"", ""}, {NULL, ""}, {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
		{"\033[31mred\033]0;title\007", "\\x1b[31mred\\x1b]0;title\\x07"},
		{"\177", "\\x7f"},
		{"\xc2\x9b"
		 "31m",
			"\\u{9b}31m"},             /* a one-character CSI */
		{"x\xe2\x80\xaey", "x\\u{202e}y"}, /* right-to-left override */
		{"\xd7\x90", "\\u{5d0}"},          /* a Hebrew letter */
		{"a\xe2\x80\x8b", "a\\u{200b}"},   /* zero width */
		{"e\xcc\x81", "e\\u{301}"},        /* combining */
		{"\xff\xfe", "\\xff\\xfe"},        /* not UTF-8 */
		{"\xe6\x97", "\\xe6\\x97"},        /* cut off */
		{"k\xc3\xbc"
		 "che",
			"k\xc3\xbc"
			"che"},                                           /* an umlaut is text */
		{"\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac"}, /* so is wide text */
	};

	(void)state;
	check_escapes(cases, sizeof(cases) / sizeof(*cases));
}

static void test_width(void **state)
{
	(void)state;
	assert_int_equal(text_width("router"), 6);
	assert_int_equal(text_width("\xe6\x97\xa5\xe6\x9c\xac"), 4);
	assert_int_equal(text_width("\033"), 4);
}

static void test_fit(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *fitted;
	} cases[] = {
		{"router", 6, "router"},
		{"router1", 6, "rou..."},
		{"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, "\xe6\x97\xa5..."},
		{"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 6, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"},
		{"router", 2, ".."},
		{"router", 0, ""},
		{"\033\033", 6, "..."},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *fitted = text_fit(cases[i].text, cases[i].columns);

		assert_string_equal(fitted, cases[i].fitted);
		assert_true(text_width(fitted) <= cases[i].columns);
		free(fitted);
	}
}

static char *wrapped(const char *first, const char *rest, size_t columns, const char *text)
{
	char *result = NULL;
	size_t size;
	FILE *out = open_memstream(&result, &size);

	text_wrap(out, first, rest, columns, text);
	fclose(out);
	return result;
}

static void check_wrap(const char *text, size_t columns, const char *expected)
{
	char *result = wrapped("- ", "  ", columns, text);

	assert_string_equal(result, expected);
	free(result);
}

static void test_wrap(void **state)
{
	(void)state;
	check_wrap("one two three", 20, "- one two three\n");
	check_wrap("one two three", 15, "- one two three\n");
	check_wrap("one two three", 14, "- one two\n  three\n");
	check_wrap("unbreakable word", 6, "- unbreakable\n  word\n");
	check_wrap("a\nb", 20, "- a\n  b\n");
	check_wrap("a   b", 20, "- a b\n");
	check_wrap("", 20, "- \n");
	check_wrap("over 99.9 %. yes", 11, "- over\n  99.9 %.\n  yes\n");
	check_wrap("at 24.1 Mbit/s now", 12, "- at\n  24.1 Mbit/s\n  now\n");
	check_wrap("a sail", 5, "- a\n  sail\n");
	check_wrap("x\033y", 20, "- x\\x1by\n");
}

static void test_plain_locale(void **state)
{
	static const struct text_case cases[] = {
		{"k\xc3\xbc"
		 "che",
			"k\\xc3\\xbc"
			"che"},
		{"plain", "plain"},
	};

	(void)state;
	setlocale(LC_CTYPE, "C");
	check_escapes(cases, sizeof(cases) / sizeof(*cases));
	setlocale(LC_CTYPE, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_plain_locale),
	};

	if (!setlocale(LC_CTYPE, ""))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
