/* Hosts reached by SSH, with a real sshd: keys, host keys, odd shells, what is left behind. */
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void assert_ready(const struct fleet *fleet, size_t host)
{
	if (!fleet_host_ready(fleet, host))
		fail_msg("%s: %s", fleet_host_error(fleet, host)->where,
			fleet_host_error(fleet, host)->message);
}

static void assert_says(const struct error *err, const char *text)
{
	assert_int_equal(err->code, ERROR_HOST);
	if (!strstr(err->message, text))
		fail_msg("\"%s\" is not in: %s", text, err->message);
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

/* The one host becomes ready, and nothing stays behind. */
static void expect_ready(struct hosts *hosts)
{
	struct fleet *fleet = hosts_start(hosts, 0);
	struct error err = {0};
	struct ask *ask;
	int result;

	assert_ready(fleet, 0);
	ask = hosts_ask(fleet, 0, "ping", 5000, &result, &err);
	assert_true(ask->done && ask->ok);
	ask_free(ask);
	fleet_free(fleet);
	assert_clean(hosts, 2000);
}

/* It does not, for this reason, which names the host. */
static void expect_refused(struct hosts *hosts, int64_t connect_ms, const char *reason)
{
	struct fleet *fleet = hosts_start(hosts, connect_ms);

	assert_false(fleet_host_ready(fleet, 0));
	assert_string_equal(fleet_host_error(fleet, 0)->where, "router");
	assert_says(fleet_host_error(fleet, 0), reason);
	printf("    %s\n", fleet_host_error(fleet, 0)->message);
	fleet_free(fleet);
	assert_clean(hosts, 2000);
}

static void known_hosts_line(const struct hosts *hosts, const char *name, const char *key)
{
	hosts_shell("{ printf '%s '; cut -d' ' -f1,2 %s/%s.pub; } >>%s/known_hosts", name,
		hosts->folder, key, hosts->folder);
}

static struct topology_host *one_host(struct hosts *hosts, const char *configuration)
{
	hosts_init(hosts);
	ssh_server_init(hosts, configuration);
	return ssh_server_add(hosts, "router");
}

static void forget_known_hosts(const struct hosts *hosts)
{
	hosts_shell("rm -f %s/known_hosts", hosts->folder);
}

static void three_hosts_get_ready(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	int64_t begin;

	(void)state;
	one_host(&hosts, "");
	ssh_server_add(&hosts, "pc1");
	ssh_server_add(&hosts, "pc2");
	begin = fleet_now();
	fleet = hosts_start(&hosts, 0);
	printf("three ssh hosts ready in %d ms\n", (int)(fleet_now() - begin));
	for (size_t i = 0; i < 3; i++)
		assert_ready(fleet, i);
	assert_int_equal(hosts_count_files(hosts.upload), 0);
	fleet_free(fleet);
	assert_clean(&hosts, 2000);
	hosts_finish(&hosts);
}

static void a_wrong_host_key_is_refused(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "")->ssh.host_keys = TOPOLOGY_ACCEPT_NEW; /* not even then */
	forget_known_hosts(&hosts);
	known_hosts_line(&hosts, "router.test", "stranger");
	expect_refused(&hosts, 0, "is not the one in");
	hosts_shell("test $(wc -l <%s/known_hosts) = 1", hosts.folder);
	hosts_finish(&hosts);
}

static void an_unknown_host_key_is_refused_when_strict(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "");
	forget_known_hosts(&hosts);
	expect_refused(&hosts, 0, "is unknown");
	hosts_shell("test ! -e %s/known_hosts", hosts.folder);
	hosts_finish(&hosts);
}

