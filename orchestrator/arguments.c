#include "arguments.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "nearest.h"
#include "units.h"

#define OPTION_MAX       32
#define TRIALS_MAX       1000
#define DURATION_MS_MIN  100
#define DURATION_MS_MAX  3600000
#define SEED_MAX         9007199254740991ull /* 2^53 - 1: exact in the run file */
#define DRAWN_SEED_BELOW 1000000u            /* short enough to be typed again */

static int take_text(const char **into, const char *value)
{
	*into = value;
	return 0;
}

static int take_item(struct argument_list *list, const char *value, struct error *err)
{
	const char **items;

	if (!value[0])
		return error_set(err, ERROR_USAGE, NULL, "must not be empty");
	items = realloc(list->items, (list->count + 1) * sizeof(*items));
	if (!items)
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	items[list->count++] = value;
	list->items = items;
	return 0;
}

static int take_whole(
	const char *value, uint64_t low, uint64_t high, uint64_t *ret, struct error *err)
{
	char *end;

	errno = 0;
	*ret = strtoull(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end || errno || *ret < low || *ret > high)
		return error_set(err, ERROR_USAGE, NULL,
			"\"%.40s\" is not a whole number from %llu to %llu", value,
			(unsigned long long)low, (unsigned long long)high);
	return 0;
}

static int set_trials(void *into, const char *value, struct error *err)
{
	struct run_arguments *arguments = into;
	uint64_t number;

	if (take_whole(value, 1, TRIALS_MAX, &number, err))
		return -1;
	arguments->trials = (int)number;
	return 0;
}

static int set_seed(void *into, const char *value, struct error *err)
{
	struct run_arguments *arguments = into;

	arguments->seed_given = true;
	return take_whole(value, 0, SEED_MAX, &arguments->seed, err);
}

static int set_duration(void *into, const char *value, struct error *err)
{
	struct run_arguments *arguments = into;
	int64_t duration;

	if (units_parse_seconds(value, &duration, err) < 0)
		return -1;
	if (duration < DURATION_MS_MIN || duration > DURATION_MS_MAX)
		return error_set(
			err, ERROR_USAGE, NULL, "\"%.40s\" is not between 100ms and 1h", value);
	arguments->duration = duration;
	return 0;
}

static int set_test(void *into, const char *value, struct error *err)
{
	return take_item(&((struct run_arguments *)into)->tests, value, err);
}

static int set_engine(void *into, const char *value, struct error *err)
{
	return take_item(&((struct run_arguments *)into)->engines, value, err);
}

static int set_segment(void *into, const char *value, struct error *err)
{
	return take_item(&((struct run_arguments *)into)->segments, value, err);
}

static int set_direction(void *into, const char *value, struct error *err)
{
	static const struct {
		const char *name;
		enum topology_direction direction;
	} names[] = {
		{"forward", TOPOLOGY_FORWARD},
		{"reverse", TOPOLOGY_REVERSE},
		{"both", TOPOLOGY_BOTH},
		{"bidir", TOPOLOGY_BIDIR},
	};
	struct run_arguments *arguments = into;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(value, names[i].name) == 0) {
			arguments->direction = names[i].direction;
			return 0;
		}
	}
	return error_set(
		err, ERROR_USAGE, NULL, "\"%.40s\" is not forward, reverse, both or bidir", value);
}

static int set_until_decided(void *into, const char *value, struct error *err)
{
	(void)value, (void)err;
	((struct run_arguments *)into)->until_decided = true;
	return 0;
}

static int set_baseline(void *into, const char *value, struct error *err)
{
	return take_item(&((struct run_arguments *)into)->baselines, value, err);
}

static int set_expect(void *into, const char *value, struct error *err)
{
	const char *equals = strchr(value, '=');

	if (!equals || equals == value || !equals[1])
		return error_set(err, ERROR_USAGE, NULL,
			"\"%.40s\" is not KEY=VALUE (link=wlan, min.path=90Mbit)", value);
	return take_item(&((struct run_arguments *)into)->expects, value, err);
}

static int set_label(void *into, const char *value, struct error *err)
{
	(void)err;
	return take_text(&((struct run_arguments *)into)->label, value);
}

static int set_output(void *into, const char *value, struct error *err)
{
	if (!value[0])
		return error_set(err, ERROR_USAGE, NULL, "must not be empty");
	return take_text(&((struct run_arguments *)into)->output, value);
}

