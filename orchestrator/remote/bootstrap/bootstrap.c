#include "bootstrap.h"

#include "agent_file.h"
#include "family.h"
#include "tail.h"
#include "target_script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define NOISE_MAX 65536 /* what login scripts may print before the thing that was asked for */

enum step {
	STEP_PROBE,
	STEP_PROBE_READ,
	STEP_PROBE_END,
	STEP_FILE,
	STEP_RUN,
	STEP_RUN_TALK,
	STEP_RUN_END,
	STEP_STORE,
	STEP_STORE_TALK,
	STEP_STORE_END,
	STEP_GREETED,
};

struct bootstrap {
	struct transport *transport;
	const struct topology_host *host;
	const char *agent_folder;
	struct wire_reader *reader;
	enum step step;
	bool running;

	unsigned char *probe; /* NOISE_MAX + FAMILY_HEADER_SIZE bytes */
	size_t probe_length;
	struct agent_file file;

	char token[TARGET_TOKEN_SIZE];
	struct target_script script;
	size_t sent, noise;
	bool input_closed, greeted;
	size_t tried;   /* folder the last script chose or refused, from 1 */
	size_t stored;  /* folder of a file that waits to be run; 0 = none */
	bool no_head;   /* the host has no `head -c` */
	bool try_again; /* the next folder may do */
	bool exhausted; /* there is none */
	const char *refusal[TARGET_FOLDERS_MAX + 1];
};

static enum transport_status fail(struct bootstrap *boot, struct error *err, const char *what)
{
	error_set(err, ERROR_HOST, boot->host->name, "%s", what);
	return TRANSPORT_FAILED;
}

static bool installed(const struct bootstrap *boot)
{
	return boot->host->agent != NULL;
}

static enum transport_status launch(
	struct bootstrap *boot, char *command, enum step next, struct error *err)
{
	enum transport_status status;

	if (!command)
		return fail(boot, err, "out of memory");
	status = boot->transport->ops->start(boot->transport, command, err);
	free(command);
	if (status != TRANSPORT_DONE)
		return status;
	boot->running = true;
	boot->step = next;
	return TRANSPORT_DONE;
}

static enum transport_status probe(struct bootstrap *boot, struct error *err)
{
	if (installed(boot)) {
		boot->step = STEP_RUN;
		return TRANSPORT_DONE;
	}
	return launch(boot, target_script_probe(), STEP_PROBE_READ, err);
}

/* The command's end came too early; says so with its status and last words. */
static enum transport_status ended_early(
	struct bootstrap *boot, const char *what, struct error *err)
{
	const char *errors;
	char line[300];
	int status;
	enum transport_status result =
		boot->transport->ops->finish(boot->transport, &status, &errors, err);

	if (result != TRANSPORT_DONE)
		return result;
	boot->running = false;
	tail_last_line(errors, line, sizeof(line));
	error_set(err, ERROR_HOST, boot->host->name, "%s (status %d)%s%s%s", what, status,
		line[0] ? ": \"" : "; it said nothing", line, line[0] ? "\"" : "");
	return TRANSPORT_FAILED;
}

static enum transport_status probe_read(struct bootstrap *boot, struct error *err)
{
	size_t room = NOISE_MAX + FAMILY_HEADER_SIZE;
	const unsigned char *header;
	ssize_t got;

	for (;;) {
		if (boot->probe_length == room)
			return fail(boot, err,
				"its shell prints without end instead of running a command;\n"
				"check its login scripts and forced commands");
		got = boot->transport->ops->read(boot->transport, boot->probe + boot->probe_length,
			room - boot->probe_length);
		if (got == -EAGAIN)
			return TRANSPORT_AGAIN;
		if (got <= 0)
			return ended_early(
				boot, "its shell ended before it ran \"cat /proc/self/exe\"", err);
		boot->probe_length += (size_t)got;
		header = memmem(boot->probe, boot->probe_length, "\177ELF", 4);
		if (header &&
			boot->probe_length - (size_t)(header - boot->probe) >= FAMILY_HEADER_SIZE)
			break;
	}
	boot->step = STEP_PROBE_END;
	return TRANSPORT_DONE;
}

