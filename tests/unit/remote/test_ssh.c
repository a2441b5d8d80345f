/* Hosts reached by SSH: the way there, odd servers and shells, what is left behind. */
#include "ssh_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent_file.h"

static void three_hosts_get_ready(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	int64_t begin;

	(void)state;
	ssh_server_one_host(&hosts, "");
	ssh_server_add(&hosts, "pc1");
	ssh_server_add(&hosts, "pc2");
	begin = fleet_now();
	fleet = hosts_start(&hosts, 0);
	printf("three ssh hosts ready in %d ms\n", (int)(fleet_now() - begin));
	for (size_t i = 0; i < 3; i++)
		ssh_server_assert_ready(fleet, i);
	assert_int_equal(hosts_count_files(hosts.upload), 0);
	fleet_free(fleet);
	ssh_server_assert_clean(&hosts, 2000);
	hosts_finish(&hosts);
}

static void a_name_that_does_not_resolve(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	host = ssh_server_one_host(&hosts, "");
	free(host->ssh.proxy_command);
	host->ssh.proxy_command = NULL;
	ssh_server_set(&host->ssh.host, "no-such-host.invalid");
	ssh_server_expect_refused(&hosts, 8000, "no-such-host.invalid");
	hosts_finish(&hosts);
}

static void a_refused_port(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	/* Bound but not listening: nobody else can have the port. */
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(held, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(held, (struct sockaddr *)&address, &size), 0);
	host = ssh_server_one_host(&hosts, "");
	free(host->ssh.proxy_command);
	host->ssh.proxy_command = NULL;
	ssh_server_set(&host->ssh.host, "127.0.0.1");
	host->ssh.port = ntohs(address.sin_port);
	ssh_server_expect_refused(&hosts, 0, "Connection refused");
	close(held);
	hosts_finish(&hosts);
}

