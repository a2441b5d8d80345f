/* CPU time by core, in ticks. proc(5): user and system already hold guest time. */
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "files.h"
#include "source.h"

enum {
	CPU_USER,
	CPU_NICE,
	CPU_SYSTEM,
	CPU_IDLE,
	CPU_IOWAIT,
	CPU_IRQ,
	CPU_SOFTIRQ,
	CPU_STEAL,
	CPU_TIMES
};

enum { CORES_MAX = 1024 };

struct cpu_core {
	int64_t core;
	int64_t ticks[CPU_TIMES]; /* columns that are not there are 0 */
};

struct cpu_snapshot {
	size_t count;
	struct cpu_core cores[];
};

static bool read_core(const char *line, struct cpu_core *ret)
{
	*ret = (struct cpu_core){0};
	if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9')
		return false;
	line += 3;
	if (!files_parse_number(&line, &ret->core))
		return false;
	for (int i = 0; i < CPU_TIMES; i++) {
		if (!files_parse_number(&line, &ret->ticks[i]))
			return i > CPU_IDLE;
	}
	return true;
}

static size_t count_cores(const char *text)
{
	size_t count = 0;

	for (const char *at = text; (at = strstr(at, "cpu")) && count < CORES_MAX; at += 3)
		count++;
	return count;
}

static void *take_cpu(const struct evidence_scope *scope)
{
	char path[FILES_PATH_MAX];
	char *text = files_join(path, sizeof(path), scope->root, "/proc/stat", NULL)
			     ? files_read_all(path)
			     : NULL;

	if (!text)
		return NULL;
	size_t room = count_cores(text);
	struct cpu_snapshot *cpu = calloc(1, sizeof(*cpu) + room * sizeof(cpu->cores[0]));
	char *rest = text;

	for (char *line = files_next_line(&rest); cpu && line && cpu->count < room;
		line = files_next_line(&rest))
		cpu->count += read_core(line, &cpu->cores[cpu->count]);
	free(text);
	return cpu;
}

static const struct cpu_core *find_core(const struct cpu_snapshot *cpu, int64_t core)
{
	for (size_t i = 0; i < cpu->count; i++) {
		if (cpu->cores[i].core == core)
			return &cpu->cores[i];
	}
	return NULL;
}

static void say_core(
	struct wire_writer *writer, const struct cpu_core *from, const struct cpu_core *to)
{
	static const struct {
		const char *key;
		int time, with; /* with: a second one that is added */
	} keys[] = {
		{"user", CPU_USER, CPU_NICE},
		{"system", CPU_SYSTEM, -1},
		{"irq", CPU_IRQ, -1},
		{"softirq", CPU_SOFTIRQ, -1},
		{"steal", CPU_STEAL, -1},
		{"idle", CPU_IDLE, -1},
		{"iowait", CPU_IOWAIT, -1},
	};

	wire_writer_number(writer, "core", to->core);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		int64_t ticks = to->ticks[keys[i].time] - from->ticks[keys[i].time];

		if (keys[i].with >= 0)
			ticks += to->ticks[keys[i].with] - from->ticks[keys[i].with];
		/* proc(5): idle and iowait may go backwards. */
		wire_writer_number(writer, keys[i].key, ticks > 0 ? ticks : 0);
	}
}

static void say_cpu(const void *before, const void *now, const struct evidence_scope *scope,
	struct agent *agent, uint32_t id)
{
	const struct cpu_snapshot *from = before;
	const struct cpu_snapshot *to = now;

	(void)scope;
	for (size_t i = 0; from && to && i < to->count; i++) {
		/* A core that was plugged in meanwhile has no difference. */
		const struct cpu_core *core = find_core(from, to->cores[i].core);

		if (!core)
			continue;
		say_core(agent_begin(agent, id, "cpu"), core, &to->cores[i]);
		agent_end(agent);
	}
}

const struct evidence_source source_cpu = {.take = take_cpu, .say = say_cpu, .late = true};