static enum transport_status probe_end(struct bootstrap *boot, struct error *err)
{
	enum transport_status status = boot->transport->ops->abandon(boot->transport);

	(void)err;
	if (status == TRANSPORT_DONE) {
		boot->running = false;
		boot->step = STEP_FILE;
	}
	return status;
}

static enum transport_status load_file(struct bootstrap *boot, struct error *err)
{
	const unsigned char *header = memmem(boot->probe, boot->probe_length, "\177ELF", 4);
	char description[64];
	const char *family = family_of(header, description, sizeof(description));

	/* Busybox would run a wrong architecture's file as a shell script. */
	if (!family) {
		error_set(err, ERROR_HOST, boot->host->name,
			"no agent exists for its CPU family (%s)", description);
		return TRANSPORT_FAILED;
	}
	if (agent_file_load(&boot->file, boot->agent_folder, family, boot->host->name, err) < 0)
		return TRANSPORT_FAILED;
	boot->script.size = boot->file.size;
	boot->step = STEP_RUN;
	return TRANSPORT_DONE;
}

static void reset_talk(struct bootstrap *boot)
{
	wire_reader_init(boot->reader);
	boot->sent = boot->noise = boot->tried = 0;
	boot->input_closed = boot->try_again = false;
}

static enum transport_status run(struct bootstrap *boot, struct error *err)
{
	char *command;

	reset_talk(boot);
	if (installed(boot))
		command = target_script_run_installed(boot->host->agent, boot->host->sudo);
	else if (boot->stored)
		command = target_script_run_stored(&boot->script, boot->stored);
	else
		command = target_script_run(&boot->script);
	return launch(boot, command, STEP_RUN_TALK, err);
}

static enum transport_status store(struct bootstrap *boot, struct error *err)
{
	reset_talk(boot);
	return launch(boot, target_script_store(&boot->script), STEP_STORE_TALK, err);
}

/* Writes what the transport takes. A refused write is no error: the script tells why it ended. */
static void send_file(struct bootstrap *boot, bool close_after, struct error *err)
{
	while (boot->sent < boot->file.size) {
		ssize_t put = boot->transport->ops->write(boot->transport,
			boot->file.data + boot->sent, boot->file.size - boot->sent);

		if (put <= 0)
			return;
		boot->sent += (size_t)put;
	}
	if (close_after && !boot->input_closed)
		boot->input_closed =
			boot->transport->ops->close_input(boot->transport, err) != TRANSPORT_AGAIN;
}

static void refuse(struct bootstrap *boot, size_t folder, const char *why)
{
	if (folder >= 1 && folder <= TARGET_FOLDERS_MAX)
		boot->refusal[folder] = why;
}

/* What a script can say of a folder. */
static const struct {
	const char *word, *reason;
	bool try_again; /* the script has ended, with folders still to try */
} refusals[] = {
	{"absent", "not there", false},
	{"unwritable", "not writable", false},
	{"noexec", "does not let programs run", true},
	{"full", "full", true},
};

static void take_word(struct bootstrap *boot, const char *text)
{
	char word[32] = "";
	size_t length = strcspn(text, " \t\r\n"), folder = strtoul(text + length, NULL, 10);

	if (length >= sizeof(word) || folder > TARGET_FOLDERS_MAX)
		return;
	memcpy(word, text, length);
	boot->no_head = boot->no_head || strcmp(word, "nohead") == 0;
	boot->exhausted = boot->exhausted || strcmp(word, "nofolder") == 0;
	if (strcmp(word, "stored") == 0)
		boot->stored = folder;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (strcmp(word, refusals[i].word) != 0)
			continue;
		refuse(boot, folder, refusals[i].reason);
		boot->tried = folder;
		boot->try_again = refusals[i].try_again;
	}
}

/* Is the agent that greets the one that was sent, and does it speak this language? */
static int check_greeting(
	struct bootstrap *boot, const struct wire_record *hello, struct error *err)
{
	const char *hash = wire_record_text(hello, "hash");
	int64_t version, size;
	char wanted[17];

