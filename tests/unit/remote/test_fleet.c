/* Hosts reached by exec and local, with an agent that answers, dies or is hostile. */
#include "hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent_file.h"

static void assert_ready(const struct fleet *fleet, size_t host)
{
	if (!fleet_host_ready(fleet, host))
		fail_msg("%s: %s", fleet_host_error(fleet, host)->where,
			fleet_host_error(fleet, host)->message);
}

static void assert_says(const struct error *err, const char *host, const char *text)
{
	assert_string_equal(err->where, host);
	if (!strstr(err->message, text))
		fail_msg("\"%s\" is not in: %s", text, err->message);
}

static void three_hosts_get_ready(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	int64_t begin;

	(void)state;
	hosts_init(&hosts);
	hosts_add(&hosts, "pc1");
	hosts_add(&hosts, "router");
	hosts_add(&hosts, "pc2");
	begin = fleet_now();
	fleet = hosts_start(&hosts, 0);
	printf("three local hosts ready in %d ms\n", (int)(fleet_now() - begin));
	for (size_t i = 0; i < 3; i++) {
		assert_ready(fleet, i);
		assert_string_equal(fleet_host_facts(fleet, i)->arch, "x86_64");
	}
	assert_int_equal(hosts_count_files(hosts.upload), 0);
	assert_int_equal(hosts_count_processes(hosts.upload), 6); /* each with its shell */
	fleet_free(fleet);
	assert_int_equal(hosts_count_processes(hosts.upload), 0);
	hosts_finish(&hosts);
}

static void exec_appends_the_command(void **state)
{
	struct hosts hosts;
	struct topology_host *host;
	struct fleet *fleet;

	(void)state;
	hosts_init(&hosts);
	host = hosts_add(&hosts, "box");
	host->transport = TOPOLOGY_EXEC;
	host->exec = calloc(1, sizeof(char *));
	host->exec[host->exec_count++] = strdup("env");
	fleet = hosts_start(&hosts, 0);
	assert_ready(fleet, 0);
	fleet_free(fleet);
	hosts_finish(&hosts);
}

static void a_missing_program_is_named(void **state)
{
	struct hosts hosts;
	struct topology_host *host;
	struct fleet *fleet;

	(void)state;
	hosts_init(&hosts);
	host = hosts_add(&hosts, "box");
	host->transport = TOPOLOGY_EXEC;
	host->exec = calloc(1, sizeof(char *));
	host->exec[host->exec_count++] = strdup("test-no-such-program");
	hosts_add(&hosts, "other");
	fleet = hosts_start(&hosts, 0);
	assert_false(fleet_host_ready(fleet, 0));
	assert_says(fleet_host_error(fleet, 0), "box", "test-no-such-program");
	assert_ready(fleet, 1); /* one dead host does not end the others */
	fleet_free(fleet);
	hosts_finish(&hosts);
}

static void answers_come_back(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	struct error err = {0};
	struct ask *ask;
	int result;

	(void)state;
	hosts_init(&hosts);
	hosts_add(&hosts, "pc1");
	fleet = hosts_start(&hosts, 0);
	assert_ready(fleet, 0);

	ask = hosts_ask(fleet, 0, "ping", 5000, &result, &err);
	assert_int_equal(result, 0);
	assert_true(ask->done && ask->ok);
	ask_free(ask);

	ask = hosts_ask(fleet, 0, "fail", 5000, &result, &err);
	assert_int_equal(result, 0);
	assert_true(ask->done && !ask->ok);
	assert_says(&ask->error, "pc1", "cannot bind: Address in use");
	assert_string_equal(wire_record_text(ask->final, "code"), "setup");
	ask_free(ask);

	ask = hosts_ask(fleet, 0, "nonsense", 5000, &result, &err);
	assert_true(ask->done && !ask->ok);
	assert_says(&ask->error, "pc1", "nonsense");
	ask_free(ask);
	fleet_free(fleet);
	hosts_finish(&hosts);
}

