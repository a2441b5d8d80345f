#include "hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

void hosts_shell(const char *format, ...)
{
	char command[2000];
	va_list arguments;
	int status;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	status = system(command);
	if (status != 0)
		fail_msg("status %d of: %s", status, command);
}

void hosts_init(struct hosts *hosts)
{
	struct utsname system;
	const char *family;

	if (!getenv("STAND_IN_AGENT"))
		fail_msg("run by meson test, which sets STAND_IN_AGENT and AGENT_FOLDER");
	memset(hosts, 0, sizeof(*hosts));
	strcpy(hosts->folder, "/tmp/test-remote-XXXXXX");
	assert_non_null(mkdtemp(hosts->folder));
	/* Other accounts, sshd's included, must reach what is in it. */
	assert_int_equal(chmod(hosts->folder, 0755), 0);
	snprintf(hosts->agents, sizeof(hosts->agents), "%s/agents", hosts->folder);
	snprintf(hosts->upload, sizeof(hosts->upload), "%s/upload", hosts->folder);
	assert_int_equal(mkdir(hosts->agents, 0755), 0);
	assert_int_equal(mkdir(hosts->upload, 0755), 0);
	assert_int_equal(uname(&system), 0);
	family = strcmp(system.machine, "i686") == 0 ? "i386" : system.machine;
	hosts_shell("cp '%s' '%s/orch-agent-%s'", getenv("STAND_IN_AGENT"), hosts->agents, family);
	hosts->topology.hosts = hosts->list;
	hosts->topology.file = strdup("test.yaml");
}

static void free_host(struct topology_host *host)
{
	free(host->name);
	free(host->tmp);
	free(host->agent);
	free(host->ssh.host);
	free(host->ssh.user);
	free(host->ssh.identity);
	free(host->ssh.proxy_command);
	free(host->ssh.known_hosts);
	for (size_t i = 0; i < host->exec_count; i++)
		free(host->exec[i]);
	free(host->exec);
}

void hosts_finish(struct hosts *hosts)
{
	for (size_t i = 0; i < hosts->topology.host_count; i++)
		free_host(&hosts->list[i]);
	free(hosts->topology.file);
	hosts_shell("rm -rf '%s'", hosts->folder);
}

struct topology_host *hosts_add(struct hosts *hosts, const char *name)
{
	struct topology_host *host = &hosts->list[hosts->topology.host_count++];

	assert_true(hosts->topology.host_count <= HOSTS_MAX);
	host->name = strdup(name);
	host->transport = TOPOLOGY_LOCAL;
	host->tmp = strdup(hosts->upload);
	return host;
}

char *hosts_script(struct hosts *hosts, const char *name, const char *text)
{
	char *path;
	FILE *file;

	assert_true(asprintf(&path, "%s/%s", hosts->folder, name) > 0);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

char *hosts_agent(struct hosts *hosts, const char *mode)
{
	char text[500];

	snprintf(text, sizeof(text), "#!/bin/sh\nexec '%s' %s\n", getenv("STAND_IN_AGENT"), mode);
	return hosts_script(hosts, "installed-agent", text);
}

struct fleet *hosts_start(struct hosts *hosts, int64_t connect_ms)
{
	struct fleet_settings settings = {.connect_ms = connect_ms, .agent_folder = hosts->agents};
	struct error err = {0};
	struct fleet *fleet = fleet_create(&hosts->topology, &settings, &err);

	if (!fleet || fleet_start(fleet, &err) < 0)
		fail_msg("%s: %s", err.where, err.message);
	return fleet;
}

struct ask *hosts_ask(struct fleet *fleet, size_t host, const char *type, int64_t wait_ms,
	int *ret_result, struct error *err)
{
	struct wire_writer writer;
	struct ask *ask = fleet_ask(fleet, host, type, &writer, err);

	if (!ask)
		return NULL;
	assert_int_equal(fleet_send(ask, &writer, err), 0);
	*ret_result = fleet_await(fleet, &ask, 1, fleet_now() + wait_ms, err);
	return ask;
}

int hosts_count_files(const char *folder)
{
	DIR *open_folder = opendir(folder);
	struct dirent *entry;
	int count = 0;

	assert_non_null(open_folder);
	while ((entry = readdir(open_folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			count++;
	closedir(open_folder);
	return count;
}

static bool command_line_holds(const char *pid, const char *text)
{
	char path[300], line[8192];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	length = fread(line, 1, sizeof(line), file);
	fclose(file);
	return memmem(line, length, text, strlen(text)) != NULL;
}

int hosts_count_processes(const char *text)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	assert_non_null(proc);
	while ((entry = readdir(proc)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			count += command_line_holds(entry->d_name, text);
	closedir(proc);
	return count;
}
