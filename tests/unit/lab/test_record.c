#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above it */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "lab_cgroup.h"
#include "lab_record.h"

static void test_names(void **state)
{
	char buffer[LAB_NAME_SIZE], other[LAB_NAME_SIZE];

	(void)state;
	assert_string_equal(lab_names_part("lab-home_1.2", buffer), "lab-home_1.2");
	assert_memory_equal(lab_names_part("a b", buffer), "a-b-", 4);
	assert_int_equal(strlen(buffer), 12);
	assert_string_not_equal(buffer, lab_names_part("a/b", other));
	lab_names_part("12345678901234567890123456789012345", buffer);
	assert_int_equal(strlen(buffer), 32 + 1 + 8);
	lab_names_part("12345678901234567890123456789012346", other);
	assert_string_not_equal(buffer, other);
	/* Nothing that a path would take for itself or its parent. */
	assert_memory_equal(lab_names_part("..", buffer), "-.-", 3);
	assert_int_equal(lab_names_part("", buffer)[0], '-');
	/* FNV-1a of "a", from its authors' test vectors. */
	assert_true(lab_names_hash("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
}

static void test_record_comes_back(void **state)
{
	struct lab_record record = {.fingerprint = UINT64_C(0xfedcba9876543210),
				  .ready = true,
				  .builder = {17, 18},
				  .owner = {19, UINT64_C(20000000000)}},
			  back;
	char *text;

	(void)state;
	lab_record_add(&record.namespaces, &record.namespace_count, "orch-home-pc1");
	lab_record_add(&record.namespaces, &record.namespace_count, "orch-home-pc2");
	lab_record_add(&record.cgroups, &record.cgroup_count, "/sys/fs/cgroup/cpu/orch-home-pc1");
	text = lab_record_format(&record);
	assert_non_null(text);
	assert_int_equal(lab_record_parse(text, &back), 0);
	assert_true(back.fingerprint == record.fingerprint && back.ready);
	assert_int_equal(back.builder.pid, 17);
	assert_true(back.owner.start == UINT64_C(20000000000));
	assert_int_equal(back.namespace_count, 2);
	assert_string_equal(back.namespaces[1], "orch-home-pc2");
	assert_int_equal(back.cgroup_count, 1);
	assert_string_equal(back.cgroups[0], "/sys/fs/cgroup/cpu/orch-home-pc1");
	lab_record_finish(&back);
	lab_record_finish(&record);
	free(text);
}

static void test_bad_records(void **state)
{
	static const char *const texts[] = {
		"",
		"orch-lab 2\n",
		"orch-lab 1",
		"orch-lab 1\nowner x\n",
		"orch-lab 1\nowner 12\n",
		"orch-lab 1\nowner -1 5\n",
		"orch-lab 1\nowner 12 34 56\n",
		"orch-lab 1\nbuilder 4294967296 1\n",
		"orch-lab 1\nbuilder 1 18446744073709551616\n",
		"orch-lab 1\nfingerprint xyz\n",
		"orch-lab 1\nready 2\n",
		"orch-lab 1\nready 1",
		"orch-lab 1\nnamespace mine\n",
		"orch-lab 1\nnamespace ../orch-x\n",
		"orch-lab 1\nnamespace orch-../x\n",
		"orch-lab 1\ncgroup /etc/orch-x\n",
		"orch-lab 1\ncgroup /sys/fs/cgroup/../orch-x\n",
		"orch-lab 1\ncgroup /sys/fs/cgroup/system.slice\n",
		"orch-lab 1\nwhat 1\n",
	};
	struct lab_record record;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!lab_record_parse(texts[i], &record))
			fail_msg("taken: %s", texts[i]);
}

static void test_processes_by_start(void **state)
{
	struct lab_process own = lab_record_process((int)getpid()), none = {0}, later;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_true(own.start > 0);
	assert_true(lab_record_alive(&own));
	later = own;
	later.start++;
	assert_false(lab_record_alive(&later));
	assert_false(lab_record_alive(&none));
	/* Ended but not reaped is dead: it will take nothing down any more. */
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(lab_record_process(pid).start == 0);
	waitpid(pid, NULL, 0);
}

static void test_cgroup_mounts(void **state)
{
	static const char version1[] =
		"proc /proc proc rw 0 0\n"
		"cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"
		"cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n";
	struct lab_cgroup_root root;
	struct error err = {0};

	(void)state;
	assert_int_equal(lab_cgroup_find(version1, &root, &err), 0);
	assert_string_equal(root.folder, "/sys/fs/cgroup/cpu,cpuacct");
	assert_false(root.version2);
	assert_int_equal(lab_cgroup_find("cgroup /c cgroup rw,cpuset 0 0", &root, &err), -1);
	assert_int_equal(err.code, ERROR_LAB);
	assert_int_equal(lab_cgroup_find("", &root, &err), -1);
	assert_int_equal(lab_cgroup_find("x\n\n  \n", &root, &err), -1);
}

static void test_quota(void **state)
{
	static const struct {
		double share;
		long quota, period;
	} rows[] = {
		{.05, 1000, 20000},
		{.5, 5000, 10000},
		{2, 20000, 10000},
		{.01, 1000, 100000},
		/* the kernel's least quota: more than was asked for */
		{.001, 1000, 100000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		long quota, period;

		lab_cgroup_quota(rows[i].share, &quota, &period);
		assert_int_equal(quota, rows[i].quota);
		assert_int_equal(period, rows[i].period);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_record_comes_back),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_processes_by_start),
		cmocka_unit_test(test_cgroup_mounts),
		cmocka_unit_test(test_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
