/* The table drawn from small runs, with verdicts made by hand: layout and words, not statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text.h"

#define RUN_SIZE 16384

/* Three rounds of two links and the path, both directions, written with these names. */
static struct run *make_run(const char *hosts, const char *link, const char *extra)
{
	static const char *const directions[] = {"forward", "reverse"};
	const char *const segments[] = {"wan", link, "path"};
	const double rates[] = {95.6e6, 24.1e6, 24.0e6};
	static char text[RUN_SIZE];
	size_t length;
	struct error err = {0};
	struct run *run;

	length = (size_t)snprintf(text, sizeof(text),
		"{\"format\":\"orch-run\",\"version\":1,\"name\":\"home\",\"complete\":true,"
		"\"started\":\"2026-01-01T00:00:00Z\",\"seed\":7,\"hosts\":{%s},\"topology\":{"
		"\"orch\":1,\"name\":\"home\",\"trials\":3,\"links\":["
		"{\"name\":\"wan\",\"a\":\"pc1\",\"b\":\"router\"},"
		"{\"name\":\"%s\",\"a\":\"router\",\"b\":\"pc2\"}],"
		"\"path\":[\"pc1\",\"router\",\"pc2\"]},\"trials\":[%s",
		hosts, link, extra);
	for (size_t i = 0; i < 18; i++) {
		size_t round = i / 6;

		length += (size_t)snprintf(text + length, sizeof(text) - length,
			"%s{\"round\":%zu,\"segment\":\"%s\",\"direction\":\"%s\","
			"\"throughput_bps\":%.0f,\"retransmits\":%zu,\"rtt_us\":730}",
			i ? "," : "", round + 1, segments[i % 3], directions[i / 3 % 2],
			rates[i % 3] + 1e5 * (double)round, round);
	}
	snprintf(text + length, sizeof(text) - length, "]}");
	run = run_parse(text, strlen(text), "made by the test", &err);
	if (!run)
		fail_msg("%s: %s", err.where, err.message);
	return run;
}

static char *draw(const struct view *view, bool colour, int columns)
{
	const struct report_options options = {.colour = colour, .columns = columns};
	struct error err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_table(view, &options, out, &err), 0);
	fclose(out);
	return text;
}

static void assert_says(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("\"%s\" is not in:\n%s", expected, text);
}

static void assert_fits(const char *text, size_t columns)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		if (text_width(line) > columns)
			fail_msg("wider than %zu columns: %s", columns, line);
		if (length)
			assert_int_not_equal(line[length - 1], ' ');
		free(line);
		text += length + (text[length] == '\n');
	}
}

/* Gives the forward group a verdict; what it points to must outlive the view. */
static void judge(struct view *view, const struct verdict *verdict)
{
	struct view_group *group = &view->groups[0];

	assert_int_equal(group->direction, TOPOLOGY_FORWARD);
	for (size_t i = 0; i < view->group_count; i++) {
		view->groups[i].verdict = NULL;
		for (size_t j = 0; j < view->groups[i].row_count; j++)
			view->groups[i].rows[j].blamed = false;
	}
	group->verdict = verdict;
	for (size_t i = 0; i < verdict->segment_count; i++) {
		for (size_t j = 0; j < group->row_count; j++)
			group->rows[j].blamed |=
				strcmp(group->rows[j].row->segment, verdict->segments[i]) == 0;
	}
}

static struct view *make_view(const struct run *run)
{
	struct error err = {0};
	struct view *view = view_create(run, &err);

	if (!view)
		fail_msg("%s: %s", err.where, err.message);
	return view;
}

static char wlan[] = "wlan", wan[] = "wan", router[] = "router";
static char *wlan_alone[] = {wlan}, *both_links[] = {wan, wlan}, *router_alone[] = {router};
static char reason[] = "wan carries at least 3.78 times as much as wlan in each of the three "
		       "rounds, which is far more than the 5 % margin";
static char *one_reason[] = {reason};

static void test_numbers_and_link(void **state)
{
	const struct verdict verdict = {
		.kind = VERDICT_LINK,
		.segments = wlan_alone,
		.segment_count = 1,
		.confidence = .9985,
		.grade = VERDICT_CONFIRMED,
		.qualifier = VERDICT_AGREES,
		.reasons = one_reason,
		.reason_count = 1,
	};
	struct run *run = make_run("", "wlan", "");
	struct view *view = make_view(run);
	char *text;

	(void)state;
	judge(view, &verdict);
	text = draw(view, false, 80);
	assert_fits(text, 80);
	assert_says(text, "home, 2026-01-01T00:00:00Z, 3 rounds, seed 7\n");
	assert_says(text, "\n wan     pc1 > router  3  95.7 ");
	assert_says(text, "\n wlan *  router > pc2  3  24.2 ");
	assert_says(text, "\nreverse\n wan     router > pc1  3  ");
	assert_says(text, "\n* named by the verdict\n");
	assert_says(text,
		"\nforward  pc1 -- wan 95.7 -> router == wlan 24.2 => pc2\n"
		"forward: wlan limits the path: 24.2 Mbit/s, confirmed, confidence 99.8 "
		"%.\n"
		"  Agrees: the path end to end carries as much (24.1 Mbit/s).\n"
		"  - wan carries at least 3.78 times as much as wlan in each of the three "
		"rounds,\n    which is far");
	assert_says(text, "\nreverse  pc1 <- wan 95.7 -- router <- wlan 24.2 -- pc2\n");
	assert_null(strchr(text, '\033'));
	free(text);
	view_free(view);
	run_free(run);
}

