/*
 * The subcommand table. A command is one cmd_*.c with one row here; only these files print or
 * choose an exit status.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include "error.h"

struct command {
	const char *name;
	const char *arguments;		   /* "TOPOLOGY [--trials N] ..." */
	const char *summary;		   /* one line of help */
	int (*run)(int argc, char **argv); /* argv[0] is the command; returns the exit status */
};

int cmd_run(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* Prints "orch: WHERE: message" on stderr and returns the error's exit status. */
int command_fail(const struct error *err);

/* Prints a command's usage on stderr and returns 4. */
int command_usage(const char *name, const char *problem);

#endif