static void accept_new_writes_the_key_once(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "")->ssh.host_keys = TOPOLOGY_ACCEPT_NEW;
	forget_known_hosts(&hosts);
	expect_ready(&hosts);
	expect_ready(&hosts);
	hosts_shell("test $(wc -l <%s/known_hosts) = 1", hosts.folder);
	hosts_shell("test $(stat -c %%a %s/known_hosts) = 600", hosts.folder);
	hosts_shell("ssh-keygen -F router.test -f %s/known_hosts >/dev/null", hosts.folder);
	hosts.list[0].ssh.host_keys = TOPOLOGY_STRICT;
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void off_looks_at_nothing(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "")->ssh.host_keys = TOPOLOGY_OFF;
	forget_known_hosts(&hosts);
	known_hosts_line(&hosts, "router.test", "stranger");
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void hashed_names_are_found(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "");
	hosts_shell("ssh-keygen -q -H -f %s/known_hosts 2>/dev/null; rm %s/known_hosts.old",
		hosts.folder, hosts.folder);
	hosts_shell("grep -q '^|1|' %s/known_hosts", hosts.folder);
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void names_with_a_port_hashed_and_plain(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "")->ssh.port = 2222;
	expect_refused(&hosts, 0, "is unknown"); /* port 22's entry is another server's */
	known_hosts_line(&hosts, "[router.test]:2222", "host_ed25519");
	expect_ready(&hosts);
	hosts_shell("ssh-keygen -q -H -f %s/known_hosts 2>/dev/null", hosts.folder);
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

/* The default order of libssh2 would have the server show its ecdsa key. */
static void the_known_type_is_asked_for(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "");
	forget_known_hosts(&hosts);
	known_hosts_line(&hosts, "router.test", "host_ecdsa");
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void odd_lines_do_not_hide_the_key(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "");
	forget_known_hosts(&hosts);
	hosts_shell("printf '%%s\\n' '# comment' '' nonsense '|1|bad|bad ssh-ed25519 x' "
		    "'@cert-authority *.test ssh-rsa AAAA' >%s/known_hosts",
		hosts.folder);
	hosts_shell("{ printf 'a.b,!x.test,*.test '; cut -d' ' -f1,2 %s/host_ed25519.pub | "
		    "sed 's/$/\\r/'; } >>%s/known_hosts",
		hosts.folder, hosts.folder);
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void a_revoked_key_is_refused(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "");
	known_hosts_line(&hosts, "@revoked *", "host_ed25519");
	expect_refused(&hosts, 0, "revoked");
	hosts_finish(&hosts);
}

static void a_key_the_host_does_not_know(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	host = one_host(&hosts, "");
	ssh_server_set(&host->ssh.identity, "%s/stranger", hosts.folder);
	expect_refused(&hosts, 0, "login as root at router.test port 22 refused: no usable key");
	hosts_finish(&hosts);
}

static void an_encrypted_key_without_agent(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "");
	hosts_shell("ssh-keygen -q -p -P '' -N secret -f %s/key >/dev/null", hosts.folder);
	expect_refused(&hosts, 0, "passphrase");
	hosts_finish(&hosts);
}

static void an_identity_that_is_not_there(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	host = one_host(&hosts, "");
	ssh_server_set(&host->ssh.identity, "%s/nowhere", hosts.folder);
	expect_refused(&hosts, 0, "cannot read the identity");
	hosts_finish(&hosts);
}

/* Default files and the agent, in a home folder of the test. */
static void default_keys_and_the_agent_are_tried(void **state)
{
	char *home = strdup(getenv("HOME") ? getenv("HOME") : "");
	struct hosts hosts;
	struct topology_host *host;
	char socket[200];

	(void)state;
	host = one_host(&hosts, "MaxAuthTries 6");
	free(host->ssh.identity);
	host->ssh.identity = NULL;
	setenv("HOME", hosts.folder, 1);
	unsetenv("SSH_AUTH_SOCK");
	hosts_shell("mkdir -m 700 %s/.ssh", hosts.folder);
	expect_refused(&hosts, 0, "tried none");

	hosts_shell("cp %s/key %s/.ssh/id_ed25519", hosts.folder, hosts.folder);
	expect_ready(&hosts);

	/* The agent holds it, encrypted on disk, after seven keys of strangers: too many to try. */
	snprintf(socket, sizeof(socket), "%s/agent", hosts.folder);
	setenv("SSH_AUTH_SOCK", socket, 1);
	hosts_shell("rm %s/.ssh/id_ed25519; ssh-agent -a %s | sed -n "
		    "'s/^SSH_AGENT_PID=\\([0-9]*\\).*/\\1/p' >%s/agent_pid",
		hosts.folder, socket, hosts.folder);
	hosts_shell("ssh-add -q %s/key 2>/dev/null", hosts.folder);
	expect_ready(&hosts);
	hosts_shell("ssh-add -q -D 2>/dev/null; cd %s; for i in 1 2 3 4 5 6 7; do "
		    "ssh-keygen -q -t ed25519 -N '' -f s$i; ssh-add -q s$i 2>/dev/null; done; "
		    "ssh-add -q key 2>/dev/null",
		hosts.folder);
	expect_refused(&hosts, 0, "3 more of the agent's");
	hosts_shell("ssh-keygen -q -p -P '' -N secret -f %s/key >/dev/null", hosts.folder);
	ssh_server_set(&host->ssh.identity, "%s/key", hosts.folder);
	expect_ready(&hosts);
	hosts_shell("kill $(cat %s/agent_pid)", hosts.folder);
	unsetenv("SSH_AUTH_SOCK");
	setenv("HOME", home, 1);
	free(home);
	hosts_finish(&hosts);
}