/* Where a line is broken is not what these cases are about. */
static void flatten(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		bool blank = *from == ' ' || *from == '\n';

		if (!blank || (to > text && to[-1] != ' '))
			*to++ = blank ? ' ' : *from;
	}
	*to = '\0';
}

static const struct {
	struct verdict verdict;
	const char *says;
} spoken[] = {
	{{.kind = VERDICT_TIE,
		 .segments = both_links,
		 .segment_count = 2,
		 .confidence = .97,
		 .grade = VERDICT_STATISTICAL},
		"wan and wlan limit the path alike: 95.7 Mbit/s, statistical, "
		"confidence 97.0 %."},
	{{.kind = VERDICT_FORWARDING,
		 .hosts = router_alone,
		 .host_count = 1,
		 .confidence = 1,
		 .grade = VERDICT_CONFIRMED},
		"forwarding at router limits the path: 24.1 Mbit/s end to "
		"end"},
	{{.kind = VERDICT_FORWARDING,
		 .hosts = router_alone,
		 .host_count = 1,
		 .confidence = 1,
		 .grade = VERDICT_CONFIRMED},
		"pc1 -- wan 95.7 -> [router] -- wlan 24.2 -> pc2"},
	{{.kind = VERDICT_SHARED_MEDIUM, .confidence = .99, .grade = VERDICT_STATISTICAL},
		"the links share one medium, which limits the path: 24.1 Mbit/s"},
	{{.kind = VERDICT_NONE_FOUND, .confidence = (double)NAN},
		"no bottleneck found: no segment is slower than the path, which carries "
		"24.1 Mbit/s."},
	{{.kind = VERDICT_HOST_CPU,
		 .hosts = router_alone,
		 .host_count = 1,
		 .confidence = (double)NAN,
		 .grade = VERDICT_SUSPECTED},
		"not limited by the network: the CPU of router is (24.1 Mbit/s), "
		"suspected."},
	{{.kind = VERDICT_WINDOW, .confidence = (double)NAN}, "the TCP window is"},
	{{.kind = VERDICT_APPLICATION, .confidence = (double)NAN},
		"the sender did not send all the time"},
	{{.kind = VERDICT_INCONCLUSIVE,
		 .confidence = (double)NAN,
		 .slowest_segment = wlan,
		 .rounds_needed = 23},
		"inconclusive: what limits the path is not settled; the slowest segment "
		"seen is wlan (24.2 Mbit/s). "
		"This should settle it: orch run TOPOLOGY --trials 23"},
	{{.kind = VERDICT_INCONCLUSIVE, .confidence = (double)NAN, .rounds_needed = -1},
		"More rounds will not settle it at this margin"},
};

static void test_every_verdict(void **state)
{
	struct run *run = make_run("", "wlan", "");
	struct view *view = make_view(run);

	(void)state;
	for (size_t i = 0; i < sizeof(spoken) / sizeof(*spoken); i++) {
		char *text;

		judge(view, &spoken[i].verdict);
		text = draw(view, false, 80);
		assert_fits(text, 80);
		flatten(text);
		assert_says(text, spoken[i].says);
		free(text);
	}
	view_free(view);
	run_free(run);
}

static void test_hosts(void **state)
{
	struct run *run = make_run("\"pc1\":{\"kernel\":\"Linux "
				   "6.1\",\"arch\":\"x86_64\",\"cpus\":2,\"boot_id\":\"a\"},"
				   "\"router\":{\"arch\":\"mips\",\"cpus\":1,\"firmware\":\"build "
				   "7\",\"boot_id\":\"b\"},"
				   "\"pc2\":{\"kernel\":\"Linux 6.1\",\"boot_id\":\"a\"}",
		"wlan", "");
	struct view *view = make_view(run);
	char *text = draw(view, false, 80);

	(void)state;
	assert_says(text, "  pc1: x86_64, Linux 6.1, 2 CPUs\n");
	assert_says(text, "  router: mips, 1 CPU, build 7\n");
	assert_says(text, "  pc2: unknown CPU, Linux 6.1\n");
	assert_says(text, "  pc1 and pc2 share one machine: CPU shares are the whole machine's.\n");
	free(text);
	view_free(view);
	run_free(run);
}

static void test_hosts_alike_are_said_once(void **state)
{
#define LAB_HOST(name) "\"" name "\":{\"kernel\":\"6.1.0\",\"arch\":\"x86_64\",\"boot_id\":\"a\"}"
	struct run *run =
		make_run(LAB_HOST("pc1") "," LAB_HOST("router") "," LAB_HOST("pc2"), "wlan", "");
	struct view *view = make_view(run);
	char *text = draw(view, false, 80);

	(void)state;
	assert_says(text, "  pc1, router and pc2: x86_64, Linux 6.1.0\n"
			  "  pc1, router and pc2 share one machine: CPU shares are the whole "
			  "machine's.\n");
	free(text);
	view_free(view);
	run_free(run);
}