/* An own network namespace, in which every packet is swallowed. */
static void an_unreachable_address_ends_with_the_deadline(void **state)
{
	struct hosts hosts;
	struct topology_host *host;
	struct fleet *fleet;
	int64_t begin;
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		if (unshare(CLONE_NEWNET) < 0)
			_exit(77);
		hosts_shell("ip link set lo up; ip link add hole type veth peer name end; ip link "
			    "set end up; ip link set hole up; "
			    "ip address add 192.0.2.1/24 dev hole; "
			    "ip neighbour add 192.0.2.9 lladdr 02:00:00:00:00:09 dev hole");
		host = ssh_server_one_host(&hosts, "");
		free(host->ssh.proxy_command);
		host->ssh.proxy_command = NULL;
		ssh_server_set(&host->ssh.host, "192.0.2.9");
		begin = fleet_now();
		fleet = hosts_start(&hosts, 700);
		assert_false(fleet_host_ready(fleet, 0));
		assert_true(fleet_now() - begin < 2500);
		ssh_server_assert_says(
			fleet_host_error(fleet, 0), "connecting to 192.0.2.9 port 22");
		fleet_free(fleet);
		hosts_finish(&hosts);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

/* Dropbear with a key of the test and, before the user's key, these options. */
static void with_dropbear(struct hosts *hosts, const char *options)
{
	const char *folder = hosts->folder;

	hosts_shell("dropbearkey -t ed25519 -f %s/dropbear_key >%s/dropbear_public 2>/dev/null",
		folder, folder);
	hosts_shell("{ printf 'router.test '; grep ^ssh-ed25519 %s/dropbear_public | "
		    "cut -d' ' -f1,2; } >%s/known_hosts",
		folder, folder);
	/* The account's home is replaced by one of the test, in an own mount namespace. */
	hosts_shell("mkdir -m 700 %s/account %s/account/.ssh; { printf '%%s' '%s'; cat "
		    "%s/authorized_keys; } >%s/account/.ssh/authorized_keys; "
		    "chmod 600 %s/account/.ssh/authorized_keys",
		folder, folder, options, folder, folder, folder);
	ssh_server_set(&hosts->list[0].ssh.proxy_command,
		"exec unshare -m sh -c 'mount --bind %s/account /root && "
		"exec /usr/sbin/dropbear -i -s -r %s/dropbear_key' 2>/dev/null",
		folder, folder);
}

static void dropbear_is_spoken_to(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	if (access("/usr/sbin/dropbear", X_OK) < 0)
		skip();
	host = ssh_server_one_host(&hosts, "");
	with_dropbear(&hosts, "");
	ssh_server_set(&host->ssh.identity, "%s/stranger", hosts.folder);
	ssh_server_expect_refused(&hosts, 0, "refused: no usable key");
	ssh_server_set(&host->ssh.identity, "%s/key", hosts.folder);
	ssh_server_expect_ready(&hosts);
	hosts_finish(&hosts);
}

/*
 * Dropbear takes a process's end for that of a channel that has no command yet, so the next channel
 * may be opened only when the last command is gone. This one outlives its first output.
 */
static void a_command_ends_before_the_next_begins(void **state)
{
	struct hosts hosts;
	char *script, options[300];

	(void)state;
	if (access("/usr/sbin/dropbear", X_OK) < 0)
		skip();
	ssh_server_one_host(&hosts, "");
	script = hosts_script(&hosts, "forced",
		"#!/bin/sh\nlog=${0%/*}/log\necho begin >>$log\n"
		"[ -e $log.first ] && eval \"$SSH_ORIGINAL_COMMAND\"\n: >$log.first\n"
		"cat /proc/self/exe\n"
		"for i in 1 2 3 4 5 6 7 8 9; do echo more; sleep 0.02; done\necho end >>$log\n");
	snprintf(options, sizeof(options), "command=\"exec %s\" ", script);
	with_dropbear(&hosts, options);
	ssh_server_expect_ready(&hosts);
	hosts_shell(
		"test \"$(head -n 3 %s/log | tr '\\n' ' ')\" = 'begin end begin '", hosts.folder);
	free(script);
	hosts_finish(&hosts);
}

/* More than the window, and than one turn of the loop takes. */
static void an_abandoned_flood_is_drained(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts,
		"ForceCommand case \"$SSH_ORIGINAL_COMMAND\" in *self/exe*) cat /proc/self/exe; "
		"head -c 3000000 /dev/zero;; *) eval \"$SSH_ORIGINAL_COMMAND\";; esac");
	ssh_server_expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void a_proxy_command_that_fails_is_quoted(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	host = ssh_server_one_host(&hosts, "");
	ssh_server_set(&host->ssh.proxy_command, "echo no way through >&2; exit 1");
	ssh_server_expect_refused(&hosts, 0, "no way through");
	hosts_finish(&hosts);
}

static void a_silent_peer_ends_with_the_deadline(void **state)
{
	struct hosts hosts;
	struct topology_host *host;
	int64_t begin;

	(void)state;
	host = ssh_server_one_host(&hosts, "");
	ssh_server_set(&host->ssh.proxy_command, "exec sleep 20");
	begin = fleet_now();
	ssh_server_expect_refused(&hosts, 600, "shaking hands");
	assert_true(fleet_now() - begin < 3000);
	hosts_finish(&hosts);
}

static void a_noisy_shell_is_endured(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts,
		"ForceCommand echo welcome; printf 'no newline'; echo oops >&2; "
		"eval \"$SSH_ORIGINAL_COMMAND\"");
	ssh_server_expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void a_shell_that_exits_at_once(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "ForceCommand echo this account is closed >&2; exit 7");
	ssh_server_expect_refused(&hosts, 0, "(status 7): \"this account is closed\"");
	hosts_finish(&hosts);
}