static void a_late_answer_is_a_trial_error(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	struct error err = {0};
	struct ask *ask;
	int result;

	(void)state;
	hosts_init(&hosts);
	hosts_add(&hosts, "pc1");
	fleet = hosts_start(&hosts, 0);
	ask = hosts_ask(fleet, 0, "silence", 200, &result, &err);
	assert_int_equal(result, -1);
	assert_int_equal(err.code, ERROR_TRIAL);
	assert_string_equal(err.where, "pc1");
	assert_int_equal(ask->record_count, 1);
	assert_string_equal(ask->records[0]->type, "started");
	assert_non_null(fleet_await_record(fleet, ask, "started", fleet_now() + 1000, &err));
	ask_free(ask); /* cancels it; the host goes on */
	ask = hosts_ask(fleet, 0, "ping", 5000, &result, &err);
	assert_true(ask->ok);
	ask_free(ask);
	fleet_free(fleet);
	hosts_finish(&hosts);
}

/* Sends a request that makes the agent end or misbehave; the host must be dropped saying why. */
static void drops_host(const char *request, const char *reason)
{
	struct hosts hosts;
	struct fleet *fleet;
	struct error err = {0};
	struct ask *ask;
	int result;

	hosts_init(&hosts);
	hosts_add(&hosts, "pc1");
	hosts_add(&hosts, "pc2");
	fleet = hosts_start(&hosts, 0);
	assert_ready(fleet, 0);
	ask = hosts_ask(fleet, 0, request, 20000, &result, &err);
	assert_int_equal(result, 0);
	assert_true(ask->done && !ask->ok);
	assert_int_equal(ask->error.code, ERROR_HOST);
	assert_says(&ask->error, "pc1", reason);
	assert_null(ask->final);
	ask_free(ask);
	assert_false(fleet_host_ready(fleet, 0));
	assert_null(hosts_ask(fleet, 0, "ping", 1000, &result, &err));
	assert_says(&err, "pc1", reason);
	assert_ready(fleet, 1);
	fleet_free(fleet);
	assert_int_equal(hosts_count_processes(hosts.upload), 0);
	hosts_finish(&hosts);
}

static void a_dying_agent_is_quoted(void **state)
{
	(void)state;
	drops_host("die", "status 3: the cause of death");
}

static void a_killed_agent_is_named(void **state)
{
	(void)state;
	drops_host("suicide", "signal 9");
}

static void strangers_are_dropped(void **state)
{
	(void)state;
	drops_host("stranger", "nobody made");
}

static void garbage_is_dropped(void **state)
{
	(void)state;
	drops_host("garbage", "no record");
}

static void endless_lines_are_dropped(void **state)
{
	(void)state;
	drops_host("endless", "without end");
}

static void floods_are_dropped_in_bounded_memory(void **state)
{
	struct rusage usage;

	(void)state;
	drops_host("flood", "more than");
	getrusage(RUSAGE_SELF, &usage);
#ifndef __SANITIZE_ADDRESS__
	assert_true(usage.ru_maxrss < 100 * 1024);
#endif
}

static void not_ready(const char *mode, const char *reason)
{
	struct hosts hosts;
	struct topology_host *host;
	struct fleet *fleet;

	hosts_init(&hosts);
	host = hosts_add(&hosts, "pc1");
	host->agent = hosts_agent(&hosts, mode);
	fleet = hosts_start(&hosts, 3000);
	assert_false(fleet_host_ready(fleet, 0));
	assert_says(fleet_host_error(fleet, 0), "pc1", reason);
	fleet_free(fleet);
	hosts_finish(&hosts);
}

static void another_version_is_refused(void **state)
{
	(void)state;
	not_ready("future", "version 2");
}

static void endless_noise_is_refused(void **state)
{
	(void)state;
	not_ready("noise", "64 KB");
}

static void an_installed_agent_is_started(void **state)
{
	struct hosts hosts;
	struct topology_host *host;
	struct fleet *fleet;

	(void)state;
	hosts_init(&hosts);
	host = hosts_add(&hosts, "pc1");
	host->agent = hosts_agent(&hosts, "");
	fleet = hosts_start(&hosts, 0);
	assert_ready(fleet, 0);
	fleet_free(fleet);
	assert_int_equal(access(host->agent, F_OK), 0); /* not ours to remove */
	hosts_finish(&hosts);
}

static void a_signal_interrupts(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	struct error err = {0};
	struct ask *ask;
	struct wire_writer writer;

	(void)state;
	hosts_init(&hosts);
	hosts_add(&hosts, "pc1");
	fleet = hosts_start(&hosts, 0);
	assert_int_equal(fleet_catch_signals(fleet, &err), 0);
	ask = fleet_ask(fleet, 0, "silence", &writer, &err);
	assert_int_equal(fleet_send(ask, &writer, &err), 0);
	assert_int_equal(kill(getpid(), SIGINT), 0);
	assert_int_equal(fleet_await(fleet, &ask, 1, fleet_now() + 10000, &err), -1);
	assert_int_equal(err.code, ERROR_INTERRUPTED);
	ask_free(ask);
	fleet_free(fleet);
	assert_int_equal(hosts_count_processes(hosts.upload), 0);
	hosts_finish(&hosts);
}

