/*
 * Speaks the agent's side of docs/wire.md just well enough to test the other side, and badly on
 * purpose: the first argument that is not --unlink names the misbehaviour.
 */
#include "wire.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(struct wire_writer *writer)
{
	int length = wire_writer_end(writer);

	if (length < 0 || write(1, writer->text, (size_t)length) != length)
		exit(1);
}

static void greet(bool unlink_self, int64_t version)
{
	struct wire_writer writer;
	uint64_t hash = 0xcbf29ce484222325u;
	int64_t size = 0;
	unsigned char buffer[4096];
	char path[4096], text[17];
	ssize_t got = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int self = open("/proc/self/exe", O_RDONLY);

	if (got <= 0 || self < 0)
		exit(1);
	path[got] = '\0';
	while ((got = read(self, buffer, sizeof(buffer))) > 0) {
		size += got;
		for (ssize_t i = 0; i < got; i++)
			hash = (hash ^ buffer[i]) * 0x100000001b3u;
	}
	close(self);
	if (unlink_self)
		unlink(path);
	snprintf(text, sizeof(text), "%016" PRIx64, hash);
	wire_writer_begin(&writer, 0, "hello");
	wire_writer_text(&writer, "magic", WIRE_MAGIC);
	wire_writer_number(&writer, "version", version);
	wire_writer_text(&writer, "build", "stand-in");
	wire_writer_number(&writer, "size", size);
	wire_writer_text(&writer, "hash", text);
	say(&writer);
}

static void answer(uint32_t id, const char *type)
{
	struct wire_writer writer;

	wire_writer_begin(&writer, id, type);
	say(&writer);
}

static void answer_hello(uint32_t id)
{
	struct wire_writer writer;

	wire_writer_begin(&writer, id, "host");
	wire_writer_text(&writer, "arch", "x86_64");
	wire_writer_text(&writer, "kernel", "test");
	wire_writer_text(&writer, "firmware", "test");
	wire_writer_number(&writer, "cpus", 1);
	wire_writer_number(&writer, "ticks", 100);
	wire_writer_text(&writer, "boot_id", "test");
	wire_writer_number(&writer, "uid", 0);
	wire_writer_number(&writer, "memory_kb", 1);
	say(&writer);
	answer(id, "ok");
}

static void spin_out(const char *text)
{
	size_t length = strlen(text);

	while (write(1, text, length) > 0)
		;
	exit(1);
}

static void answer_error(uint32_t id)
{
	struct wire_writer writer;

	wire_writer_begin(&writer, id, "error");
	wire_writer_text(&writer, "code", "setup");
	wire_writer_text(&writer, "message", "cannot bind: Address in use");
	say(&writer);
}

static void take(const struct wire_record *record)
{
	char text[128];

	if (strcmp(record->type, "hello") == 0) {
		answer_hello(record->id);
	} else if (strcmp(record->type, "bye") == 0) {
		answer(record->id, "ok");
		exit(0);
	} else if (strcmp(record->type, "ping") == 0 || strcmp(record->type, "cancel") == 0) {
		answer(record->id, "ok");
	} else if (strcmp(record->type, "die") == 0) {
		fputs("first line\nthe cause of death\n", stderr);
		exit(3);
	} else if (strcmp(record->type, "suicide") == 0) {
		kill(getpid(), 9);
	} else if (strcmp(record->type, "fail") == 0) {
		answer_error(record->id);
	} else if (strcmp(record->type, "silence") == 0) {
		answer(record->id, "started");
	} else if (strcmp(record->type, "flood") == 0) {
		snprintf(text, sizeof(text), "%u progress bytes=1\n", record->id);
		spin_out(text);
	} else if (strcmp(record->type, "stranger") == 0) {
		answer(record->id + 4000, "ok");
	} else if (strcmp(record->type, "garbage") == 0) {
		if (write(1, "99999999999999 %%%\n", 19) != 19)
			exit(1);
	} else if (strcmp(record->type, "endless") == 0) {
		spin_out("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	} else {
		answer(record->id, "unknown");
	}
}

int main(int argc, char **argv)
{
	static struct wire_reader reader;
	bool unlink_self = false;
	int64_t version = WIRE_VERSION;
	struct wire_record record;
	char *line, *space;
	size_t room;
	ssize_t got;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--unlink") == 0)
			unlink_self = true;
		else if (strcmp(argv[i], "future") == 0)
			version = WIRE_VERSION + 1;
		else if (strcmp(argv[i], "noise") == 0)
			spin_out("welcome to this machine\n");
	}
	greet(unlink_self, version);
	wire_reader_init(&reader);
	for (;;) {
		space = wire_reader_space(&reader, &room);
		got = read(0, space, room);
		if (got <= 0)
			return 0;
		wire_reader_filled(&reader, (size_t)got);
		while (wire_reader_next(&reader, &line) == 1)
			if (wire_record_parse(line, &record) == 0)
				take(&record);
	}
}