	if (wire_record_number(hello, "version", &version) < 0 || version != WIRE_VERSION) {
		const char *text = wire_record_text(hello, "version");

		return error_set(err, ERROR_HOST, boot->host->name,
			"its agent speaks version %.20s of the wire, this program %d;\n%s",
			text ? text : "?", WIRE_VERSION,
			installed(boot) ? "replace it, or remove \"agent:\" to have one uploaded"
					: "the agent folder holds another release's agents");
	}
	if (installed(boot))
		return 0;
	snprintf(wanted, sizeof(wanted), "%016" PRIx64, boot->file.hash);
	if (wire_record_number(hello, "size", &size) < 0 || size != (int64_t)boot->file.size ||
		!hash || strcmp(hash, wanted) != 0)
		return error_set(err, ERROR_HOST, boot->host->name,
			"the agent that answers is not the file that was uploaded "
			"(size or hash differ)");
	return 0;
}

static enum transport_status take_line(struct bootstrap *boot, char *line, struct error *err)
{
	static const char greeting[] = "0 hello magic=" WIRE_MAGIC " ";
	char *found = strstr(line, boot->token);
	struct wire_record record;

	boot->noise += strlen(line) + 1;
	if (found && strncmp(found + strlen(boot->token), " ", 1) == 0)
		take_word(boot, found + strlen(boot->token) + 1);
	/* Not only at a line's start: noise need not end with a newline. */
	found = strstr(line, greeting);
	if (!found || wire_record_parse(found, &record) < 0)
		return TRANSPORT_AGAIN;
	if (check_greeting(boot, &record, err) < 0)
		return TRANSPORT_FAILED;
	boot->greeted = true;
	return TRANSPORT_DONE;
}

/* DONE: greeted, or at the end of output (then greeted is false). */
static enum transport_status read_lines(struct bootstrap *boot, struct error *err)
{
	enum transport_status status;
	size_t space;
	char *line, *free_part;
	ssize_t got;
	int next;

	for (;;) {
		while ((next = wire_reader_next(boot->reader, &line)) == 1) {
			status = take_line(boot, line, err);
			if (status != TRANSPORT_AGAIN)
				return status;
		}
		if (next < 0) {
			boot->noise += WIRE_LINE_MAX;
			wire_reader_init(boot->reader);
		}
		if (boot->noise > NOISE_MAX)
			return fail(boot, err,
				"its shell printed more than 64 KB before the agent's greeting;\n"
				"check its login scripts");
		free_part = wire_reader_space(boot->reader, &space);
		got = boot->transport->ops->read(boot->transport, free_part, space);
		if (got == -EAGAIN)
			return TRANSPORT_AGAIN;
		if (got <= 0)
			return TRANSPORT_DONE;
		wire_reader_filled(boot->reader, (size_t)got);
	}
}

static enum transport_status run_talk(struct bootstrap *boot, struct error *err)
{
	enum transport_status status;

	if (!installed(boot) && !boot->stored)
		send_file(boot, false, err);
	status = read_lines(boot, err);
	if (status == TRANSPORT_DONE)
		boot->step = boot->greeted ? STEP_GREETED : STEP_RUN_END;
	return status;
}

static enum transport_status store_talk(struct bootstrap *boot, struct error *err)
{
	enum transport_status status;

	send_file(boot, true, err);
	status = read_lines(boot, err);
	if (status == TRANSPORT_DONE)
		boot->step = STEP_STORE_END;
	return status;
}

static enum transport_status no_folder(struct bootstrap *boot, struct error *err)
{
	char list[600] = "";
	size_t length = 0;
	const char *folder;

	for (size_t i = 1; (folder = target_script_folder(&boot->script, i)); i++) {
		const char *why = boot->refusal[i] ? boot->refusal[i] : "not tried";

		if (length < sizeof(list))
			length += (size_t)snprintf(list + length, sizeof(list) - length,
				"%s%.200s: %s", i > 1 ? ", " : "", folder, why);
	}
	error_set(err, ERROR_HOST, boot->host->name,
		"no folder takes the agent (%s);\n"
		"name a writable one that may run programs with \"tmp:\"",
		list);
	return TRANSPORT_FAILED;
}