static void test_failures_proof_and_notes(void **state)
{
	struct run *run = make_run("", "wlan",
		"{\"round\":4,\"segment\":\"wlan\",\"direction\":\"forward\",\"ok\":false,"
		"\"error\":\"pc2: connection refused\"},"
		"{\"round\":5,\"segment\":\"wlan\",\"direction\":\"forward\",\"ok\":false,"
		"\"error\":\"pc2: connection refused\"},"
		"{\"round\":4,\"segment\":\"wan\",\"direction\":\"forward\","
		"\"throughput_bps\":95e6,\"path_proof\":\"contradicted\","
		"\"proof\":\"pc1:eth1 carried the bytes\"},"
		"{\"round\":4,\"segment\":\"path\",\"direction\":\"forward\","
		"\"throughput_bps\":24e6,\"path_proof\":\"proved\",\"flags\":[\"cross_traffic\"]},"
		"{\"round\":5,\"segment\":\"path\",\"direction\":\"forward\","
		"\"throughput_bps\":24e6,\"path_proof\":\"not_observable\"},");
	struct view *view = make_view(run);
	char *text = draw(view, false, 80);

	(void)state;
	assert_fits(text, 80);
	assert_says(text, "3/5");
	assert_says(text, "Failed trials: 3 of 23, not counted above:\n");
	assert_says(text, "  2 x wlan forward: pc2: connection refused\n");
	assert_says(text, "  1 x wan forward: pc1:eth1 carried the bytes\n");
	assert_says(text,
		"Path proof: 1 of 20 valid trials proved by interface counters, 1 not "
		"observable,\n  18 without counters; 1 more took another way: not counted.\n");
	assert_says(text, "  path forward: cross traffic: an interface carried more than the "
			  "test's bytes\n      (1 of 5 trials)\n");
	assert_says(text, "  path forward: path not observable");
	free(text);
	view_free(view);
	run_free(run);
}

/* The topology refuses such names; what hosts and failed trials say reaches the report as it is. */
static void test_hostile_words(void **state)
{
	struct run *run = make_run(
		"\"pc1\":{\"kernel\":\"\\u001b[2Jx\",\"firmware\":\"a\\nb\\u202e\"}", "wlan",
		"{\"round\":4,\"segment\":\"wlan\",\"direction\":\"forward\",\"ok\":false,"
		"\"error\":\"\\u009b31mred\\rover\"},");
	struct view *view = make_view(run);
	char *text = draw(view, false, 80);

	(void)state;
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\r'));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_says(text, "\\x1b[2Jx");
	assert_says(text, "\\u{202e}");
	assert_says(text, "\\u{9b}31mred\\x0dover");
	free(text);
	view_free(view);
	run_free(run);
}

static void test_widths(void **state)
{
	static const int widths[] = {60, 80, 120, 200};
	struct run *run = make_run("", "a-link-with-a-name-that-goes-on-and-on-and-on", "");
	struct view *view = make_view(run);

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		char *text = draw(view, false, widths[i]);

		assert_fits(text, (size_t)widths[i]);
		assert_says(text, "a-link-with-a-nam...");
		free(text);
	}
	view_free(view);
	run_free(run);
}

static void test_colour_only_when_asked(void **state)
{
	const struct verdict verdict = {
		.kind = VERDICT_LINK,
		.segments = wlan_alone,
		.segment_count = 1,
		.confidence = .99,
		.grade = VERDICT_STATISTICAL,
	};
	struct run *run = make_run("", "wlan", "");
	struct view *view = make_view(run);
	char *text;

	(void)state;
	judge(view, &verdict);
	text = draw(view, true, 80);
	assert_says(text, "\033[1;31m== wlan 24.2 =>\033[0m");
	free(text);
	view_free(view);
	run_free(run);
}

static void test_formats(void **state)
{
	static const char *const unbuilt[] = {"markdown", "csv", "html", "junit", "openmetrics"};
	struct error err;

	(void)state;
	assert_non_null(report_find("table", &err));
	assert_non_null(report_find("json", &err));
	for (size_t i = 0; i < sizeof(unbuilt) / sizeof(*unbuilt); i++) {
		assert_null(report_find(unbuilt[i], &err));
		assert_int_equal(err.code, ERROR_UNBUILT);
		assert_says(err.message, "not built yet");
	}
	assert_null(report_find("tabel", &err));
	assert_int_equal(err.code, ERROR_USAGE);
	assert_says(err.message, "did you mean table?");
	assert_null(report_find("", &err));
	assert_int_equal(err.code, ERROR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_and_link),
		cmocka_unit_test(test_every_verdict),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_hosts_alike_are_said_once),
		cmocka_unit_test(test_failures_proof_and_notes),
		cmocka_unit_test(test_hostile_words),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_colour_only_when_asked),
		cmocka_unit_test(test_formats),
	};

	if (!setlocale(LC_CTYPE, ""))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
