#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "text.h"

#define HELP_COLUMNS 80

static const struct command commands[] = {
	{"run", "TOPOLOGY", "measure each segment and the whole path; name the bottleneck", cmd_run,
		{arguments_selection, arguments_run},
		"What is not given here is taken from the topology. Results go to standard\n"
		"output, progress and messages to standard error. Ctrl-C ends a run in good\n"
		"order: what was measured until then is kept and reported."},
	{"plan", "TOPOLOGY", "print what run would do; touches no host", cmd_plan,
		{arguments_selection, arguments_plan}, NULL},
	{"report", "RUN", "print the results of a run file again", cmd_report, {cmd_report_options},
		"RUN is the file that run wrote, or its .part file while it goes on."},
	{"lab", "up|down|status|exec TOPOLOGY [HOST COMMAND...]",
		"the emulated testbed of a topology with `lab:`", cmd_lab, {NULL},
		"  up      make the hosts and links, and keep them; run uses them as they are\n"
		"  down    remove them\n"
		"  status  what is there; exit status 1 when the lab is not up\n"
		"  exec    run a command on a host; the exit status is the command's\n\n"
		"run makes the lab and removes it by itself: up is only needed to look around.\n"
		"Root is needed. Example: orch lab exec topologies/lab-home.yaml router ip addr"},
	{"check", "TOPOLOGY", "can every host and interface be used?", NULL, {NULL}, NULL},
	{"compare", "BASE... --new RUN...", "did the new runs lose speed?", NULL, {NULL}, NULL},
	{"trend", "RUN...", "how results changed over many runs", NULL, {NULL}, NULL},
	{"ab", "TOPOLOGY", "two builds in turn, A B B A", NULL, {NULL}, NULL},
	{"init", "", "write a topology by asking", NULL, {NULL}, NULL},
	{"resume", "RUN.part", "go on with an interrupted run", NULL, {NULL}, NULL},
	{"schema", "", "print the JSON schema of topology files", NULL, {NULL}, NULL},
	{"version", "", "print the version", cmd_version, {NULL}, NULL},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(*commands))

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static bool has_options(const struct command *command)
{
	return command->options[0] != NULL;
}

static void print_usage(FILE *out, const struct command *command)
{
	fprintf(out, "usage: orch %s%s%s%s\n", command->name, command->arguments[0] ? " " : "",
		command->arguments, has_options(command) ? " [OPTION]..." : "");
}

static void print_option(FILE *out, const struct argument_option *option)
{
	char left[64];
	int length = option->letter ? snprintf(left, sizeof(left), "  -%c, ", option->letter)
				    : snprintf(left, sizeof(left), "      ");

	snprintf(left + length, sizeof(left) - (size_t)length, "--%s%s%s", option->name,
		option->value ? " " : "", option->value ? option->value : "");
	fprintf(out, "%-26s  %s\n", left, option->help);
}

int command_help(const char *name)
{
	const struct command *command = find_command(name);

	if (!command)
		return 4;
	print_usage(stdout, command);
	printf("\n%s%s\n", command->summary, command->run ? "" : " (not built yet)");
	if (has_options(command))
		printf("\n");
	for (size_t i = 0; i < COMMAND_OPTION_TABLES && command->options[i]; i++) {
		for (const struct argument_option *row = command->options[i]; row->name; row++)
			print_option(stdout, row);
	}
	if (command->notes)
		printf("\n%s\n", command->notes);
	return 0;
}

static int print_help(void)
{
	printf("usage: orch COMMAND [ARGUMENT]...\n\n"
	       "orch says which part of a network path limits it.\n\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		char summary[HELP_COLUMNS];

		snprintf(summary, sizeof(summary), "%s%s", commands[i].summary,
			commands[i].run ? "" : " (not built yet)");
		printf("  %-8s  %s\n", commands[i].name, summary);
	}
	printf("\n`orch COMMAND --help` prints the options of a command.\n"
	       "Exit status: 0 done, 1 an expectation not met, 4 bad usage, topology or file,\n"
	       "5 a segment without a valid trial or a host out of reach, 130 interrupted.\n");
	return 0;
}

static void print_message(const char *where, const char *message)
{
	char *line = NULL, *place = text_escape(where);
	const char *separator = place && place[0] ? ": " : "";

	fprintf(stderr, "orch: %s%s", place ? place : "", separator);
	/* Lines of a message stay lines; everything else that is not text is escaped. */
	for (const char *at = message; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		char *one = strndup(at, strcspn(at, "\n"));

		line = text_escape(one);
		fprintf(stderr, "%s%s\n", at == message ? "" : "  ", line ? line : "");
		free(line);
		free(one);
	}
	free(place);
}

int command_fail(const struct error *err)
{
	print_message(err->where, err->message);
	return error_exit_status(err);
}

int command_usage(const char *name, const char *problem)
{
	const struct command *command = find_command(name);

	print_message(name, problem);
	if (command)
		print_usage(stderr, command);
	fprintf(stderr, "`orch %s --help` says more.\n", command ? name : "");
	return 4;
}

int command_fail_line(const char *name, const struct error *err)
{
	return err->code == ERROR_USAGE && !err->where[0] ? command_usage(name, err->message)
							  : command_fail(err);
}

static int unknown_command(const char *name)
{
	const char *near = nearest_find(name, commands, COMMAND_COUNT, sizeof(*commands));
	struct error err;

	if (near)
		error_set(&err, ERROR_USAGE, NULL, "no command \"%.60s\"; did you mean %s?", name,
			near);
	else
		error_set(&err, ERROR_USAGE, NULL, "no command \"%.60s\"; `orch --help` lists them",
			name);
	return command_fail(&err);
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* lab passes other programs' arguments on: only what stands first, or has a table, is ours. */
static bool wants_help(const struct command *command, int argc, char **argv)
{
	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (is_help(argv[i]) && (i == 2 || has_options(command)))
			return true;
	}
	return false;
}

int command_main(int argc, char **argv)
{
	const struct command *command;
	struct error err;

	if (argc < 2 || is_help(argv[1]) || (strcmp(argv[1], "help") == 0 && argc == 2))
		return print_help();
	if (strcmp(argv[1], "help") == 0)
		return find_command(argv[2]) ? command_help(argv[2]) : unknown_command(argv[2]);
	if (strcmp(argv[1], "--version") == 0)
		return cmd_version(1, argv);
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	if (wants_help(command, argc, argv))
		return command_help(command->name);
	if (!command->run) {
		error_set(&err, ERROR_UNBUILT, command->name, "not built yet");
		return command_fail(&err);
	}
	return command->run(argc - 1, argv + 1);
}
