/* Folders that do not take the agent, shells that lack tools, CPUs nobody built for; the real
 * agent. */
#include "hosts.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deadline.h"
#include "family.h"

static void assert_ready(const struct fleet *fleet, size_t host)
{
	if (!fleet_host_ready(fleet, host))
		fail_msg("%s: %s", fleet_host_error(fleet, host)->where,
			fleet_host_error(fleet, host)->message);
}

static void assert_says(const struct fleet *fleet, const char *text)
{
	assert_false(fleet_host_ready(fleet, 0));
	assert_string_equal(fleet_host_error(fleet, 0)->where, "box");
	if (!strstr(fleet_host_error(fleet, 0)->message, text))
		fail_msg("\"%s\" is not in: %s", text, fleet_host_error(fleet, 0)->message);
}

/* A host whose programs come from FOLDER/bin first. */
static struct topology_host *with_programs(struct hosts *hosts)
{
	struct topology_host *host = hosts_add(hosts, "box");

	hosts_shell("mkdir -p %s/bin", hosts->folder);
	host->transport = TOPOLOGY_EXEC;
	host->exec = calloc(2, sizeof(char *));
	host->exec[host->exec_count++] = strdup("env");
	assert_true(asprintf(&host->exec[host->exec_count++], "PATH=%s/bin:/usr/bin:/bin",
			    hosts->folder) > 0);
	return host;
}

static void free_script(struct hosts *hosts, const char *name, const char *text)
{
	free(hosts_script(hosts, name, text));
}

/* The agent's files in the folders that bootstrap falls back to, a name a line. free() it. */
static char *list_strays(void)
{
	FILE *list = popen("ls -d /tmp/.orch-agent-* /var/tmp/.orch-agent-* /run/.orch-agent-* "
			   "/dev/shm/.orch-agent-* 2>/dev/null",
		"r");
	char *text = NULL;
	size_t size = 0;

	assert_non_null(list);
	if (getdelim(&text, &size, '\0', list) < 0)
		text[0] = '\0';
	pclose(list);
	return text;
}

/*
 * What came since `before` must go. Another program's agent may be on its way just now, so each
 * file has as long as an unlink takes on a loaded machine.
 */
