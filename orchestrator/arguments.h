/*
 * Command lines as data: a row of an option table parses the option and prints its help. The
 * options that `run` and `plan` share end up in one struct.
 */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "plan.h"
#include "topology.h"

/* Tables end with a row whose name is NULL. */
struct argument_option {
	const char *name;  /* without "--" */
	char letter;       /* its short form, or 0 */
	const char *value; /* what its value is called in the help; NULL for a switch */
	const char *help;  /* one line; at most 48 columns */
	/* Takes the value (NULL for a switch); errors name no option, the caller adds it. */
	int (*set)(void *into, const char *value, struct error *err);
};

/*
 * Reads argv[1..] into `into` by the option tables (table_count of them, NULL ones skipped; --help
 * was taken before by command_main). Operands, wherever they stand, go to operands[0..operand_max -
 * 1], their number to *ret_operands. Fails with ERROR_USAGE: unknown option (with a did-you-mean),
 * missing or bad value, too many operands.
 */
int arguments_read(const struct argument_option *const *tables, size_t table_count, int argc,
	char **argv, void *into, const char **operands, size_t operand_max, size_t *ret_operands,
	struct error *err);

/* The values of an option that may be given more than once; texts belong to argv. */
struct argument_list {
	const char **items;
	size_t count;
};

struct run_arguments {
	const char *topology; /* the file */

	/* what is measured */
	int trials;       /* 0 = the file's */
	int64_t duration; /* ms; 0 = the file's */
	struct argument_list tests, engines, segments;
	enum topology_direction direction; /* BOTH when not given */
	bool until_decided;
	uint64_t seed; /* drawn at random (below 1,000,000) unless given */
	bool seed_given;

	/* what is done with it */
	struct argument_list baselines, expects;
	const char *label;  /* "" when not given */
	const char *output; /* NULL = NAME-UTCTIME.json */
	const char *format; /* "table" when not given; may be unknown or unbuilt: report_find() */
	bool quiet;
	bool all; /* plan: every round, not the first ones alone */
};

/* Options of both run and plan, of run alone, of plan alone. All read into struct run_arguments. */
extern const struct argument_option arguments_selection[];
extern const struct argument_option arguments_run[];
extern const struct argument_option arguments_plan[];

/*
 * Reads the line of run or plan (own is arguments_run or arguments_plan). Fails with ERROR_USAGE,
 * or with ERROR_UNBUILT for a valid option of a later release. arguments_finish() in any case.
 */
int arguments_parse(struct run_arguments *arguments, const struct argument_option *own, int argc,
	char **argv, struct error *err);
void arguments_finish(struct run_arguments *arguments);

/* What the line changes in the topology, and which of it is run; they point into arguments. */
struct topology_overrides arguments_overrides(const struct run_arguments *arguments);
struct plan_filter arguments_filter(const struct run_arguments *arguments);

#endif
