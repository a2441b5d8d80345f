#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "deadline.h"
#include "driven.h"

static void greets(void **state)
{
	struct driven agent;
	struct stat file;
	char hash[17];
	uint64_t expected = 0xcbf29ce484222325u;
	FILE *self = fopen(getenv("AGENT"), "r");

	(void)state;
	assert_non_null(self);
	for (int byte = fgetc(self); byte != EOF; byte = fgetc(self))
		expected = (expected ^ (uint64_t)byte) * 0x100000001b3u;
	fclose(self);
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)expected);
	assert_int_equal(stat(getenv("AGENT"), &file), 0);
	driven_start(&agent, NULL, NULL);
	assert_string_equal(driven_text(&agent, "magic"), "orch-agent");
	assert_int_equal(driven_number(&agent, "version"), WIRE_VERSION);
	assert_int_equal(driven_number(&agent, "size"), file.st_size);
	assert_string_equal(driven_text(&agent, "hash"), hash);
	driven_stop(&agent);
}

static void says_who_it_is(void **state)
{
	struct driven agent;
	struct utsname name;

	(void)state;
	uname(&name);
	driven_start(&agent, NULL, NULL);
	driven_say(&agent, "7 hello");
	driven_await(&agent, 7, "host");
	assert_string_equal(driven_text(&agent, "arch"), name.machine);
	assert_string_equal(driven_text(&agent, "kernel"), name.release);
	assert_int_equal(driven_number(&agent, "cpus"), sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(driven_number(&agent, "ticks"), sysconf(_SC_CLK_TCK));
	assert_int_equal(driven_number(&agent, "uid"), geteuid());
	assert_int_equal(strlen(driven_text(&agent, "boot_id")), 36);
	assert_true(driven_number(&agent, "memory_kb") > 0);
	assert_true(strlen(driven_text(&agent, "firmware")) > 0);
	driven_await(&agent, 7, "ok");
	driven_stop(&agent);
}

static void answers_what_it_does_not_know(void **state)
{
	struct driven agent;

	(void)state;
	driven_start(&agent, NULL, NULL);
	driven_say(&agent, "1 dance a=1");
	assert_true(driven_read(&agent));
	assert_string_equal(agent.record.type, "unknown");
	assert_string_equal(driven_text(&agent, "type"), "dance");
	driven_say(&agent, "garbage");
	driven_await(&agent, 0, "error");
	assert_string_equal(driven_text(&agent, "code"), "bad");
	driven_say(&agent, "0 ping");
	driven_await(&agent, 0, "error");
	driven_say(&agent, "2 ping a=1 a=2");
	driven_await(&agent, 0, "error");
	driven_say(&agent, "3 ping");
	driven_await(&agent, 3, "ok");
	driven_say(&agent, "4 bye");
	driven_await(&agent, 4, "ok");
	assert_int_equal(driven_exit(&agent), 0);
	driven_stop(&agent);
}

static void refuses_bad_requests(void **state)
{
	static const char *const bad[] = {"route", "route to=1.2.3 family=4",
		"route to=1.2.3.4 family=5", "route to=1.2.3.4 family=4 interface=nosuchif0",
		"spawn", "spawn deadline_ms=0 argc=1 arg0=true",
		"spawn deadline_ms=1 argc=2 arg0=a", "spawn deadline_ms=1 argc=1 arg0=a%00b",
		"spawn deadline_ms=1 argc=999 arg0=a", "cancel", "cancel target=x",
		"cancel target=99999999999", "evidence", "evidence op=stop", "evidence op=read",
		"evidence op=begin", "evidence op=begin delay_ms=-1",
		"evidence op=begin delay_ms=0 interfaces=../x",
		"evidence op=begin delay_ms=0 interfaces=a,,b",
		"evidence op=begin delay_ms=0 interfaces=an_interface_too_long", "listen",
		"connect"};
	struct driven agent;

	(void)state;
	driven_start(&agent, NULL, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		driven_say(&agent, "%zu %s", i + 1, bad[i]);
		assert_true(driven_read(&agent));
		if (strcmp(agent.record.type, "error") != 0 ||
			strcmp(driven_text(&agent, "code"), "bad") != 0)
			fail_msg("not refused: %s", bad[i]);
		assert_int_equal(agent.record.id, i + 1);
	}
	driven_stop(&agent);
}

static void ends_on_an_endless_line(void **state)
{
	static char line[WIRE_LINE_MAX + 1];
	struct driven agent;

	(void)state;
	memset(line, 'a', WIRE_LINE_MAX);
	driven_start(&agent, NULL, NULL);
	driven_say(&agent, "%s", line);
	driven_await(&agent, 0, "error");
	assert_int_equal(driven_exit(&agent), 1);
	driven_stop(&agent);
}

static void ends_when_nobody_speaks(void **state)
{
	struct driven agent;
	int64_t began = deadline_now();

	(void)state;
	driven_start(&agent, "--deadman", "1");
	assert_int_equal(driven_exit(&agent), 2);
	assert_in_range(deadline_now() - began, 1000, 5000);
	driven_stop(&agent);
}

static void refuses_bad_options(void **state)
{
	const char *const argv[] = {getenv("AGENT"), "--deadman", "soon", NULL};
	struct driven agent;

	(void)state;
	wire_reader_init(&agent.reader);
	assert_int_equal(child_start(argv, CHILD_PIPES, &agent.child), 0);
	assert_int_equal(driven_exit(&agent), 4);
	driven_stop(&agent);
}

static void unlinks_itself(void **state)
{
	char path[] = "/tmp/orch-test-agent-XXXXXX", command[600];
	int fd = mkstemp(path);
	struct driven agent;
	const char *const argv[] = {path, "--unlink", NULL};

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "cat '%s' > %s && chmod 700 %s", getenv("AGENT"), path,
		path);
	assert_int_equal(system(command), 0);
	wire_reader_init(&agent.reader);
	assert_int_equal(child_start(argv, CHILD_PIPES, &agent.child), 0);
	driven_await(&agent, 0, "hello");
	assert_true(driven_number(&agent, "size") > 0);
	assert_int_equal(access(path, F_OK), -1);
	driven_stop(&agent);
}