static int set_format(void *into, const char *value, struct error *err)
{
	(void)err;
	return take_text(&((struct run_arguments *)into)->format, value);
}

static int set_quiet(void *into, const char *value, struct error *err)
{
	(void)value, (void)err;
	((struct run_arguments *)into)->quiet = true;
	return 0;
}

static int set_all(void *into, const char *value, struct error *err)
{
	(void)value, (void)err;
	((struct run_arguments *)into)->all = true;
	return 0;
}

const struct argument_option arguments_selection[] = {
	{"trials", 0, "N", "rounds; each measures every segment once", set_trials},
	{"duration", 0, "S", "length of a trial: 10, 10s, 500ms", set_duration},
	{"test", 0, "T", "only this test of the topology (repeatable)", set_test},
	{"engine", 0, "E", "measure with this engine (only native yet)", set_engine},
	{"direction", 0, "D", "forward, reverse or both (bidir: not built yet)", set_direction},
	{"segment", 0, "S", "only this segment; alone it gives no verdict", set_segment},
	{"seed", 0, "N", "repeat the random order of an earlier run", set_seed},
	{NULL},
};

const struct argument_option arguments_run[] = {
	{"until-decided", 0, NULL, "stop when the verdict is clear (not built yet)",
		set_until_decided},
	{"baseline", 0, "RUN|DIR", "compare with this (not built yet)", set_baseline},
	{"expect", 0, "K=V", "status 1 when not met (not built yet)", set_expect},
	{"label", 0, "TEXT", "a note kept in the run file", set_label},
	{"output", 'o', "FILE", "the run file (default NAME-UTCTIME.json)", set_output},
	{"format", 0, "F", "what is printed: table or json", set_format},
	{"quiet", 'q', NULL, "no progress on standard error", set_quiet},
	{NULL},
};

const struct argument_option arguments_plan[] = {
	{"all", 0, NULL, "print every round", set_all},
	{NULL},
};

/* What getopt works on, made from the rows. */
struct parser {
	const struct argument_option *rows[OPTION_MAX];
	size_t count;
	struct option longs[OPTION_MAX + 1];
	char shorts[3 + 2 * OPTION_MAX];
};

#define LONG_BASE 256 /* getopt's value for row i is LONG_BASE + i: above every letter */

static void parser_add(struct parser *parser, const struct argument_option *row)
{
	size_t i = parser->count++, length = strlen(parser->shorts);

	parser->rows[i] = row;
	parser->longs[i] = (struct option){
		.name = row->name,
		.has_arg = row->value ? required_argument : no_argument,
		.val = LONG_BASE + (int)i,
	};
	if (row->letter) {
		parser->shorts[length++] = row->letter;
		if (row->value)
			parser->shorts[length++] = ':';
	}
}

static void parser_init(
	struct parser *parser, const struct argument_option *const *tables, size_t table_count)
{
	memset(parser, 0, sizeof(*parser));
	/* "-": operands are reported where they stand; ":": a missing value is told apart. */
	memcpy(parser->shorts, "-:", 2);
	for (size_t i = 0; i < table_count; i++) {
		for (const struct argument_option *row = tables[i]; row && row->name; row++) {
			if (parser->count < OPTION_MAX)
				parser_add(parser, row);
		}
	}
}

static const struct argument_option *parser_row(const struct parser *parser, int code)
{
	if (code >= LONG_BASE && (size_t)(code - LONG_BASE) < parser->count)
		return parser->rows[code - LONG_BASE];
	for (size_t i = 0; i < parser->count; i++) {
		if (parser->rows[i]->letter == code)
			return parser->rows[i];
	}
	return NULL;
}

/* getopt said '?': unknown, ambiguous, or a value given to a switch. */
static int refuse_option(const struct parser *parser, const char *word, struct error *err)
{
	const struct argument_option *row = optopt ? parser_row(parser, optopt) : NULL;
	const char *begin = word + strspn(word, "-"), *near;
	size_t matches = 0;
	char name[41];

	if (row)
		return error_set(err, ERROR_USAGE, NULL, "--%s takes no value", row->name);
	if (optopt)
		return error_set(err, ERROR_USAGE, NULL, "unknown option -%c", optopt);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(begin, "="), begin);
	for (size_t i = 0; i < parser->count; i++)
		matches += strncmp(parser->longs[i].name, name, strlen(name)) == 0;
	if (matches > 1)
		return error_set(err, ERROR_USAGE, NULL,
			"--%s could be one of %zu options: write it out", name, matches);
	near = nearest_find(name, parser->longs, parser->count, sizeof(*parser->longs));
	if (near)
		return error_set(err, ERROR_USAGE, NULL, "unknown option --%s; did you mean --%s?",
			name, near);
	return error_set(err, ERROR_USAGE, NULL, "unknown option --%s", name);
}

