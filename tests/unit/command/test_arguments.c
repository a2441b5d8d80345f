#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arguments.h"

#define WORDS_MAX 40

/* Parses a line of blank-separated words. */
static int parse(struct run_arguments *arguments, const struct argument_option *own,
	const char *line, struct error *err)
{
	static char copy[500];
	char *words[WORDS_MAX + 1] = {NULL}, *rest = NULL;
	int count = 0;

	*err = (struct error){0};
	assert_true(strlen(line) < sizeof(copy));
	memcpy(copy, line, strlen(line) + 1);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		assert_true(count < WORDS_MAX);
		words[count++] = word;
	}
	return arguments_parse(arguments, own, count, words, err);
}

static void test_defaults(void **state)
{
	struct run_arguments arguments;
	struct plan_filter filter;
	struct error err;

	(void)state;
	assert_int_equal(parse(&arguments, arguments_run, "run a.yaml", &err), 0);
	assert_string_equal(arguments.topology, "a.yaml");
	assert_int_equal(arguments.trials, 0);
	assert_int_equal(arguments.duration, 0);
	assert_string_equal(arguments.format, "table");
	assert_string_equal(arguments.label, "");
	assert_null(arguments.output);
	assert_false(arguments.quiet);
	assert_false(arguments.seed_given);
	assert_true(arguments.seed < 1000000);
	filter = arguments_filter(&arguments);
	assert_int_equal(filter.direction, TOPOLOGY_BOTH);
	assert_null(filter.segment);
	assert_int_equal(filter.test_count, 0);
	arguments_finish(&arguments);
}

static void test_every_option(void **state)
{
	struct run_arguments arguments;
	struct topology_overrides overrides;
	struct plan_filter filter;
	struct error err;

	(void)state;
	assert_int_equal(
		parse(&arguments, arguments_run,
			"run --trials 7 --duration=500ms --test tcp a.yaml --test voice --engine "
			"native --direction reverse --segment wlan --seed 42 --label night -o "
			"x.json "
			"--format json -q",
			&err),
		0);
	overrides = arguments_overrides(&arguments);
	filter = arguments_filter(&arguments);
	assert_string_equal(arguments.topology, "a.yaml");
	assert_int_equal(overrides.trials, 7);
	assert_int_equal(overrides.duration, 500);
	assert_int_equal(overrides.engine_count, 1);
	assert_string_equal(overrides.engines[0], "native");
	assert_int_equal(filter.test_count, 2);
	assert_string_equal(filter.tests[0], "tcp");
	assert_string_equal(filter.tests[1], "voice");
	assert_string_equal(filter.segment, "wlan");
	assert_int_equal(filter.direction, TOPOLOGY_REVERSE);
	assert_int_equal(filter.seed, 42);
	assert_string_equal(arguments.label, "night");
	assert_string_equal(arguments.output, "x.json");
	assert_string_equal(arguments.format, "json");
	assert_true(arguments.quiet);
	arguments_finish(&arguments);
}

static void test_times(void **state)
{
	static const struct {
		const char *line;
		int64_t ms;
	} cases[] = {
		{"run a --duration 10", 10000},
		{"run a --duration 0.5", 500},
		{"run a --duration 10s", 10000},
		{"run a --duration 250ms", 250},
		{"run a --duration 2min", 120000},
		{"run a --duration 1h", 3600000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run_arguments arguments;
		struct error err;

		assert_int_equal(parse(&arguments, arguments_run, cases[i].line, &err), 0);
		assert_int_equal(arguments.duration, cases[i].ms);
		arguments_finish(&arguments);
	}
}

static void test_bad_lines(void **state)
{
	static const struct {
		const char *line;
		enum error_code code;
		const char *says;
	} cases[] = {
		{"run", ERROR_USAGE, "which topology"},
		{"run a b", ERROR_USAGE, "too many: b"},
		{"run a -- b", ERROR_USAGE, "too many: b"},
		{"run a --trials 0", ERROR_USAGE, "--trials: \"0\""},
		{"run a --trials 1001", ERROR_USAGE, "from 1 to 1000"},
		{"run a --trials -3", ERROR_USAGE, "--trials: \"-3\""},
		{"run a --trials 3x", ERROR_USAGE, "--trials: \"3x\""},
		{"run a --trials 99999999999999999999", ERROR_USAGE, "--trials"},
		{"run a --seed 9007199254740992", ERROR_USAGE, "--seed"},
		{"run a --duration 0", ERROR_USAGE, "--duration"},
		{"run a --duration 1.2.3", ERROR_USAGE, "--duration"},
		{"run a --duration 3h", ERROR_USAGE, "--duration"},
		{"run a --duration inf", ERROR_USAGE, "--duration"},
		{"run a --duration -1", ERROR_USAGE, "--duration"},
		{"run a --duration 0x10", ERROR_USAGE, "--duration"},
		{"run a --duration 3601", ERROR_USAGE, "--duration"},
		{"run a --direction up", ERROR_USAGE, "--direction: \"up\""},
		{"run a --expect wlan", ERROR_USAGE, "KEY=VALUE"},
		{"run a --expect =wlan", ERROR_USAGE, "KEY=VALUE"},
		{"run a --seed", ERROR_USAGE, "--seed needs a value"},
		{"run a --quiet=3", ERROR_USAGE, "--quiet takes no value"},
		{"run a --trails=3", ERROR_USAGE, "--trails; did you mean --trials?"},
		{"run a --se 3", ERROR_USAGE, "2 options"},
		{"run a -x", ERROR_USAGE, "unknown option -x"},
		{"run a --all", ERROR_USAGE, "--all"},
		{"run a --until-decided", ERROR_UNBUILT, "not built yet"},
		{"run a --baseline old.json", ERROR_UNBUILT, "not built yet"},
		{"run a --expect link=wlan", ERROR_UNBUILT, "not built yet"},
		{"run a --segment wan --segment wlan", ERROR_UNBUILT, "not built yet"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run_arguments arguments;
		struct error err;

		assert_int_equal(parse(&arguments, arguments_run, cases[i].line, &err), -1);
		if (err.code != cases[i].code || !strstr(err.message, cases[i].says))
			fail_msg("%s: code %d, \"%s\"", cases[i].line, (int)err.code, err.message);
		arguments_finish(&arguments);
	}
}

static void test_plan_has_its_own(void **state)
{
	struct run_arguments arguments;
	struct error err;

	(void)state;
	assert_int_equal(parse(&arguments, arguments_plan, "plan a --all --trials 3", &err), 0);
	assert_true(arguments.all);
	arguments_finish(&arguments);
	assert_int_equal(parse(&arguments, arguments_plan, "plan a --label x", &err), -1);
	assert_int_equal(err.code, ERROR_USAGE);
	arguments_finish(&arguments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_every_option),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_plan_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
