#include "lab_record.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAB_PARENT   "/run/orch"
#define STATE_HEADER "orch-lab 1"
#define STATE_MOST   (1024 * 1024)
#define STATE_LINE   (LAB_FOLDER_SIZE + 256)
#define START_FIELD  22 /* of /proc/PID/stat: when the process started, in ticks since boot */

const char *lab_record_folder(const struct topology *topology, char buffer[static LAB_FOLDER_SIZE])
{
	char name[LAB_NAME_SIZE];

	snprintf(buffer, LAB_FOLDER_SIZE, LAB_FOLDER "/%s", lab_names_part(topology->name, name));
	return buffer;
}

/* A number up to most that ends a line or a field; moves *at behind it and one blank. */
static bool take_number(const char **at, int base, uint64_t most, uint64_t *ret)
{
	char *end;
	uint64_t number;

	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	number = strtoull(*at, &end, base);
	if (errno || end == *at || number > most || (*end && *end != ' '))
		return false;
	*at = end + (*end == ' ');
	*ret = number;
	return true;
}

struct lab_process lab_record_process(int pid)
{
	struct lab_process process = {.pid = pid};
	char path[64], text[1024];
	const char *fields;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return process;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	/* The name, field 2, may hold anything, ')' too: count from its last one. */
	fields = strrchr(text, ')');
	if (!fields || fields[1] != ' ' || fields[2] == 'Z')
		return process;
	fields += 2;
	for (int field = 3; fields && field < START_FIELD; field++) {
		fields = strchr(fields, ' ');
		fields += fields != NULL;
	}
	if (!fields || !take_number(&fields, 10, UINT64_MAX, &process.start))
		process.start = 0;
	return process;
}

bool lab_record_alive(const struct lab_process *process)
{
	return process->pid > 0 && process->start &&
	       lab_record_process(process->pid).start == process->start;
}

int lab_record_add(char ***list, size_t *count, const char *text)
{
	char **grown = realloc(*list, (*count + 1) * sizeof(**list));

	if (!grown)
		return -1;
	*list = grown;
	grown[*count] = strdup(text);
	if (!grown[*count])
		return -1;
	++*count;
	return 0;
}

void lab_record_finish(struct lab_record *record)
{
	for (size_t i = 0; i < record->namespace_count; i++)
		free(record->namespaces[i]);
	for (size_t i = 0; i < record->cgroup_count; i++)
		free(record->cgroups[i]);
	free(record->namespaces);
	free(record->cgroups);
	memset(record, 0, sizeof(*record));
}

char *lab_record_format(const struct lab_record *record)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, STATE_HEADER "\nfingerprint %016" PRIx64 "\nready %d\n", record->fingerprint,
		record->ready);
	fprintf(out, "builder %d %" PRIu64 "\nowner %d %" PRIu64 "\n", record->builder.pid,
		record->builder.start, record->owner.pid, record->owner.start);
	for (size_t i = 0; i < record->namespace_count; i++)
		fprintf(out, "namespace %s\n", record->namespaces[i]);
	for (size_t i = 0; i < record->cgroup_count; i++)
		fprintf(out, "cgroup %s\n", record->cgroups[i]);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* What a state file says is removed with root's rights: only names of ours are believed. */
static bool is_safe(const char *name)
{
	const char *base = strrchr(name, '/');

	return !strncmp(base ? base + 1 : name, LAB_PREFIX, strlen(LAB_PREFIX)) &&
	       !strstr(name, "..");
}

static int take_fingerprint(const char *value, struct lab_record *record)
{
	return take_number(&value, 16, UINT64_MAX, &record->fingerprint) && !*value ? 0 : -1;
}

static int take_ready(const char *value, struct lab_record *record)
{
	uint64_t ready;

	if (!take_number(&value, 10, 1, &ready) || *value)
		return -1;
	record->ready = ready == 1;
	return 0;
}

static int take_process(const char *value, struct lab_process *process)
{
	uint64_t pid;

	if (!take_number(&value, 10, INT_MAX, &pid) ||
		!take_number(&value, 10, UINT64_MAX, &process->start) || *value)
		return -1;
	process->pid = (int)pid;
	return 0;
}

static int take_builder(const char *value, struct lab_record *record)
{
	return take_process(value, &record->builder);
}

static int take_owner(const char *value, struct lab_record *record)
{
	return take_process(value, &record->owner);
}

static int take_namespace(const char *value, struct lab_record *record)
{
	if (!is_safe(value) || strchr(value, '/'))
		return -1;
	return lab_record_add(&record->namespaces, &record->namespace_count, value);
}