static int take_option(const struct argument_option *row, void *into, struct error *err)
{
	struct error inner = {0};

	if (row->set(into, optarg, &inner) == 0)
		return 0;
	return error_set(err, inner.code, NULL, "--%s: %s", row->name, inner.message);
}

int arguments_read(const struct argument_option *const *tables, size_t table_count, int argc,
	char **argv, void *into, const char **operands, size_t operand_max, size_t *ret_operands,
	struct error *err)
{
	struct parser parser;
	size_t count = 0;
	int code;

	parser_init(&parser, tables, table_count);
	opterr = 0;
	optind = 0; /* glibc: begin anew */
	while ((code = getopt_long(argc, argv, parser.shorts, parser.longs, NULL)) != -1) {
		const struct argument_option *row;

		if (code == '?')
			return refuse_option(&parser, argv[optind - 1], err);
		row = parser_row(&parser, code == ':' ? optopt : code);
		if (code == ':')
			return error_set(err, ERROR_USAGE, NULL, "--%s needs a value (%s)",
				row ? row->name : "?", row ? row->value : "?");
		if (row && take_option(row, into, err))
			return -1;
		if (!row && count == operand_max)
			return error_set(
				err, ERROR_USAGE, NULL, "one argument too many: %.60s", optarg);
		if (!row)
			operands[count++] = optarg;
	}
	for (; optind < argc; optind++) {
		if (count == operand_max)
			return error_set(err, ERROR_USAGE, NULL, "one argument too many: %.60s",
				argv[optind]);
		operands[count++] = argv[optind];
	}
	*ret_operands = count;
	return 0;
}

static uint64_t draw_seed(void)
{
	uint32_t random;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
		random = (uint32_t)time(NULL) * 2654435761u;
	return random % DRAWN_SEED_BELOW;
}

static int refuse_unbuilt(const struct run_arguments *arguments, struct error *err)
{
	if (arguments->until_decided)
		return error_set(err, ERROR_UNBUILT, "--until-decided", "not built yet");
	if (arguments->baselines.count)
		return error_set(err, ERROR_UNBUILT, "--baseline", "not built yet");
	if (arguments->expects.count)
		return error_set(err, ERROR_UNBUILT, "--expect", "not built yet");
	if (arguments->segments.count > 1)
		return error_set(err, ERROR_UNBUILT, "--segment",
			"more than one segment: not built yet; leave it out to measure them all");
	return 0;
}

int arguments_parse(struct run_arguments *arguments, const struct argument_option *own, int argc,
	char **argv, struct error *err)
{
	const struct argument_option *const tables[] = {arguments_selection, own};
	size_t operands = 0;

	*arguments = (struct run_arguments){
		.direction = TOPOLOGY_BOTH,
		.label = "",
		.format = "table",
	};
	if (arguments_read(
		    tables, 2, argc, argv, arguments, &arguments->topology, 1, &operands, err))
		return -1;
	if (!operands)
		return error_set(err, ERROR_USAGE, NULL, "which topology? Name its file");
	if (!arguments->seed_given)
		arguments->seed = draw_seed();
	return refuse_unbuilt(arguments, err);
}

void arguments_finish(struct run_arguments *arguments)
{
	free(arguments->tests.items);
	free(arguments->engines.items);
	free(arguments->segments.items);
	free(arguments->baselines.items);
	free(arguments->expects.items);
	*arguments = (struct run_arguments){0};
}

struct topology_overrides arguments_overrides(const struct run_arguments *arguments)
{
	return (struct topology_overrides){
		.trials = arguments->trials,
		.duration = arguments->duration,
		.engines = arguments->engines.items,
		.engine_count = arguments->engines.count,
	};
}

struct plan_filter arguments_filter(const struct run_arguments *arguments)
{
	return (struct plan_filter){
		.tests = arguments->tests.items,
		.test_count = arguments->tests.count,
		.segment = arguments->segments.count ? arguments->segments.items[0] : NULL,
		.direction = arguments->direction,
		.seed = arguments->seed,
	};
}