static void expect_no_strays_since(const char *before)
{
	char *now = list_strays(), *rest = NULL;
	int64_t deadline = deadline_now() + 5000;

	for (char *name = strtok_r(now, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
		while (!strstr(before, name) && access(name, F_OK) == 0) {
			assert_true(deadline_now() < deadline);
			poll(NULL, 0, 10);
		}
	}
	free(now);
}

static void expect_ready(struct hosts *hosts)
{
	char *before = list_strays();
	struct fleet *fleet = hosts_start(hosts, 0);

	assert_ready(fleet, 0);
	assert_int_equal(hosts_count_files(hosts->upload), 0);
	fleet_free(fleet);
	assert_int_equal(hosts_count_files(hosts->upload), 0);
	expect_no_strays_since(before);
	free(before);
}

static void families_are_read_from_elf_headers(void **state)
{
	/* class, data, machine as in the headers of Debian's and OpenWrt's programs */
	static const struct {
		unsigned char class, data, machine[2];
		const char *family;
	} cases[] = {
		{2, 1, {62, 0}, "x86_64"}, {1, 1, {3, 0}, "i386"}, {1, 1, {40, 0}, "armel"},
		{2, 1, {183, 0}, "aarch64"}, {1, 1, {8, 0}, "mipsel"}, {1, 2, {0, 8}, "mips"},
		{2, 1, {243, 0}, "riscv64"}, {1, 2, {0, 40}, NULL}, /* big-endian ARM */
		{2, 2, {0, 22}, NULL},                              /* s390x */
		{2, 1, {8, 0}, NULL},                               /* mips64el */
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char header[FAMILY_HEADER_SIZE] = {0x7f, 'E', 'L', 'F'};
		const char *family;

		header[4] = cases[i].class;
		header[5] = cases[i].data;
		header[18] = cases[i].machine[0];
		header[19] = cases[i].machine[1];
		family = family_of(header, text, sizeof(text));
		if (cases[i].family)
			assert_string_equal(family, cases[i].family);
		else
			assert_null(family);
	}
}

static void a_family_without_an_agent_is_named(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;

	(void)state;
	hosts_init(&hosts);
	with_programs(&hosts);
	free_script(&hosts, "bin/head",
		"#!/bin/sh\nprintf '\\177ELF\\1\\2\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\10'; "
		"exec /usr/bin/head -c 100 /dev/zero\n");
	fleet = hosts_start(&hosts, 0);
	assert_says(fleet, "its CPU family is mips, and there is no orch-agent-mips");
	fleet_free(fleet);
	free_script(&hosts, "bin/head",
		"#!/bin/sh\nprintf '\\177ELF\\2\\2\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\26'; "
		"exec /usr/bin/head -c 100 /dev/zero\n");
	fleet = hosts_start(&hosts, 0);
	assert_says(fleet, "ELF machine 22, 64-bit, big endian");
	fleet_free(fleet);
	assert_int_equal(hosts_count_files(hosts.upload), 0);
	hosts_finish(&hosts);
}

/* Busybox ash and tools alone, as on a router. */
static void busybox_is_enough(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	if (access("/bin/busybox", X_OK) < 0)
		skip();
	hosts_init(&hosts);
	host = with_programs(&hosts);
	hosts_shell("for t in sh cat head chmod rm ls echo; do ln -s /bin/busybox %s/bin/$t; done",
		hosts.folder);
	free(host->exec[1]);
	assert_true(asprintf(&host->exec[1], "PATH=%s/bin", hosts.folder) > 0);
	expect_ready(&hosts);
	/* and without head -c: stored by cat first, then run */
	hosts_shell("rm %s/bin/head", hosts.folder);
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void a_missing_folder_is_passed_over(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	hosts_init(&hosts);
	host = hosts_add(&hosts, "box");
	free(host->tmp);
	host->tmp = strdup("/test-remote no such 'folder'");
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void odd_folder_names_are_taken_literally(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	hosts_init(&hosts);
	host = hosts_add(&hosts, "box");
	free(host->tmp);
	assert_true(asprintf(&host->tmp, "%s/it's $(oops) `x` \"here\"!", hosts.folder) > 0);
	assert_int_equal(mkdir(host->tmp, 0755), 0);
	expect_ready(&hosts);
	assert_int_equal(hosts_count_files(host->tmp), 0);
	hosts_finish(&hosts);
}

/* Mounts a tmpfs over the upload folder; the test is skipped where that is not allowed. */
static bool mount_upload(struct hosts *hosts, unsigned long flags, const char *options)
{
	hosts_init(hosts);
	hosts_add(hosts, "box");
	if (mount("test-remote", hosts->upload, "tmpfs", flags, options) == 0)
		return true;
	hosts_finish(hosts);
	return false;
}

static void folder_is_passed_over(unsigned long flags, const char *options)
{
	struct hosts hosts;

	if (!mount_upload(&hosts, flags, options))
		skip();
	expect_ready(&hosts);
	assert_int_equal(umount(hosts.upload), 0);
	hosts_finish(&hosts);
}

static void noexec_is_passed_over(void **state)
{
	(void)state;
	folder_is_passed_over(MS_NOEXEC, "");
}

static void read_only_is_passed_over(void **state)
{
	(void)state;
	folder_is_passed_over(MS_RDONLY, "");
}

static void a_full_disk_is_passed_over(void **state)
{
	(void)state;
	folder_is_passed_over(0, "size=8k");
}

/* A shell whose test -x does not see a noexec mount: the start itself gives 126. */
static void noexec_that_shows_only_at_the_start(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	if (!mount_upload(&hosts, MS_NOEXEC, ""))
		skip();
	host = &hosts.list[0];
	host->transport = TOPOLOGY_EXEC;
	host->exec = calloc(1, sizeof(char *));
	host->exec[host->exec_count++] = hosts_script(&hosts, "blind",
		"#!/bin/sh\nexec sh -c \"$(printf %s \"$3\" | sed 's/\\[ -x [^]]*\\]/true/')\"\n");
	expect_ready(&hosts);
	assert_int_equal(umount(hosts.upload), 0);
	hosts_finish(&hosts);
}

/* Every folder full or closed: each is named with its reason. */
static void no_folder_at_all_is_explained(void **state)
{
	struct hosts hosts;
	struct topology_host *host;
	struct fleet *fleet;

	(void)state;
	hosts_init(&hosts);
	host = hosts_add(&hosts, "box");
	host->transport = TOPOLOGY_EXEC;
	host->exec = calloc(1, sizeof(char *));
	host->exec[host->exec_count++] = hosts_script(&hosts, "closed",
		"#!/bin/sh\nexec sh -c \"$(printf %s \"$3\" | sed 's/(set -C[^)]*)/false/')\"\n");
	fleet = hosts_start(&hosts, 0);
	assert_says(fleet, "no folder takes the agent");
	assert_says(fleet, "/dev/shm: not writable");
	assert_says(fleet, "\"tmp:\"");
	fleet_free(fleet);
	hosts_finish(&hosts);
}

/* Its script removes what it wrote when its input ends, so that must end before it is killed. */
static void an_upload_that_takes_too_long_is_cleaned_up(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;

	(void)state;
	hosts_init(&hosts);
	with_programs(&hosts);
	free_script(&hosts, "bin/head",
		"#!/bin/sh\n[ \"$2\" -gt 64 ] || exec /usr/bin/head \"$@\"\n"
		"echo began >${0%/*}/began; exec cat >/dev/null\n");
	fleet = hosts_start(&hosts, 3000);
	assert_says(fleet, "not ready in time: still uploading");
	hosts_shell("test -s %s/bin/began", hosts.folder);
	assert_int_equal(hosts_count_files(hosts.upload), 0);
	fleet_free(fleet);
	hosts_finish(&hosts);
}

/* The agent that this build made, if it has one for this machine. */
static void the_real_agent_greets_and_answers(void **state)
{
	struct fleet_settings settings = {.agent_folder = getenv("AGENT_FOLDER")};
	struct hosts hosts;
	struct fleet *fleet;
	struct error err = {0};
	struct ask *ask;
	int64_t begin;
	int result;

	(void)state;
	hosts_init(&hosts);
	for (int i = 0; i < 3; i++)
		hosts_add(&hosts, i == 0 ? "a" : i == 1 ? "b" : "c");
	begin = fleet_now();
	fleet = fleet_create(&hosts.topology, &settings, &err);
	assert_non_null(fleet);
	assert_int_equal(fleet_start(fleet, &err), 0);
	printf("three real agents ready in %d ms\n", (int)(fleet_now() - begin));
	for (size_t i = 0; i < 3; i++)
		assert_ready(fleet, i);
	assert_true(fleet_host_facts(fleet, 0)->cpus >= 1);
	assert_true(fleet_host_facts(fleet, 0)->boot_id[0] != '\0');
	assert_string_equal(
		fleet_host_facts(fleet, 0)->boot_id, fleet_host_facts(fleet, 2)->boot_id);
	assert_int_equal(hosts_count_files(hosts.upload), 0); /* it unlinks itself */
	ask = hosts_ask(fleet, 1, "no_such_request", 5000, &result, &err);
	assert_true(ask->done && !ask->ok);
	assert_string_equal(ask->final->type, "unknown");
	ask_free(ask);
	fleet_free(fleet);
	assert_int_equal(hosts_count_processes(hosts.upload), 0);
	hosts_finish(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families_are_read_from_elf_headers),
		cmocka_unit_test(a_family_without_an_agent_is_named),
		cmocka_unit_test(busybox_is_enough),
		cmocka_unit_test(a_missing_folder_is_passed_over),
		cmocka_unit_test(odd_folder_names_are_taken_literally),
		cmocka_unit_test(noexec_is_passed_over),
		cmocka_unit_test(read_only_is_passed_over),
		cmocka_unit_test(a_full_disk_is_passed_over),
		cmocka_unit_test(noexec_that_shows_only_at_the_start),
		cmocka_unit_test(no_folder_at_all_is_explained),
		cmocka_unit_test(an_upload_that_takes_too_long_is_cleaned_up),
		cmocka_unit_test(the_real_agent_greets_and_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
