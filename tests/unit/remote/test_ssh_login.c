/* Who a host is and who may log in: host keys, user keys, the agent. With a real sshd. */
#include "ssh_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_wrong_host_key_is_refused(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "")->ssh.host_keys = TOPOLOGY_ACCEPT_NEW; /* not even then */
	ssh_server_forget_known(&hosts);
	ssh_server_know(&hosts, "router.test", "stranger");
	ssh_server_expect_refused(&hosts, 0, "is not the one in");
	hosts_shell("test $(wc -l <%s/known_hosts) = 1", hosts.folder);
	hosts_finish(&hosts);
}

static void an_unknown_host_key_is_refused_when_strict(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "");
	ssh_server_forget_known(&hosts);
	ssh_server_expect_refused(&hosts, 0, "is unknown");
	hosts_shell("test ! -e %s/known_hosts", hosts.folder);
	hosts_finish(&hosts);
}

static void accept_new_writes_the_key_once(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "")->ssh.host_keys = TOPOLOGY_ACCEPT_NEW;
	ssh_server_forget_known(&hosts);
	ssh_server_expect_ready(&hosts);
	ssh_server_expect_ready(&hosts);
	hosts_shell("test $(wc -l <%s/known_hosts) = 1", hosts.folder);
	hosts_shell("test $(stat -c %%a %s/known_hosts) = 600", hosts.folder);
	hosts_shell("ssh-keygen -F router.test -f %s/known_hosts >/dev/null", hosts.folder);
	hosts.list[0].ssh.host_keys = TOPOLOGY_STRICT;
	ssh_server_expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void off_looks_at_nothing(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "")->ssh.host_keys = TOPOLOGY_OFF;
	ssh_server_forget_known(&hosts);
	ssh_server_know(&hosts, "router.test", "stranger");
	ssh_server_expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void hashed_names_are_found(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "");
	hosts_shell("ssh-keygen -q -H -f %s/known_hosts 2>/dev/null; rm %s/known_hosts.old",
		hosts.folder, hosts.folder);
	hosts_shell("grep -q '^|1|' %s/known_hosts", hosts.folder);
	ssh_server_expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void names_with_a_port_hashed_and_plain(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "")->ssh.port = 2222;
	ssh_server_expect_refused(
		&hosts, 0, "is unknown"); /* port 22's entry is another server's */
	ssh_server_know(&hosts, "[router.test]:2222", "host_ed25519");
	ssh_server_expect_ready(&hosts);
	hosts_shell("ssh-keygen -q -H -f %s/known_hosts 2>/dev/null", hosts.folder);
	ssh_server_expect_ready(&hosts);
	hosts_finish(&hosts);
}

/* The default order of libssh2 would have the server show its ecdsa key. */
static void the_known_type_is_asked_for(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "");
	ssh_server_forget_known(&hosts);
	ssh_server_know(&hosts, "router.test", "host_ecdsa");
	ssh_server_expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void odd_lines_do_not_hide_the_key(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "");
	ssh_server_forget_known(&hosts);
	hosts_shell("printf '%%s\\n' '# comment' '' nonsense '|1|bad|bad ssh-ed25519 x' "
		    "'@cert-authority *.test ssh-rsa AAAA' >%s/known_hosts",
		hosts.folder);
	hosts_shell("{ printf 'a.b,!x.test,*.test '; cut -d' ' -f1,2 %s/host_ed25519.pub | "
		    "sed 's/$/\\r/'; } >>%s/known_hosts",
		hosts.folder, hosts.folder);
	ssh_server_expect_ready(&hosts);
	hosts_finish(&hosts);
}

static void a_revoked_key_is_refused(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "");
	ssh_server_know(&hosts, "@revoked *", "host_ed25519");
	ssh_server_expect_refused(&hosts, 0, "revoked");
	hosts_finish(&hosts);
}

static void a_key_the_host_does_not_know(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	host = ssh_server_one_host(&hosts, "");
	ssh_server_set(&host->ssh.identity, "%s/stranger", hosts.folder);
	ssh_server_expect_refused(
		&hosts, 0, "login as root at router.test port 22 refused: no usable key");
	hosts_finish(&hosts);
}

static void an_encrypted_key_without_agent(void **state)
{
	struct hosts hosts;

	(void)state;
	ssh_server_one_host(&hosts, "");
	hosts_shell("ssh-keygen -q -p -P '' -N secret -f %s/key >/dev/null", hosts.folder);
	ssh_server_expect_refused(&hosts, 0, "passphrase");
	hosts_finish(&hosts);
}

static void an_identity_that_is_not_there(void **state)
{
	struct hosts hosts;
	struct topology_host *host;

	(void)state;
	host = ssh_server_one_host(&hosts, "");
	ssh_server_set(&host->ssh.identity, "%s/nowhere", hosts.folder);
	ssh_server_expect_refused(&hosts, 0, "cannot read the identity");
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
	host = ssh_server_one_host(&hosts, "MaxAuthTries 6");
	free(host->ssh.identity);
	host->ssh.identity = NULL;
	setenv("HOME", hosts.folder, 1);
	unsetenv("SSH_AUTH_SOCK");
	hosts_shell("mkdir -m 700 %s/.ssh", hosts.folder);
	ssh_server_expect_refused(&hosts, 0, "tried none");

	hosts_shell("cp %s/key %s/.ssh/id_ed25519", hosts.folder, hosts.folder);
	ssh_server_expect_ready(&hosts);

	/* The agent holds it, encrypted on disk, after seven keys of strangers: too many to try. */
	snprintf(socket, sizeof(socket), "%s/agent", hosts.folder);
	setenv("SSH_AUTH_SOCK", socket, 1);
	hosts_shell("rm %s/.ssh/id_ed25519; ssh-agent -a %s | sed -n "
		    "'s/^SSH_AGENT_PID=\\([0-9]*\\).*/\\1/p' >%s/agent_pid",
		hosts.folder, socket, hosts.folder);
	hosts_shell("ssh-add -q %s/key 2>/dev/null", hosts.folder);
	ssh_server_expect_ready(&hosts);
	hosts_shell("ssh-add -q -D 2>/dev/null; cd %s; for i in 1 2 3 4 5 6 7; do "
		    "ssh-keygen -q -t ed25519 -N '' -f s$i; ssh-add -q s$i 2>/dev/null; done; "
		    "ssh-add -q key 2>/dev/null",
		hosts.folder);
	ssh_server_expect_refused(&hosts, 0, "3 more of the agent's");
	hosts_shell("ssh-keygen -q -p -P '' -N secret -f %s/key >/dev/null", hosts.folder);
	ssh_server_set(&host->ssh.identity, "%s/key", hosts.folder);
	ssh_server_expect_ready(&hosts);
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
	ssh_server_one_host(&hosts, "PubkeyAuthentication no\nKbdInteractiveAuthentication yes");
	ssh_server_expect_refused(&hosts, 0, "it takes no keys, only");
	hosts_finish(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
	};

	ssh_server_require();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