/* The command ended before a greeting: why, and is there another way? */
static enum transport_status run_end(struct bootstrap *boot, struct error *err)
{
	struct error end;
	enum transport_status status = ended_early(boot, "the agent ended before it greeted", &end);
	bool without_head = boot->no_head && boot->step == STEP_RUN_END && !boot->stored;

	if (status == TRANSPORT_FAILED && err)
		*err = end;
	if (boot->running) /* not at its end yet, or the transport broke */
		return status;
	if (boot->exhausted)
		return no_folder(boot, err);
	boot->stored = 0;
	boot->step = boot->no_head ? STEP_STORE : STEP_RUN;
	if (boot->try_again && boot->tried > boot->script.skip) {
		boot->script.skip = boot->tried;
		return TRANSPORT_DONE;
	}
	return without_head ? TRANSPORT_DONE : TRANSPORT_FAILED;
}

static enum transport_status store_end(struct bootstrap *boot, struct error *err)
{
	enum transport_status status;

	if (!boot->stored)
		return run_end(boot, err);
	status = ended_early(boot, "", err);
	if (boot->running)
		return status;
	boot->step = STEP_RUN;
	return TRANSPORT_DONE;
}

static enum transport_status greeted(struct bootstrap *boot, struct error *err)
{
	(void)boot;
	(void)err;
	return TRANSPORT_DONE;
}

static const struct {
	enum transport_status (*act)(struct bootstrap *boot, struct error *err);
	const char *activity;
} steps[] = {
	[STEP_PROBE] = {probe, "starting a shell"},
	[STEP_PROBE_READ] = {probe_read, "asking its shell for the CPU family"},
	[STEP_PROBE_END] = {probe_end, "asking its shell for the CPU family"},
	[STEP_FILE] = {load_file, "choosing the agent"},
	[STEP_RUN] = {run, "starting a shell"},
	[STEP_RUN_TALK] = {run_talk, "uploading and starting the agent"},
	[STEP_RUN_END] = {run_end, "waiting for the agent's end"},
	[STEP_STORE] = {store, "starting a shell"},
	[STEP_STORE_TALK] = {store_talk, "uploading the agent"},
	[STEP_STORE_END] = {store_end, "uploading the agent"},
	[STEP_GREETED] = {greeted, "talking to the agent"},
};

static int make_token(char *token)
{
	unsigned char bytes[(TARGET_TOKEN_SIZE - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -1;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

struct bootstrap *bootstrap_create(struct transport *transport, const struct topology_host *host,
	const char *agent_folder, struct wire_reader *reader, struct error *err)
{
	struct bootstrap *boot = calloc(1, sizeof(*boot));

	if (boot)
		boot->probe = malloc(NOISE_MAX + FAMILY_HEADER_SIZE);
	if (!boot || !boot->probe || make_token(boot->token) < 0) {
		error_set(err, ERROR_SYSTEM, host->name, "out of memory or random numbers");
		bootstrap_free(boot);
		return NULL;
	}
	boot->transport = transport;
	boot->host = host;
	boot->agent_folder = agent_folder;
	boot->reader = reader;
	boot->script =
		(struct target_script){.token = boot->token, .tmp = host->tmp, .sudo = host->sudo};
	return boot;
}

enum transport_status bootstrap_step(struct bootstrap *boot, struct error *err)
{
	enum transport_status status = TRANSPORT_DONE;

	while (status == TRANSPORT_DONE && boot->step != STEP_GREETED)
		status = steps[boot->step].act(boot, err);
	return status;
}

const char *bootstrap_activity(const struct bootstrap *boot)
{
	return steps[boot->step].activity;
}

bool bootstrap_running(const struct bootstrap *boot)
{
	return boot->running;
}

void bootstrap_free(struct bootstrap *boot)
{
	if (!boot)
		return;
	agent_file_finish(&boot->file);
	free(boot->probe);
	free(boot);
}
