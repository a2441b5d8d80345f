/* How round trips are shown: of latency tests, and under load. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define TOPOLOGY                                                                                   \
	"{\"orch\":1,\"name\":\"home\",\"trials\":1,\"links\":["                                   \
	"{\"name\":\"wan\",\"a\":\"pc1\",\"b\":\"router\"},"                                       \
	"{\"name\":\"wlan\",\"a\":\"router\",\"b\":\"pc2\"}],"                                     \
	"\"path\":[\"pc1\",\"router\",\"pc2\"],"                                                   \
	"\"tests\":[{\"tcp\":{}},{\"latency\":{\"name\":\"ping\"}},"                               \
	"{\"latency\":{\"name\":\"syn\",\"transport\":\"connect\"}}]}"

#define LATENCY(test, ok)                                                                          \
	"{\"round\":1,\"segment\":\"wlan\",\"test\":\"" test "\",\"ok\":" ok ",\"latency\":{"      \
	"\"count\":500,\"lost\":3,\"min_us\":80,\"mean_us\":150,\"p50_us\":110,\"p90_us\":220,"    \
	"\"p99_us\":1900,\"p999_us\":12300,\"max_us\":45600,\"rate_per_second\":8123.4}}"

#define LOADED                                                                                     \
	"{\"round\":1,\"segment\":\"path\",\"test\":\"tcp\",\"throughput_bps\":24e6,"              \
	"\"latency_under_load\":["                                                                 \
	"{\"segment\":\"wan\",\"idle\":{\"p50_us\":100},"                                          \
	"\"loaded\":{\"p50_us\":300,\"p99_us\":900}},"                                             \
	"{\"segment\":\"wlan\",\"idle\":null,\"loaded\":null},"                                    \
	"{\"segment\":\"path\",\"idle\":{\"p50_us\":210},"                                         \
	"\"loaded\":{\"p50_us\":62300,\"p99_us\":98700}}]}"

static char *draw(const char *trials)
{
	const struct report_options options = {.columns = 80};
	struct error err = {0};
	char text[8192], *result = NULL;
	struct view *view;
	struct run *run;
	size_t size;
	FILE *out;

	snprintf(text, sizeof(text),
		"{\"format\":\"orch-run\",\"version\":1,\"name\":\"home\",\"topology\":" TOPOLOGY
		",\"trials\":[%s]}",
		trials);
	run = run_parse(text, strlen(text), "made by the test", &err);
	if (!run)
		fail_msg("%s: %s", err.where, err.message);
	view = view_create(run, &err);
	assert_non_null(view);
	out = open_memstream(&result, &size);
	assert_int_equal(report_table(view, &options, out, &err), 0);
	fclose(out);
	view_free(view);
	run_free(run);
	return result;
}

static void assert_says(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("\"%s\" is not in:\n%s", expected, text);
}

static void test_latency_table(void **state)
{
	char *text = draw(LATENCY("ping", "true") "," LATENCY("syn", "true"));

	(void)state;
	assert_says(text,
		"\nping by native, round trips in ms\n"
		"segment  from > to     n    p50    p90   p99  p99.9   max  lost  per s\n"
		"forward\n"
		" wlan    router > pc2  1  0.110  0.220  1.90   12.3  45.6     3   8123\n");
	assert_says(text, "\nsyn by native, time to connect in ms\n");
	assert_says(text, "  connects/s\n");
	/* No capacity, so no verdict and no rates. */
	assert_null(strstr(text, "goodput"));
	assert_null(strstr(text, "limits the path"));
	assert_null(strstr(text, "-- wlan"));
	free(text);
}

static void test_failed(void **state)
{
	char *text = draw(LATENCY("ping", "false"));

	(void)state;
	assert_says(text, " wlan    router > pc2  0    -    -    -      -    -     -      -\n");
	assert_says(text, "Failed trials: 1 of 1");
	free(text);
}

static void test_under_load(void **state)
{
	char *text = draw(LOADED);

	(void)state;
	assert_says(text, "\nlatency under load of the whole path, in ms\n"
			  "segment  n  idle p50  loaded p50  loaded p99\n"
			  "forward\n"
			  " wan     1     0.100       0.300       0.900\n"
			  " path    1     0.210        62.3        98.7\n");
	free(text);
	text = draw("{\"round\":1,\"segment\":\"path\",\"test\":\"tcp\",\"throughput_bps\":24e6}");
	assert_null(strstr(text, "under load"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency_table),
		cmocka_unit_test(test_failed),
		cmocka_unit_test(test_under_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