static int take_cgroup(const char *value, struct lab_record *record)
{
	if (!is_safe(value) || strncmp(value, "/sys/fs/cgroup/", strlen("/sys/fs/cgroup/")) != 0)
		return -1;
	return lab_record_add(&record->cgroups, &record->cgroup_count, value);
}

static const struct {
	const char *key;
	int (*take)(const char *value, struct lab_record *record);
} state_lines[] = {
	{"fingerprint ", take_fingerprint},
	{"ready ", take_ready},
	{"builder ", take_builder},
	{"owner ", take_owner},
	{"namespace ", take_namespace},
	{"cgroup ", take_cgroup},
};

static int parse_line(const char *text, size_t length, struct lab_record *record)
{
	char line[STATE_LINE];

	if (length >= sizeof(line))
		return -1;
	memcpy(line, text, length);
	line[length] = '\0';
	for (size_t i = 0; i < sizeof(state_lines) / sizeof(state_lines[0]); i++) {
		size_t key = strlen(state_lines[i].key);

		if (!strncmp(line, state_lines[i].key, key))
			return state_lines[i].take(line + key, record);
	}
	return -1;
}

int lab_record_parse(const char *text, struct lab_record *ret_record)
{
	struct lab_record record = {0};

	if (strncmp(text, STATE_HEADER "\n", strlen(STATE_HEADER "\n")))
		return -1;
	for (text += strlen(STATE_HEADER "\n"); *text;) {
		size_t length = strcspn(text, "\n");

		if (text[length] != '\n' || parse_line(text, length, &record)) {
			lab_record_finish(&record);
			return -1;
		}
		text += length + 1;
	}
	*ret_record = record;
	return 0;
}

int lab_record_read(const char *folder, struct lab_record *ret_record)
{
	char path[LAB_FOLDER_SIZE + 16], *text;
	size_t length;
	int result;
	FILE *file;

	memset(ret_record, 0, sizeof(*ret_record));
	snprintf(path, sizeof(path), "%s/state", folder);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text = malloc(STATE_MOST);
	length = text ? fread(text, 1, STATE_MOST - 1, file) : 0;
	fclose(file);
	if (!text)
		return 0;
	text[length] = '\0';
	result = lab_record_parse(text, ret_record);
	free(text);
	return result ? 0 : 1;
}

static int make_folder(const char *folder, mode_t mode, struct error *err)
{
	if (mkdir(folder, mode) && errno != EEXIST)
		return error_set(err, ERROR_LAB, "lab", "cannot make the folder %s: %s", folder,
			strerror(errno));
	return 0;
}

int lab_record_write(const char *folder, const struct lab_record *record, struct error *err)
{
	char path[LAB_FOLDER_SIZE + 16], fresh[LAB_FOLDER_SIZE + 24];
	char *text = lab_record_format(record);
	bool written;
	FILE *file;

	if (!text)
		return error_set(err, ERROR_SYSTEM, "lab", "out of memory");
	if (make_folder(folder, 0700, err)) {
		free(text);
		return -1;
	}
	snprintf(path, sizeof(path), "%s/state", folder);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	file = fopen(fresh, "we");
	written = file && fputs(text, file) >= 0;
	if (file && fclose(file))
		written = false;
	free(text);
	if (!written || rename(fresh, path))
		return error_set(
			err, ERROR_LAB, "lab", "cannot write %s: %s", path, strerror(errno));
	return 0;
}

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *walk)
{
	(void)facts;
	(void)kind;
	(void)walk;
	remove(path);
	return 0;
}

void lab_record_remove(const char *folder)
{
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The lock is the folder itself, which the last lab removes: what was locked must still be it. */
static bool is_current(int fd)
{
	struct stat ours, theirs;

	return !fstat(fd, &ours) && !stat(LAB_FOLDER, &theirs) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

int lab_record_lock(struct error *err)
{
	for (;;) {
		int fd;

		if (make_folder(LAB_PARENT, 0755, err))
			return -1;
		if (mkdir(LAB_FOLDER, 0700) && errno == ENOENT)
			continue; /* another one just removed the parent */
		fd = open(LAB_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0 || flock(fd, LOCK_EX)) {
			error_set(err, errno == EINTR ? ERROR_INTERRUPTED : ERROR_LAB, "lab",
				"cannot lock %s: %s", LAB_FOLDER, strerror(errno));
			if (fd >= 0)
				close(fd);
			return -1;
		}
		if (is_current(fd))
			return fd;
		close(fd);
	}
}

void lab_record_unlock(int lock)
{
	if (lock < 0)
		return;
	if (!rmdir(LAB_FOLDER))
		rmdir(LAB_PARENT);
	close(lock);
}