static void a_killed_agent_is_named(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	struct error err = {0};
	struct ask *ask;
	int result;

	(void)state;
	ssh_server_one_host(&hosts, "");
	fleet = hosts_start(&hosts, 0);
	ssh_server_assert_ready(fleet, 0);
	ask = hosts_ask(fleet, 0, "suicide", 5000, &result, &err);
	assert_true(ask->done && !ask->ok);
	ssh_server_assert_says(&ask->error, "signal 9");
	ask_free(ask);
	fleet_free(fleet);
	hosts_finish(&hosts);
}

static void a_dead_sshd_is_noticed(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	struct error err = {0};
	struct ask *ask;
	struct wire_writer writer;

	(void)state;
	ssh_server_one_host(&hosts, "");
	fleet = hosts_start(&hosts, 0);
	ssh_server_assert_ready(fleet, 0);
	ask = fleet_ask(fleet, 0, "silence", &writer, &err);
	assert_int_equal(fleet_send(ask, &writer, &err), 0);
	/* Its process group is the proxy command's, the child of this process. */
	hosts_shell("for p in $(cat /proc/%d/task/%d/children); do "
		    "[ $(cat /proc/$p/comm) = sshd ] && kill -9 $p; done; true",
		(int)getpid(), (int)getpid());
	assert_int_equal(fleet_await(fleet, &ask, 1, fleet_now() + 5000, &err), 0);
	assert_true(ask->done && !ask->ok);
	assert_int_equal(ask->error.code, ERROR_HOST);
	ask_free(ask);
	fleet_free(fleet);
	ssh_server_assert_clean(&hosts, 5000);
	hosts_finish(&hosts);
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
	ssh_server_one_host(&hosts, "");
	ssh_server_add(&hosts, "pc1");
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
	assert_true(hosts_count_processes(hosts.upload) >= 4);
	assert_int_equal(kill(pid, SIGKILL), 0);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	ssh_server_assert_clean(&hosts, 5000);
	hosts_finish(&hosts);
}

static void a_client_killed_in_the_upload_leaves_nothing(void **state)
{
	struct hosts hosts;
	pid_t pid;

	(void)state;
	ssh_server_one_host(&hosts, "");
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
	ssh_server_assert_clean(&hosts, 5000);
	hosts_finish(&hosts);
}

/* All at one target: never more than two handshakes at once, and all come through. */
static void many_hosts_of_one_target_take_turns(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	static const char *const names[] = {"router", "b", "c", "d", "e", "f", "g"};

	(void)state;
	ssh_server_one_host(&hosts, "");
	for (size_t i = 1; i < 7; i++) {
		struct topology_host *host = ssh_server_add(&hosts, names[i]);

		ssh_server_set(&host->ssh.host, "router.test");
	}
	fleet = hosts_start(&hosts, 0);
	for (size_t i = 0; i < 7; i++)
		ssh_server_assert_ready(fleet, i);
	fleet_free(fleet);
	ssh_server_assert_clean(&hosts, 2000);
	hosts_finish(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_hosts_get_ready),
		cmocka_unit_test(a_name_that_does_not_resolve),
		cmocka_unit_test(a_refused_port),
		cmocka_unit_test(an_unreachable_address_ends_with_the_deadline),
		cmocka_unit_test(dropbear_is_spoken_to),
		cmocka_unit_test(a_command_ends_before_the_next_begins),
		cmocka_unit_test(an_abandoned_flood_is_drained),
		cmocka_unit_test(a_proxy_command_that_fails_is_quoted),
		cmocka_unit_test(a_silent_peer_ends_with_the_deadline),
		cmocka_unit_test(a_noisy_shell_is_endured),
		cmocka_unit_test(a_shell_that_exits_at_once),
		cmocka_unit_test(a_killed_agent_is_named),
		cmocka_unit_test(a_dead_sshd_is_noticed),
		cmocka_unit_test(a_killed_client_leaves_nothing),
		cmocka_unit_test(a_client_killed_in_the_upload_leaves_nothing),
		cmocka_unit_test(many_hosts_of_one_target_take_turns),
	};

	ssh_server_require();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