static void a_server_that_takes_no_keys(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "PubkeyAuthentication no\nKbdInteractiveAuthentication yes");
	expect_refused(&hosts, 0, "it takes no keys, only");
	hosts_finish(&hosts);
}

static void a_name_that_does_not_resolve(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	host = one_host(&hosts, "");
	free(host->ssh.proxy_command);
	host->ssh.proxy_command = NULL;
	ssh_server_set(&host->ssh.host, "no-such-host.invalid");
	expect_refused(&hosts, 8000, "no-such-host.invalid");
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
	host = one_host(&hosts, "");
	free(host->ssh.proxy_command);
	host->ssh.proxy_command = NULL;
	ssh_server_set(&host->ssh.host, "127.0.0.1");
	host->ssh.port = ntohs(address.sin_port);
	expect_refused(&hosts, 0, "Connection refused");
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
		host = one_host(&hosts, "");
		free(host->ssh.proxy_command);
		host->ssh.proxy_command = NULL;
		ssh_server_set(&host->ssh.host, "192.0.2.9");
		begin = fleet_now();
		fleet = hosts_start(&hosts, 700);
		assert_false(fleet_host_ready(fleet, 0));
		assert_true(fleet_now() - begin < 2500);
		assert_says(fleet_host_error(fleet, 0), "connecting to 192.0.2.9 port 22");
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

/* Dropbear, which drops a session closed in the wrong order. */
static void dropbear_is_spoken_to(void **state)
{
	struct hosts hosts;
	struct topology_host *host;
	const char *folder;

	(void)state;
	if (access("/usr/sbin/dropbear", X_OK) < 0)
		skip();
	host = one_host(&hosts, "");
	folder = hosts.folder;
	hosts_shell("dropbearkey -t ed25519 -f %s/dropbear_key >%s/dropbear_public 2>/dev/null",
		folder, folder);
	forget_known_hosts(&hosts);
	hosts_shell("{ printf 'router.test '; grep ^ssh-ed25519 %s/dropbear_public | "
		    "cut -d' ' -f1,2; } >%s/known_hosts",
		folder, folder);
	/* It reads ~/.ssh/authorized_keys of the account; a wrong login ends before that matters.
	 */
	ssh_server_set(&host->ssh.proxy_command,
		"exec /usr/sbin/dropbear -i -s -r %s/dropbear_key 2>/dev/null", folder);
	ssh_server_set(&host->ssh.identity, "%s/stranger", folder);
	expect_refused(&hosts, 0, "refused: no usable key");
	/* With the account's home replaced by one of the test, in a mount namespace of its own. */
	hosts_shell("mkdir -m 700 %s/account %s/account/.ssh; cp %s/authorized_keys "
		    "%s/account/.ssh/; chmod 600 %s/account/.ssh/authorized_keys",
		folder, folder, folder, folder, folder);
	ssh_server_set(&host->ssh.proxy_command,
		"exec unshare -m sh -c 'mount --bind %s/account /root && "
		"exec /usr/sbin/dropbear -i -s -r %s/dropbear_key' 2>/dev/null",
		folder, folder);
	ssh_server_set(&host->ssh.identity, "%s/key", folder);
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void a_proxy_command_that_fails_is_quoted(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	host = one_host(&hosts, "");
	ssh_server_set(&host->ssh.proxy_command, "echo no way through >&2; exit 1");
	expect_refused(&hosts, 0, "no way through");
	hosts_finish(&hosts);
}

static void a_silent_peer_ends_with_the_deadline(void **state)
{
	struct hosts hosts;
	struct topology_host *host;
	int64_t begin;

	(void)state;
	host = one_host(&hosts, "");
	ssh_server_set(&host->ssh.proxy_command, "exec sleep 20");
	begin = fleet_now();
	expect_refused(&hosts, 600, "shaking hands");
	assert_true(fleet_now() - begin < 3000);
	hosts_finish(&hosts);
}

static void a_noisy_shell_is_endured(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "ForceCommand echo welcome; printf 'no newline'; echo oops >&2; "
			 "eval \"$SSH_ORIGINAL_COMMAND\"");
	expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void a_shell_that_exits_at_once(void **state)
{
	struct hosts hosts;

	(void)state;
	one_host(&hosts, "ForceCommand echo this account is closed >&2; exit 7");
	expect_refused(&hosts, 0, "(status 7): \"this account is closed\"");
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
	one_host(&hosts, "");
	fleet = hosts_start(&hosts, 0);
	assert_ready(fleet, 0);
	ask = hosts_ask(fleet, 0, "suicide", 5000, &result, &err);
	assert_true(ask->done && !ask->ok);
	assert_says(&ask->error, "signal 9");
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
	one_host(&hosts, "");
	fleet = hosts_start(&hosts, 0);
	assert_ready(fleet, 0);
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
	assert_clean(&hosts, 5000);
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
	one_host(&hosts, "");
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
	assert_clean(&hosts, 5000);
	hosts_finish(&hosts);
}

static void a_client_killed_in_the_upload_leaves_nothing(void **state)
{
	struct hosts hosts;
	pid_t pid;

	(void)state;
	one_host(&hosts, "");
	hosts_shell("for f in %s/*; do head -c 7000000 /dev/zero >>\"$f\"; done", hosts.agents);
	pid = fork();
	if (pid == 0) {
		hosts_start(&hosts, 60000);
		_exit(0); /* not reached in time */
	}
	while (hosts_count_files(hosts.upload) == 0)
		;
	assert_int_equal(kill(pid, SIGKILL), 0);
	waitpid(pid, NULL, 0);
	assert_clean(&hosts, 5000);
	hosts_finish(&hosts);
}

/* All at one target: never more than two handshakes at once, and all come through. */
static void many_hosts_of_one_target_take_turns(void **state)
{
	struct hosts hosts;
	struct fleet *fleet;
	static const char *const names[] = {"router", "b", "c", "d", "e", "f", "g"};

	(void)state;
	one_host(&hosts, "");
	for (size_t i = 1; i < 7; i++) {
		struct topology_host *host = ssh_server_add(&hosts, names[i]);

		ssh_server_set(&host->ssh.host, "router.test");
	}
	fleet = hosts_start(&hosts, 0);
	for (size_t i = 0; i < 7; i++)
		assert_ready(fleet, i);
	fleet_free(fleet);
	assert_clean(&hosts, 2000);
	hosts_finish(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_hosts_get_ready),
		cmocka_unit_test(a_wrong_host_key_is_refused),
		cmocka_unit_test(an_unknown_host_key_is_refused_when_strict),
		cmocka_unit_test(accept_new_writes_the_key_once),
		cmocka_unit_test(off_looks_at_nothing),
		cmocka_unit_test(hashed_names_are_found),
		cmocka_unit_test(names_with_a_port_hashed_and_plain),
		cmocka_unit_test(the_known_type_is_asked_for),
		cmocka_unit_test(odd_lines_do_not_hide_the_key),
		cmocka_unit_test(a_revoked_key_is_refused),
		cmocka_unit_test(a_key_the_host_does_not_know),
		cmocka_unit_test(an_encrypted_key_without_agent),
		cmocka_unit_test(an_identity_that_is_not_there),
		cmocka_unit_test(default_keys_and_the_agent_are_tried),
		cmocka_unit_test(a_server_that_takes_no_keys),
		cmocka_unit_test(a_name_that_does_not_resolve),
		cmocka_unit_test(a_refused_port),
		cmocka_unit_test(an_unreachable_address_ends_with_the_deadline),
		cmocka_unit_test(dropbear_is_spoken_to),
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