static void unneeded_and_passive_hosts_are_left_alone(void **state)
{
	const bool wanted[] = {true, false, true};
	struct fleet_settings settings = {.wanted = wanted};
	struct hosts hosts;
	struct fleet *fleet;
	struct error err = {0};

	(void)state;
	hosts_init(&hosts);
	hosts_add(&hosts, "pc1");
	hosts_add(&hosts, "spare");
	hosts_add(&hosts, "modem")->transport = TOPOLOGY_PASSIVE;
	settings.agent_folder = hosts.agents;
	fleet = fleet_create(&hosts.topology, &settings, &err);
	assert_non_null(fleet);
	assert_int_equal(fleet_start(fleet, &err), 0);
	assert_ready(fleet, 0);
	assert_false(fleet_host_ready(fleet, 1));
	assert_false(fleet_host_ready(fleet, 2));
	assert_non_null(strstr(fleet_host_error(fleet, 2)->message, "passive"));
	fleet_free(fleet);
	hosts_finish(&hosts);
}

/* Waits until folder and processes are clean, or says what was left. */
static void assert_clean(const struct hosts *hosts, int64_t wait_ms)
{
	int64_t until = fleet_now() + wait_ms;

	while (hosts_count_files(hosts->upload) || hosts_count_processes(hosts->upload)) {
		if (fleet_now() > until)
			fail_msg("left: %d files, %d processes", hosts_count_files(hosts->upload),
				hosts_count_processes(hosts->upload));
		usleep(20000);
	}
}

static void a_killed_client_leaves_nothing(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	struct error err;
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	hosts_init(&hosts);
	hosts_add(&hosts, "pc1");
	hosts_add(&hosts, "pc2");
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		fleet = hosts_start(&hosts, 0);
		if (!fleet_host_ready(fleet, 0) || write(ready[1], "r", 1) != 1)
			_exit(1);
		fleet_idle(fleet, fleet_now() + 60000, &err);
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(hosts_count_processes(hosts.upload), 4);
	assert_int_equal(kill(pid, SIGKILL), 0);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	assert_clean(&hosts, 5000);
	hosts_finish(&hosts);
}

/* The same while the file is on its way; it is padded, so that this takes a while. */
static void a_client_killed_in_the_upload_leaves_nothing(void **state)
{
	struct hosts hosts;
	pid_t pid;

	(void)state;
	hosts_init(&hosts);
	hosts_add(&hosts, "pc1");
	/* To a size, not by one: a sanitized stand-in must not become too large to be an agent. */
	hosts_shell("truncate -s %u '%s'/*", AGENT_FILE_MAX, hosts.agents);
	pid = fork();
	if (pid == 0) {
		hosts_start(&hosts, 60000);
		_exit(0); /* not reached in time */
	}
	while (hosts_count_files(hosts.upload) == 0)
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	waitpid(pid, NULL, 0);
	assert_clean(&hosts, 5000);
	hosts_finish(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_hosts_get_ready),
		cmocka_unit_test(exec_appends_the_command),
		cmocka_unit_test(a_missing_program_is_named),
		cmocka_unit_test(answers_come_back),
		cmocka_unit_test(a_late_answer_is_a_trial_error),
		cmocka_unit_test(a_dying_agent_is_quoted),
		cmocka_unit_test(a_killed_agent_is_named),
		cmocka_unit_test(strangers_are_dropped),
		cmocka_unit_test(garbage_is_dropped),
		cmocka_unit_test(endless_lines_are_dropped),
		cmocka_unit_test(floods_are_dropped_in_bounded_memory),
		cmocka_unit_test(another_version_is_refused),
		cmocka_unit_test(endless_noise_is_refused),
		cmocka_unit_test(an_installed_agent_is_started),
		cmocka_unit_test(a_signal_interrupts),
		cmocka_unit_test(unneeded_and_passive_hosts_are_left_alone),
		cmocka_unit_test(a_killed_client_leaves_nothing),
		cmocka_unit_test(a_client_killed_in_the_upload_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
