#include "lab_processes.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deadline.h"
#include "lab_cgroup.h"
#include "lab_kernel.h"
#include "lab_names.h"

#define END_DEADLINE_MS 5000
#define BATCH           64

/* Processes that were killed, as descriptors that become readable when they are gone. */
struct ending {
	struct pollfd fds[BATCH];
	size_t count;
};

static void end_one(struct ending *ending, int pid)
{
	int fd;

	if (pid <= 1 || pid == getpid() || ending->count == BATCH)
		return;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return;
	if (syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0)) {
		close(fd);
		return;
	}
	ending->fds[ending->count++] = (struct pollfd){fd, POLLIN, 0};
}

static bool is_inside(int pid, const struct stat *spaces, size_t count)
{
	char path[64];
	struct stat own;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	if (stat(path, &own))
		return false;
	for (size_t i = 0; i < count; i++)
		if (own.st_dev == spaces[i].st_dev && own.st_ino == spaces[i].st_ino)
			return true;
	return false;
}

static void end_in_namespaces(struct ending *ending, const struct stat *spaces, size_t count)
{
	DIR *folder = count ? opendir("/proc") : NULL;
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		int pid = (int)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && is_inside(pid, spaces, count))
			end_one(ending, pid);
	}
	if (folder)
		closedir(folder);
}

static void end_in_cgroup(struct ending *ending, const char *cgroup)
{
	char path[LAB_CGROUP_SIZE + 32], line[16];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		end_one(ending, (int)strtol(line, NULL, 10));
	if (file)
		fclose(file);
}

/* Waits for all of them; returns how many stayed beyond the deadline. */
static size_t await_end(struct ending *ending, int64_t deadline)
{
	size_t left = 0;

	for (size_t i = 0; i < ending->count; i++) {
		if (poll(&ending->fds[i], 1, deadline_timeout(deadline)) <= 0)
			left++;
		close(ending->fds[i].fd);
	}
	return left;
}

size_t lab_processes_end(char *const namespaces[], size_t namespace_count, char *const cgroups[],
	size_t cgroup_count)
{
	struct stat *spaces = calloc(namespace_count + 1, sizeof(*spaces));
	int64_t deadline = deadline_now() + END_DEADLINE_MS;
	size_t known = 0, left = 0;

	for (size_t i = 0; spaces && i < namespace_count; i++) {
		char path[sizeof(LAB_NETNS_FOLDER) + 2 * LAB_NAME_SIZE];

		snprintf(path, sizeof(path), LAB_NETNS_FOLDER "/%s", namespaces[i]);
		known += !stat(path, &spaces[known]);
	}
	/* Again and again, as a process may fork before it is hit. */
	do {
		struct ending ending = {.count = 0};

		end_in_namespaces(&ending, spaces, spaces ? known : 0);
		for (size_t i = 0; i < cgroup_count; i++)
			end_in_cgroup(&ending, cgroups[i]);
		if (!ending.count)
			break;
		left = await_end(&ending, deadline);
	} while (deadline_now() < deadline);
	free(spaces);
	return left;
}
