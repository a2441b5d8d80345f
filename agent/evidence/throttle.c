/* How often the agent's own cgroup was held back by a CPU quota (cgroup v1 or v2). */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "files.h"
#include "source.h"

struct throttle_snapshot {
	uint64_t periods, microseconds;
};

/* Finds "key number" at a line's start. */
static bool find_key(const char *text, const char *key, int64_t *ret)
{
	size_t length = strlen(key);

	for (const char *at = text; (at = strstr(at, key)); at += length) {
		const char *value = at + length;

		if ((at == text || at[-1] == '\n') && *value == ' ')
			return files_parse_number(&value, ret);
	}
	return false;
}

static bool read_statistics(
	const char *root, const char *folder, const char *group, struct throttle_snapshot *ret)
{
	char path[FILES_PATH_MAX], text[1024];
	int64_t periods, time;

	if (!files_join(path, sizeof(path), root, folder, strcmp(group, "/") == 0 ? "" : group,
		    "/cpu.stat", NULL) ||
		files_read(path, text, sizeof(text)) <= 0 ||
		!find_key(text, "nr_throttled", &periods))
		return false;
	if (find_key(text, "throttled_usec", &time))
		ret->microseconds = (uint64_t)time;
	else if (find_key(text, "throttled_time", &time))
		ret->microseconds = (uint64_t)time / 1000;
	ret->periods = (uint64_t)periods;
	return true;
}

/* Lines of /proc/self/cgroup are "number:controllers:group"; v2 has no controllers. */
static bool read_line(const char *root, char *line, struct throttle_snapshot *ret)
{
	static const char *const folders[] = {
		"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpuacct,cpu", "/sys/fs/cgroup/cpu"};
	char *controllers = strchr(line, ':');
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return false;
	*group++ = '\0';
	controllers++;
	if (controllers[0] == '\0')
		return read_statistics(root, "/sys/fs/cgroup", group, ret) ||
		       read_statistics(root, "/sys/fs/cgroup/unified", group, ret);
	if (strcmp(controllers, "cpu") != 0 && strcmp(controllers, "cpu,cpuacct") != 0 &&
		strcmp(controllers, "cpuacct,cpu") != 0)
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (read_statistics(root, folders[i], group, ret))
			return true;
	}
	return false;
}

static void *take_throttle(const struct evidence_scope *scope)
{
	char path[FILES_PATH_MAX];
	char *text = files_join(path, sizeof(path), scope->root, "/proc/self/cgroup", NULL)
			     ? files_read_all(path)
			     : NULL;
	struct throttle_snapshot *snapshot = text ? calloc(1, sizeof(*snapshot)) : NULL;
	char *rest = text;
	bool found = false;

	while (snapshot && !found) {
		char *line = files_next_line(&rest);

		if (!line)
			break;
		found = read_line(scope->root, line, snapshot);
	}
	free(text);
	if (found)
		return snapshot;
	free(snapshot);
	return NULL;
}

static void say_throttle(const void *before, const void *now, const struct evidence_scope *scope,
	struct agent *agent, uint32_t id)
{
	const struct throttle_snapshot *from = before;
	const struct throttle_snapshot *to = now;

	(void)scope;
	if (!from || !to)
		return;
	struct wire_writer *writer = agent_begin(agent, id, "throttle");

	wire_writer_number(writer, "periods", (int64_t)source_delta(from->periods, to->periods));
	wire_writer_number(writer, "throttled_us",
		(int64_t)source_delta(from->microseconds, to->microseconds));
	agent_end(agent);
}

const struct evidence_source source_throttle = {
	.take = take_throttle, .say = say_throttle, .late = true};
