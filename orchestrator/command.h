/*
 * The subcommand table. A command is one cmd_*.c with one row here; only these files print or
 * choose an exit status.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include "arguments.h"
#include "error.h"

#define COMMAND_OPTION_TABLES 2

struct command {
	const char *name;
	const char *arguments;             /* "TOPOLOGY", the operands */
	const char *summary;               /* one line of help */
	int (*run)(int argc, char **argv); /* argv[0] is the command; returns the exit status;
					      NULL = not built yet */
	const struct argument_option *options[COMMAND_OPTION_TABLES]; /* NULL = no more tables */
	const char *notes; /* lines below the options, or NULL */
};

/* Options of the commands that share them with nobody. */
extern const struct argument_option cmd_report_options[];

int cmd_run(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* Runs argv[1] with the rest of the line, or prints the help; returns the exit status. */
int command_main(int argc, char **argv);

/* Prints a command's help on stdout; returns 0. command_main does it for --help before "--". */
int command_help(const char *name);

/*
 * Prints "orch: WHERE: message" on stderr and returns the error's exit status. Control characters
 * in it (a file's name, a peer's words) are escaped.
 */
int command_fail(const struct error *err);

/* Prints a problem with a command's line and its usage on stderr and returns 4. */
int command_usage(const char *name, const char *problem);

/* As either of the two: an ERROR_USAGE gets the usage, everything else is just said. */
int command_fail_line(const char *name, const struct error *err);

#endif
