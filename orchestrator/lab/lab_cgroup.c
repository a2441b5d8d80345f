#include "lab_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUOTA_LEAST_US  1000
#define PERIOD_LEAST_US 10000
#define PERIOD_MOST_US  100000

static bool has_word(const char *list, const char *word, const char *separators)
{
	size_t length = strlen(word);

	while (*list) {
		size_t span = strcspn(list, separators);

		if (span == length && !strncmp(list, word, length))
			return true;
		list += span;
		list += strspn(list, separators);
	}
	return false;
}

static bool file_has_word(const char *folder, const char *name, const char *word)
{
	char path[LAB_CGROUP_SIZE], text[512];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return has_word(text, word, " \n");
}

int lab_cgroup_find(const char *mounts, struct lab_cgroup_root *ret_root, struct error *err)
{
	for (const char *line = mounts; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		char folder[128], type[16], options[256];

		if (sscanf(line, "%*s %127s %15s %255s", folder, type, options) != 3)
			continue;
		if ((!strcmp(type, "cgroup") && has_word(options, "cpu", ",")) ||
			(!strcmp(type, "cgroup2") &&
				file_has_word(folder, "cgroup.controllers", "cpu"))) {
			memcpy(ret_root->folder, folder, sizeof(folder));
			ret_root->version2 = !strcmp(type, "cgroup2");
			return 0;
		}
	}
	return error_set(err, ERROR_LAB, "lab",
		"'cpu' needs the cgroup controller cpu, which is not mounted here;\n"
		"mount it, or take 'cpu' out of the topology");
}

int lab_cgroup_find_here(struct lab_cgroup_root *ret_root, struct error *err)
{
	FILE *file = fopen("/proc/self/mounts", "re");
	char *text = NULL;
	size_t size = 0;
	int result;

	if (!file)
		return error_set(err, ERROR_LAB, "lab", "cannot read /proc/self/mounts: %s",
			strerror(errno));
	/* No mount table has a NUL: this reads the whole file. */
	if (getdelim(&text, &size, '\0', file) < 0 || !text)
		result = error_set(err, ERROR_LAB, "lab", "/proc/self/mounts is empty");
	else
		result = lab_cgroup_find(text, ret_root, err);
	free(text);
	fclose(file);
	return result;
}

void lab_cgroup_quota(double share, long *ret_quota, long *ret_period)
{
	double period = QUOTA_LEAST_US / share;

	if (period < PERIOD_LEAST_US)
		period = PERIOD_LEAST_US;
	if (period > PERIOD_MOST_US)
		period = PERIOD_MOST_US;
	*ret_period = (long)period;
	*ret_quota = (long)((double)*ret_period * share + .5);
	if (*ret_quota < QUOTA_LEAST_US)
		*ret_quota = QUOTA_LEAST_US;
}

static int write_file(const char *folder, const char *name, const char *text, struct error *err)
{
	char path[LAB_CGROUP_SIZE + 32];
	ssize_t length = (ssize_t)strlen(text);
	int fd, failure = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)length) != length)
		failure = errno;
	if (fd >= 0)
		close(fd);
	if (!failure)
		return 0;
	return error_set(err, ERROR_LAB, "lab", "cannot write '%s' to %s: %s", text, path,
		strerror(failure));
}

int lab_cgroup_create(
	const struct lab_cgroup_root *root, const char *folder, double share, struct error *err)
{
	char text[64];
	long quota, period;

	lab_cgroup_quota(share, &quota, &period);
	/* systemd has it on; where nobody has, children of the root get no cpu files. */
	if (root->version2 && !file_has_word(root->folder, "cgroup.subtree_control", "cpu") &&
		write_file(root->folder, "cgroup.subtree_control", "+cpu", err))
		return -1;
	if (mkdir(folder, 0755) && errno != EEXIST)
		return error_set(err, ERROR_LAB, "lab", "cannot make the cgroup %s: %s", folder,
			strerror(errno));
	if (root->version2) {
		snprintf(text, sizeof(text), "%ld %ld", quota, period);
		return write_file(folder, "cpu.max", text, err);
	}
	snprintf(text, sizeof(text), "%ld", period);
	if (write_file(folder, "cpu.cfs_period_us", text, err))
		return -1;
	snprintf(text, sizeof(text), "%ld", quota);
	return write_file(folder, "cpu.cfs_quota_us", text, err);
}
