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
	fprintf(file,
		"%s\nHostKey %s/host_ed25519\nHostKey %s/host_ecdsa\nPidFile none\nUsePAM yes\n"
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
