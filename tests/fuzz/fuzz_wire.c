/*
 * The wire against any bytes: the reader splits the same lines however they arrive, and what parses
 * survives being written and parsed again.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "wire.h"

/* FNV-1a over all lines with their lengths: enough to tell two splits apart. */
struct lines {
	uint64_t hash;
	size_t count;
	int end; /* 0, or -E2BIG when a line was too long */
};

static void hash_line(struct lines *lines, const char *line)
{
	/* The terminator is hashed too, so that "ab" "c" is not "a" "bc". */
	for (size_t i = 0, length = strlen(line) + 1; i < length; i++)
		lines->hash = (lines->hash ^ (unsigned char)line[i]) * 1099511628211u;
	lines->count++;
}

static void require_same_field(const struct wire_field *a, const struct wire_field *b)
{
	fuzz_require(strcmp(a->key, b->key) == 0, "a key survives writing");
	fuzz_require(a->length == b->length, "a value's length survives writing");
	fuzz_require(memcmp(a->value, b->value, a->length) == 0, "a value survives writing");
	fuzz_require(b->value[b->length] == '\0', "a value is terminated");
}

static void require_same_record(const struct wire_record *a, const struct wire_record *b)
{
	fuzz_require(a->id == b->id, "the id survives writing");
	fuzz_require(strcmp(a->type, b->type) == 0, "the type survives writing");
	fuzz_require(a->field_count == b->field_count, "no field is lost or made");
	for (size_t i = 0; i < a->field_count; i++)
		require_same_field(&a->fields[i], &b->fields[i]);
}

static void check_accessors(const struct wire_record *record)
{
	for (size_t i = 0; i < record->field_count; i++) {
		const struct wire_field *field = &record->fields[i];
		fuzz_require(wire_record_field(record, field->key) == field, "keys are unique");
		fuzz_require(wire_record_text(record, field->key) == field->value, "text finds it");
	}
	fuzz_require(wire_record_field(record, "never_sent_key") == NULL || record->field_count > 0,
		"an empty record has no fields");
}

static int write_record(const struct wire_record *record, struct wire_writer *writer)
{
	wire_writer_begin(writer, record->id, record->type);
	for (size_t i = 0; i < record->field_count; i++)
		wire_writer_data(writer, record->fields[i].key, record->fields[i].value,
			record->fields[i].length);
	return wire_writer_end(writer);
}

/* A number that can be read is the number that is read after it was written. */
static void check_numbers(const struct wire_record *record)
{
	static struct wire_writer writer;
	for (size_t i = 0; i < record->field_count; i++) {
		const char *key = record->fields[i].key;
		int64_t before = 0, after = 0;
		if (wire_record_number(record, key, &before) != 0)
			continue;
		wire_writer_begin(&writer, 1, "number");
		wire_writer_number(&writer, key, before);
		int length = wire_writer_end(&writer);
		if (length == -E2BIG)
			continue; /* the key alone nearly fills a line */
		fuzz_require(length > 0, "a number can be written");
		writer.text[length - 1] = '\0';
		struct wire_record again;
		fuzz_require(wire_record_parse(writer.text, &again) == 0, "a number parses");
		fuzz_require(wire_record_number(&again, key, &after) == 0, "a number is one");
		fuzz_require(before == after, "a number survives writing");
	}
}

static void check_line(const char *line)
{
	static char first[WIRE_LINE_MAX], canonical[WIRE_LINE_MAX];
	static struct wire_writer writer;
	struct wire_record record, again;

	memcpy(first, line, strlen(line) + 1);
	if (wire_record_parse(first, &record) != 0)
		return;
	check_accessors(&record);
	check_numbers(&record);

	int length = write_record(&record, &writer);
	if (length == -E2BIG)
		return; /* bytes that came raw need three each when written */
	fuzz_require(length > 0 && writer.text[length - 1] == '\n', "a record ends its line");
	fuzz_require(!memchr(writer.text, '\n', (size_t)length - 1), "a record is one line");
	memcpy(canonical, writer.text, (size_t)length);

	writer.text[length - 1] = '\0';
	fuzz_require(wire_record_parse(writer.text, &again) == 0, "what was written parses");
	require_same_record(&record, &again);

	static struct wire_writer second;
	fuzz_require(write_record(&again, &second) == length &&
			     memcmp(second.text, canonical, (size_t)length) == 0,
		"writing is canonical");
}

/* Splits data as it would arrive in pieces of at most chunk bytes. */
static struct lines split(const uint8_t *data, size_t size, size_t chunk, int check)
{
	static struct wire_reader reader;
	struct lines lines = {.hash = 14695981039346656037u};
	size_t at = 0;

	wire_reader_init(&reader);
	while (lines.end == 0) {
		char *line;
		int got = wire_reader_next(&reader, &line);
		if (got == 1) {
			hash_line(&lines, line);
			if (check)
				check_line(line);
			continue;
		}
		lines.end = got;
		size_t space;
		char *into = wire_reader_space(&reader, &space);
		if (got != 0 || at == size)
			break;
		fuzz_require(space > 0, "a reader without a whole line has space or says E2BIG");
		size_t piece = size - at;
		piece = piece < chunk ? piece : chunk;
		piece = piece < space ? piece : space;
		memcpy(into, data + at, piece);
		wire_reader_filled(&reader, piece);
		at += piece;
	}
	return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines whole = split(data, size, SIZE_MAX, 1);
	/* Odd sizes, so that pieces end inside of words, escapes and line ends. */
	static const size_t chunks[] = {1, 7, 509};
	for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
		struct lines pieces = split(data, size, chunks[i], 0);
		fuzz_require(pieces.hash == whole.hash && pieces.count == whole.count &&
				     pieces.end == whole.end,
			"lines do not depend on how they arrive");
	}
	return 0;
}
