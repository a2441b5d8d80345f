#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deadline.h"
#include "grid.h"
#include "lab.h"
#include "storage.h"
#include "topology.h"

#define EXIT_NOT_UP       1
#define TOPOLOGY_SIZE_MAX (1u << 20)

struct lab_command {
	const char *name;
	bool takes_command; /* HOST [--] COMMAND... follow the topology */
	int (*run)(struct topology *topology, char **rest, struct error *err); /* exit status; < 0 =
										  err */
};

static int run_up(struct topology *topology, char **rest, struct error *err)
{
	enum lab_state before = lab_status(topology, &(int){0});
	int64_t start = deadline_now();

	(void)rest;
	if (lab_up(topology, 0, err))
		return -1;
	if (before == LAB_KEPT)
		printf("lab %s was up already\n", topology->name);
	else
		printf("lab %s is up: %zu hosts, %zu link%s, %.2f s\n", topology->name,
			topology->host_count, topology->link_count,
			topology->link_count == 1 ? "" : "s",
			(double)(deadline_now() - start) / 1e3);
	return 0;
}

/* A living run would lose its hosts in mid-trial. */
static int run_down(struct topology *topology, char **rest, struct error *err)
{
	int owner = 0;
	enum lab_state state = lab_status(topology, &owner);

	(void)rest;
	if (state == LAB_OWNED)
		return error_set(err, ERROR_LAB, "lab",
			"process %d is using the lab '%s'; end it first (kill %d)", owner,
			topology->name, owner);
	if (lab_down(topology, err))
		return -1;
	printf(state == LAB_DOWN ? "lab %s was not up\n" : "lab %s is down\n", topology->name);
	return 0;
}

static const char *state_word(enum lab_state state)
{
	static const char *const words[] = {
		[LAB_DOWN] = "down",
		[LAB_KEPT] = "up until `orch lab down`",
		[LAB_OWNED] = "up, in use",
		[LAB_STALE] = "left over from a run that is gone",
	};

	return words[state];
}

/* One row for each interface of the host. */
static int add_host(
	struct grid *grid, const struct topology *topology, size_t host, struct error *err)
{
	char name[256];

	lab_namespace(topology, &topology->hosts[host], name, sizeof(name));
	for (size_t i = 0; i < topology->link_count * 2; i++) {
		const struct topology_link *link = &topology->links[i / 2];
		const struct topology_end *end = i & 1 ? &link->b : &link->a;
		char four[64] = "", six[64] = "";
		const char *cells[] = {topology->hosts[host].name, name, end->interface, four, six};

		if (end->host != host)
			continue;
		lab_address(topology, i / 2, i & 1, 4, four, sizeof(four));
		lab_address(topology, i / 2, i & 1, 6, six, sizeof(six));
		if (grid_add(grid, cells, false, err))
			return -1;
	}
	return 0;
}

static int print_hosts(const struct topology *topology, struct error *err)
{
	static const struct grid_column columns[] = {{"host", false}, {"namespace", false},
		{"interface", false}, {"IPv4", false}, {"IPv6", false}};
	struct grid *grid = grid_create(columns, sizeof(columns) / sizeof(columns[0]), err);
	int result = grid ? 0 : -1;

	for (size_t i = 0; !result && i < topology->host_count; i++)
		result = add_host(grid, topology, i, err);
	if (!result)
		result = grid_print(grid, "", false, stdout, err);
	grid_free(grid);
	return result;
}

static int run_status(struct topology *topology, char **rest, struct error *err)
{
	int owner = 0;
	enum lab_state state = lab_status(topology, &owner);

	(void)rest;
	printf("lab %s: %s", topology->name, state_word(state));
	if (state == LAB_OWNED)
		printf(" by process %d", owner);
	printf("\n\n");
	if (print_hosts(topology, err))
		return -1;
	return state == LAB_KEPT || state == LAB_OWNED ? 0 : EXIT_NOT_UP;
}

static int run_exec(struct topology *topology, char **rest, struct error *err)
{
	size_t host = topology_find_host(topology, rest[0]);
	char **command = rest + 1;

	if (host == (size_t)-1)
		return error_set(err, ERROR_USAGE, topology->file,
			"no host \"%s\" in it; `orch lab status` lists them", rest[0]);
	if (*command && !strcmp(*command, "--"))
		command++;
	if (!*command)
		return error_set(
			err, ERROR_USAGE, NULL, "exec: say which command to run on %s", rest[0]);
	return lab_exec(topology, &topology->hosts[host], command, err);
}

static const struct lab_command lab_commands[] = {
	{"up", false, run_up},
	{"down", false, run_down},
	{"status", false, run_status},
	{"exec", true, run_exec},
};

static const struct lab_command *find_lab_command(const char *name)
{
	for (size_t i = 0; i < sizeof(lab_commands) / sizeof(lab_commands[0]); i++)
		if (!strcmp(lab_commands[i].name, name))
			return &lab_commands[i];
	return NULL;
}

static struct topology *load(const char *path, struct error *err)
{
	struct topology *topology;
	size_t length;
	char *text = storage_read(path, TOPOLOGY_SIZE_MAX, &length, err);

	if (!text)
		return NULL;
	topology = topology_load(text, length, path, TOPOLOGY_FILE, err);
	free(text);
	if (topology && !topology->lab) {
		error_set(err, ERROR_LAB, path,
			"it has no 'lab:' key; its hosts are real ones,\n"
			"which orch neither makes nor ends");
		topology_free(topology);
		return NULL;
	}
	return topology;
}

int cmd_lab(int argc, char **argv)
{
	const struct lab_command *command = argc > 1 ? find_lab_command(argv[1]) : NULL;
	struct topology *topology;
	struct error err = {0};
	int status = -1;

	if (!command)
		return command_usage("lab", "say what to do: up, down, status or exec");
	if (argc < (command->takes_command ? 4 : 3))
		return command_usage("lab", command->takes_command
						    ? "exec needs a topology, a host and a command"
						    : "name the topology file");
	if (!command->takes_command && argc > 3)
		return command_usage("lab", "one topology file at a time");
	if (geteuid()) {
		error_set(&err, ERROR_LAB, "lab", "the lab needs root: run with sudo");
		return command_fail(&err);
	}
	topology = load(argv[2], &err);
	if (topology)
		status = command->run(topology, argv + 3, &err);
	if (status < 0)
		status = command_fail_line("lab", &err);
	topology_free(topology);
	return status;
}