static void runs_a_command(void **state)
{
	struct driven agent;

	(void)state;
	driven_start(&agent, NULL, NULL);
	driven_say(&agent, "5 spawn deadline_ms=10000 argc=3 arg0=sh arg1=-c "
			   "arg2=printf%%20%%22a%%5C%%5C0b%%22%%3Bexit%%203");
	driven_await(&agent, 5, "started");
	assert_true(driven_number(&agent, "pid") > 0);
	driven_await(&agent, 5, "out");
	assert_int_equal(driven_number(&agent, "stream"), 1);
	assert_int_equal(wire_record_field(&agent.record, "data")->length, 3);
	assert_memory_equal(driven_text(&agent, "data"), "a\0b", 3);
	driven_await(&agent, 5, "ok");
	assert_int_equal(driven_number(&agent, "status"), 3);
	assert_int_equal(driven_number(&agent, "signal"), 0);
	driven_say(&agent, "6 spawn deadline_ms=10000 argc=3 arg0=sh arg1=-c "
			   "arg2=echo%%20x%%3E%%262;kill%%20-TERM%%20$$");
	/* '$', '>' and '&' must be written as escapes. */
	driven_await(&agent, 0, "error");
	driven_say(&agent, "6 spawn deadline_ms=10000 argc=3 arg0=sh arg1=-c "
			   "arg2=echo%%20x%%3E%%262%%3Bkill%%20-TERM%%20%%24%%24");
	driven_await(&agent, 6, "out");
	assert_int_equal(driven_number(&agent, "stream"), 2);
	driven_await(&agent, 6, "ok");
	assert_int_equal(driven_number(&agent, "signal"), SIGTERM);
	driven_say(&agent, "7 spawn deadline_ms=10000 argc=1 arg0=/nonexistent");
	driven_await(&agent, 7, "error");
	assert_string_equal(driven_text(&agent, "code"), "setup");
	driven_stop(&agent);
}

static void bounds_a_command(void **state)
{
	struct driven agent;
	int64_t said = 0;

	(void)state;
	driven_start(&agent, NULL, NULL);
	driven_say(&agent, "5 spawn deadline_ms=300 argc=2 arg0=sleep arg1=300");
	driven_await(&agent, 5, "error");
	assert_string_equal(driven_text(&agent, "code"), "timeout");
	driven_say(&agent, "6 spawn deadline_ms=10000 argc=4 arg0=head arg1=-c arg2=1500000 "
			   "arg3=/dev/zero");
	driven_await(&agent, 6, "started");
	while (driven_read(&agent) && strcmp(agent.record.type, "out") == 0)
		said += (int64_t)wire_record_field(&agent.record, "data")->length;
	assert_string_equal(agent.record.type, "ok");
	assert_int_equal(said, 1 << 20);
	assert_int_equal(driven_number(&agent, "dropped"), 1500000 - (1 << 20));
	driven_say(&agent, "7 spawn deadline_ms=60000 argc=2 arg0=sleep arg1=300");
	driven_await(&agent, 7, "started");
	driven_say(&agent, "7 ping");
	driven_await(&agent, 0, "error");
	driven_say(&agent, "8 cancel target=7");
	driven_await(&agent, 7, "error");
	assert_string_equal(driven_text(&agent, "code"), "cancelled");
	driven_await(&agent, 8, "ok");
	driven_stop(&agent);
}

