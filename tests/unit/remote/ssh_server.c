#include "ssh_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SSHD "/usr/sbin/sshd"

void ssh_server_require(void)
{
	if (geteuid() != 0 || access(SSHD, X_OK) < 0 || access("/usr/bin/ssh-keygen", X_OK) < 0) {
		fprintf(stderr, "needs root, sshd and ssh-keygen\n");
		exit(77);
	}
}

void ssh_server_init(struct hosts *hosts, const char *configuration)
{
	FILE *file;
	char path[200];
	const char *folder = hosts->folder;

	hosts_shell("mkdir -p /run/sshd");
	hosts_shell("ssh-keygen -q -t ed25519 -N '' -f %s/host_ed25519", folder);
	hosts_shell("ssh-keygen -q -t ecdsa -N '' -f %s/host_ecdsa", folder);
	hosts_shell("ssh-keygen -q -t ed25519 -N '' -f %s/key", folder);
	hosts_shell("ssh-keygen -q -t ed25519 -N '' -f %s/stranger", folder);
	hosts_shell("cp %s/key.pub %s/authorized_keys", folder, folder);
	hosts_shell("mkdir %s/home", folder);
	snprintf(path, sizeof(path), "%s/sshd_config", folder);
	file = fopen(path, "we");
	assert_non_null(file);
	/* PAM would have libaudit ask the name server for "UNKNOWN", the peer of a socket pair. */
	fprintf(file,
		"%s\nHostKey %s/host_ed25519\nHostKey %s/host_ecdsa\nPidFile none\nUsePAM no\n"
		"StrictModes no\nAuthorizedKeysFile %s/authorized_keys\nPermitRootLogin yes\n"
		"PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
		"SetEnv HOME=%s/home\n",
		configuration, folder, folder, folder, folder);
	assert_int_equal(fclose(file), 0);
}

void ssh_server_set(char **place, const char *format, ...)
{
	va_list arguments;

	free(*place);
	va_start(arguments, format);
	assert_true(vasprintf(place, format, arguments) >= 0);
	va_end(arguments);
}

struct topology_host *ssh_server_add(struct hosts *hosts, const char *name)
{
	struct topology_host *host = hosts_add(hosts, name);
	const char *folder = hosts->folder;

	host->transport = TOPOLOGY_SSH;
	host->ssh.port = 22;
	ssh_server_set(&host->ssh.host, "%s.test", name);
	ssh_server_set(&host->ssh.user, "root");
	ssh_server_set(&host->ssh.identity, "%s/key", folder);
	ssh_server_set(&host->ssh.known_hosts, "%s/known_hosts", folder);
	ssh_server_set(&host->ssh.proxy_command, "exec " SSHD " -i -f %s/sshd_config", folder);
	hosts_shell("printf '%s.test ' >>%s/known_hosts; cut -d' ' -f1,2 %s/host_ed25519.pub "
		    ">>%s/known_hosts",
		name, folder, folder, folder);
	return host;
}

void ssh_server_assert_ready(const struct fleet *fleet, size_t host)
{
	if (!fleet_host_ready(fleet, host))
		fail_msg("%s: %s", fleet_host_error(fleet, host)->where,
			fleet_host_error(fleet, host)->message);
}

void ssh_server_assert_says(const struct error *err, const char *text)
{
	assert_int_equal(err->code, ERROR_HOST);
	if (!strstr(err->message, text))
		fail_msg("\"%s\" is not in: %s", text, err->message);
}

/* Waits until folder and processes are clean, or says what was left. */
void ssh_server_assert_clean(const struct hosts *hosts, int64_t wait_ms)
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
void ssh_server_expect_ready(struct hosts *hosts)
{
	struct fleet *fleet = hosts_start(hosts, 0);
	struct error err = {0};
	struct ask *ask;
	int result;

	ssh_server_assert_ready(fleet, 0);
	ask = hosts_ask(fleet, 0, "ping", 5000, &result, &err);
	assert_true(ask->done && ask->ok);
	ask_free(ask);
	fleet_free(fleet);
	ssh_server_assert_clean(hosts, 2000);
}

/* It does not, for this reason, which names the host. */
void ssh_server_expect_refused(struct hosts *hosts, int64_t connect_ms, const char *reason)
{
	struct fleet *fleet = hosts_start(hosts, connect_ms);

	assert_false(fleet_host_ready(fleet, 0));
	assert_string_equal(fleet_host_error(fleet, 0)->where, "router");
	ssh_server_assert_says(fleet_host_error(fleet, 0), reason);
	printf("    %s\n", fleet_host_error(fleet, 0)->message);
	fleet_free(fleet);
	ssh_server_assert_clean(hosts, 2000);
}

void ssh_server_know(const struct hosts *hosts, const char *name, const char *key)
{
	hosts_shell("{ printf '%s '; cut -d' ' -f1,2 %s/%s.pub; } >>%s/known_hosts", name,
		hosts->folder, key, hosts->folder);
}

struct topology_host *ssh_server_one_host(struct hosts *hosts, const char *configuration)
{
	hosts_init(hosts);
	ssh_server_init(hosts, configuration);
	return ssh_server_add(hosts, "router");
}

void ssh_server_forget_known(const struct hosts *hosts)
{
	hosts_shell("rm -f %s/known_hosts", hosts->folder);
}
