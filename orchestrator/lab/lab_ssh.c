#include "lab_ssh.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab_names.h"
#include "lab_record.h"
#include "lab_tool.h"

#define SSH_PORT     22
#define PATH_SIZE    (LAB_FOLDER_SIZE + 32)
#define SSHD_RUNTIME "/run/sshd" /* sshd's own empty folder; Debian's service makes it */

/* UsePAM: without it sshd refuses a locked root. HOME is an empty folder because a slow shell
 * start file costs every command its time. */
static const char fixed_config[] = "PidFile none\n"
				   "UsePAM yes\n"
				   "StrictModes no\n"
				   "PermitRootLogin prohibit-password\n"
				   "PasswordAuthentication no\n"
				   "KbdInteractiveAuthentication no\n"
				   "UseDNS no\n"
				   "PrintMotd no\n"
				   "PrintLastLog no\n"
				   "X11Forwarding no\n"
				   "LogLevel ERROR\n";

static int write_failed(const char *path, struct error *err)
{
	return error_set(err, ERROR_LAB, "lab", "cannot write %s: %s", path, strerror(errno));
}

static int write_config(const char *folder, struct error *err)
{
	char path[PATH_SIZE];
	FILE *file;

	snprintf(path, sizeof(path), "%s/sshd_config", folder);
	file = fopen(path, "we");
	if (!file)
		return write_failed(path, err);
	fprintf(file, "HostKey %s/key\nAuthorizedKeysFile %s/key.pub\nSetEnv HOME=%s/home\n%s",
		folder, folder, folder, fixed_config);
	return fclose(file) ? write_failed(path, err) : 0;
}

static int read_public_key(const char *folder, char *line, size_t size, struct error *err)
{
	char path[PATH_SIZE];
	FILE *file;

	snprintf(path, sizeof(path), "%s/key.pub", folder);
	file = fopen(path, "re");
	if (!file || !fgets(line, (int)size, file)) {
		if (file)
			fclose(file);
		return error_set(
			err, ERROR_LAB, "lab", "cannot read %s: %s", path, strerror(errno));
	}
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

/* A line a host: libssh2 knows no wildcards. */
static int write_known_hosts(const struct topology *topology, const char *folder, struct error *err)
{
	char path[PATH_SIZE], key[512], name[2 * LAB_NAME_SIZE];
	FILE *file;

	if (read_public_key(folder, key, sizeof(key), err))
		return -1;
	snprintf(path, sizeof(path), "%s/known_hosts", folder);
	file = fopen(path, "we");
	if (!file)
		return write_failed(path, err);
	for (size_t i = 0; i < topology->host_count; i++)
		fprintf(file, "%s %s\n",
			lab_names_host(topology, &topology->hosts[i], name, sizeof(name)), key);
	return fclose(file) ? write_failed(path, err) : 0;
}

int lab_ssh_create(const struct topology *topology, const char *folder, struct error *err)
{
	char key[PATH_SIZE], home[PATH_SIZE];
	const char *const keygen[] = {
		"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "orch-lab", "-f", key, NULL};

	snprintf(key, sizeof(key), "%s/key", folder);
	snprintf(home, sizeof(home), "%s/home", folder);
	if (mkdir(home, 0700) && errno != EEXIST)
		return write_failed(home, err);
	if (mkdir(SSHD_RUNTIME, 0755) && errno != EEXIST)
		return write_failed(SSHD_RUNTIME, err);
	if (lab_tool_run(keygen, NULL, err) || write_config(folder, err))
		return -1;
	return write_known_hosts(topology, folder, err);
}

static bool set_text(char **field, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool set_text(char **field, const char *format, ...)
{
	va_list arguments;
	int length;

	free(*field);
	va_start(arguments, format);
	length = vasprintf(field, format, arguments);
	va_end(arguments);
	if (length < 0)
		*field = NULL;
	return length >= 0;
}

/* No leading exec and no bare &&: ssh itself puts exec before a ProxyCommand. */
int lab_ssh_attach(struct topology *topology, struct topology_host *host, const char *folder,
	const char *cgroup, struct error *err)
{
	char name[2 * LAB_NAME_SIZE], ip[64], sshd[64];
	struct topology_ssh *ssh = &host->ssh;

	if (!lab_tool_find("ip", ip, sizeof(ip), err) ||
		!lab_tool_find("sshd", sshd, sizeof(sshd), err))
		return -1;
	lab_names_host(topology, host, name, sizeof(name));
	if (!set_text(&ssh->host, "%s", name) || !set_text(&ssh->user, "root") ||
		!set_text(&ssh->identity, "%s/key", folder) ||
		!set_text(&ssh->known_hosts, "%s/known_hosts", folder) ||
		!set_text(&ssh->proxy_command,
			"%s%s%s%s netns exec %s %s -i -E %s/%s.log -f %s/sshd_config%s",
			cgroup ? "sh -c 'echo $$ >" : "", cgroup ? cgroup : "",
			cgroup ? "/cgroup.procs && exec " : "", ip, name, sshd, folder, name,
			folder, cgroup ? "'" : ""))
		return error_set(err, ERROR_SYSTEM, "lab", "out of memory");
	free(ssh->via);
	ssh->via = NULL;
	free(ssh->password_env);
	ssh->password_env = NULL;
	ssh->port = SSH_PORT;
	ssh->host_keys = TOPOLOGY_STRICT;
	host->transport = TOPOLOGY_SSH;
	return 0;
}