/* The input's end must kill the grandchild too: only it holds the fifo's other end. */
static void takes_its_children_along(void **state)
{
	char folder[] = "/tmp/orch-test-agent-XXXXXX", fifo[64];
	struct driven agent;
	char byte;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	int reader = open(fifo, O_RDONLY | O_NONBLOCK);

	driven_start(&agent, NULL, NULL);
	driven_say(&agent,
		"5 spawn deadline_ms=60000 argc=3 arg0=sh arg1=-c "
		"arg2=exec%%20%%3E%s%%3Bsleep%%20300%%26%%20echo%%20up%%3Bwait",
		fifo);
	struct pollfd wanted = {.fd = reader, .events = POLLIN};

	assert_int_equal(poll(&wanted, 1, DRIVEN_PATIENCE_MS), 1);
	while (read(reader, &byte, 1) == 1)
		continue;
	int64_t began = deadline_now();

	child_close_input(&agent.child);
	assert_int_equal(poll(&wanted, 1, 1000), 1);
	assert_int_equal(read(reader, &byte, 1), 0);
	assert_int_equal(driven_exit(&agent), 0);
	assert_true(deadline_now() - began < 1000);
	driven_stop(&agent);
	close(reader);
	unlink(fifo);
	rmdir(folder);
}

static void write_file(const char *root, const char *path, const char *text)
{
	char full[300], command[400];

	snprintf(full, sizeof(full), "%s%s", root, path);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", full);
	assert_int_equal(system(command), 0);
	FILE *file = fopen(full, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Counters that go on, wrap at 32 bits, or fall. */
static void tells_differences(void **state)
{
	char root[] = "/tmp/orch-test-agent-XXXXXX", command[64];
	struct driven agent;

	(void)state;
	assert_non_null(mkdtemp(root));
	write_file(root, "/proc/stat", "cpu 9 9 9 9\ncpu0 100 10 50 1000 30 1 2 3 0 0\nintr 5\n");
	write_file(root, "/proc/net/snmp",
		"Tcp: RetransSegs InErrs\nTcp: 4294967290 7\nUdp: InErrors\nUdp: 3\n");
	write_file(root, "/proc/net/softnet_stat",
		"00000001 fffffffe 00000001\n00000001 00000003 00000000\n");
	write_file(root, "/proc/self/cgroup", "4:cpu,cpuacct:/box\n");
	write_file(root, "/sys/fs/cgroup/cpu,cpuacct/box/cpu.stat",
		"nr_periods 10\nnr_throttled 2\nthrottled_time 5000000\n");
	write_file(root, "/sys/class/thermal/thermal_zone0/temp", "45000\n");
	driven_start(&agent, "--root", root);
	driven_say(&agent, "1 evidence op=begin delay_ms=0");
	driven_await(&agent, 1, "ok");
	write_file(root, "/proc/stat", "cpu 9 9 9 9\ncpu0 130 15 60 1100 25 1 4 3 0 0\nintr 5\n");
	write_file(root, "/proc/net/snmp",
		"Tcp: RetransSegs InErrs\nTcp: 4 7\nUdp: InErrors\nUdp: 5\n");
	write_file(root, "/proc/net/softnet_stat",
		"00000001 00000003 00000001\n00000001 00000004 00000002\n");
	write_file(root, "/sys/fs/cgroup/cpu,cpuacct/box/cpu.stat",
		"nr_periods 20\nnr_throttled 5\nthrottled_time 9000000\n");
	driven_say(&agent, "2 evidence op=end");
	driven_await(&agent, 2, "cpu");
	assert_int_equal(driven_number(&agent, "core"), 0);
	assert_int_equal(driven_number(&agent, "user"), 35);
	assert_int_equal(driven_number(&agent, "system"), 10);
	assert_int_equal(driven_number(&agent, "softirq"), 2);
	assert_int_equal(driven_number(&agent, "idle"), 100);
	assert_int_equal(driven_number(&agent, "iowait"), 0);
	driven_await(&agent, 2, "softnet");
	assert_int_equal(driven_number(&agent, "dropped"), 6);
	assert_int_equal(driven_number(&agent, "squeezed"), 2);
	driven_await(&agent, 2, "protocol");
	assert_string_equal(driven_text(&agent, "name"), "RetransSegs");
	assert_int_equal(driven_number(&agent, "delta"), 10);
	driven_await(&agent, 2, "throttle");
	assert_int_equal(driven_number(&agent, "periods"), 3);
	assert_int_equal(driven_number(&agent, "throttled_us"), 4000);
	driven_await(&agent, 2, "thermal");
	assert_int_equal(driven_number(&agent, "millidegrees"), 45000);
	driven_await(&agent, 2, "ok");
	driven_say(&agent, "3 evidence op=read");
	driven_await(&agent, 3, "error");
	driven_stop(&agent);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

/* With a delay, CPU times count from the second look: what came before it goes away. */
static void leaves_omitted_time_out(void **state)
{
	char root[] = "/tmp/orch-test-agent-XXXXXX", command[64];
	struct driven agent;
	int64_t user, window_us, deadline = deadline_now() + DRIVEN_PATIENCE_MS;
	uint32_t id = 2;

	(void)state;
	assert_non_null(mkdtemp(root));
	write_file(root, "/proc/stat", "cpu0 100 10 50 1000 30 1 2 3 0 0\n");
	driven_start(&agent, "--root", root);
	/* Long enough for the file to be changed within it on a busy machine. */
	driven_say(&agent, "1 evidence op=begin delay_ms=1500 interfaces=lo");
	driven_await(&agent, 1, "ok");
	write_file(root, "/proc/stat", "cpu0 170 10 50 1000 30 1 2 3 0 0\n");
	do {
		driven_say(&agent, "%u evidence op=read", id);
		driven_await(&agent, id, "cpu");
		user = driven_number(&agent, "user");
		assert_true(user == 70 || user == 0);
		driven_await(&agent, id, "ok");
		window_us = driven_number(&agent, "window_us");
		id++;
	} while (user != 0 && deadline_now() < deadline);
	assert_int_equal(user, 0);
	assert_true(window_us < 1500000);
	driven_stop(&agent);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void send_datagram(size_t size)
{
	static const char bytes[2000];
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	assert_int_equal(
		sendto(fd, bytes, size, 0, (struct sockaddr *)&address, length), (ssize_t)size);
	close(fd);
}

static void counts_the_interface(void **state)
{
	struct driven agent;
	bool seen = false;

	(void)state;
	driven_start(&agent, NULL, NULL);
	driven_say(&agent, "1 evidence op=begin delay_ms=0 interfaces=lo");
	driven_await(&agent, 1, "ok");
	send_datagram(1000);
	driven_say(&agent, "2 evidence op=end");
	for (driven_read(&agent); strcmp(agent.record.type, "ok") != 0; driven_read(&agent)) {
		if (strcmp(agent.record.type, "counters") != 0 ||
			strcmp(driven_text(&agent, "interface"), "lo") != 0)
			continue;
		seen = true;
		assert_true(driven_number(&agent, "tx_bytes") >= 1000);
		/* What loopback sends, it receives. */
		assert_int_equal(
			driven_number(&agent, "rx_bytes"), driven_number(&agent, "tx_bytes"));
		assert_int_equal(
			driven_number(&agent, "rx_packets"), driven_number(&agent, "tx_packets"));
	}
	assert_true(seen);
	driven_stop(&agent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(greets),
		cmocka_unit_test(says_who_it_is),
		cmocka_unit_test(answers_what_it_does_not_know),
		cmocka_unit_test(refuses_bad_requests),
		cmocka_unit_test(ends_on_an_endless_line),
		cmocka_unit_test(ends_when_nobody_speaks),
		cmocka_unit_test(refuses_bad_options),
		cmocka_unit_test(unlinks_itself),
		cmocka_unit_test(runs_a_command),
		cmocka_unit_test(bounds_a_command),
		cmocka_unit_test(takes_its_children_along),
		cmocka_unit_test(tells_differences),
		cmocka_unit_test(leaves_omitted_time_out),
		cmocka_unit_test(counts_the_interface),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
