/*
 * The line protocol between orchestrator and agent: one record a line,
 *
 *     ID TYPE key=value key=value ...\n
 *
 * ID is a decimal number chosen by the asker (0 is the agent's own greeting). TYPE and keys are
 * lower-case words of [a-z0-9_]. Values are percent-encoded: every byte outside
 * [A-Za-z0-9._:/,@+-] is written %XX, so a value holds any byte, also NUL. The conversation is
 * written down in docs/wire.md. Shared by both programs; libc only; no floating point; no
 * allocation.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC      "orch-agent"
#define WIRE_VERSION    1
#define WIRE_LINE_MAX   16384 /* bytes of one line with its newline; longer ones are an error */
#define WIRE_FIELDS_MAX 96
#define WIRE_CHUNK_MAX  4096 /* raw bytes in one `out` record */

struct wire_field {
	const char *key;
	const char *value; /* decoded and NUL-terminated; may hold NULs itself */
	size_t length;     /* bytes of value without the terminator */
};

/* A parsed record. Its strings point into the line it was parsed from. */
struct wire_record {
	uint32_t id;
	const char *type;
	size_t field_count;
	struct wire_field fields[WIRE_FIELDS_MAX];
};

/*
 * Parses line (NUL-terminated, without newline) in place. Returns 0, or -EBADMSG for a bad id, word
 * or escape, or for a repeated key, -E2BIG for too many fields; *ret is then untouched.
 */
int wire_record_parse(char *line, struct wire_record *ret);

/* The value of key, or NULL when absent. */
const char *wire_record_text(const struct wire_record *record, const char *key);

/* The field of key with its length, or NULL when absent. */
const struct wire_field *wire_record_field(const struct wire_record *record, const char *key);

/* Reads a decimal (possibly negative) number. -ENOENT absent, -EINVAL not a number, -ERANGE. */
int wire_record_number(const struct wire_record *record, const char *key, int64_t *ret);

/* A record under construction. Overflow is remembered and reported by wire_writer_end(). */
struct wire_writer {
	char text[WIRE_LINE_MAX];
	size_t length;
	size_t field_count;
	bool overflow; /* of the line, or of WIRE_FIELDS_MAX */
};

void wire_writer_begin(struct wire_writer *writer, uint32_t id, const char *type);
void wire_writer_text(struct wire_writer *writer, const char *key, const char *value);
void wire_writer_number(struct wire_writer *writer, const char *key, int64_t value);
void wire_writer_data(struct wire_writer *writer, const char *key, const void *data, size_t length);

/* Adds the newline. Returns the line's length in writer->text, or -E2BIG. */
int wire_writer_end(struct wire_writer *writer);

/* Splits a byte stream into lines. */
struct wire_reader {
	char buffer[WIRE_LINE_MAX];
	size_t start, end;
};

void wire_reader_init(struct wire_reader *reader);

/* The free part of the buffer, to read into; *ret_size is 0 only when a line is too long. */
char *wire_reader_space(struct wire_reader *reader, size_t *ret_size);

/* Says that size bytes were read into the space. A raw NUL among them becomes byte 1, which no
 * record may hold, so that its line is refused instead of cut short. */
void wire_reader_filled(struct wire_reader *reader, size_t size);

/*
 * Takes the next whole line, NUL-terminated and without newline (a CR before it is removed too).
 * Returns 1 and sets *ret_line (valid until the next call of wire_reader_space), 0 when no whole
 * line is there, -E2BIG when the buffer is full without a newline.
 */
int wire_reader_next(struct wire_reader *reader, char **ret_line);

#endif
