#include "wire.h"

#include <errno.h>
#include <string.h>

static bool byte_is_word(unsigned char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
}

static bool byte_is_plain(unsigned char byte)
{
	if ((byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
		(byte >= '0' && byte <= '9'))
		return true;
	return byte != '\0' && strchr("._:/,@+-", byte) != NULL;
}

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

/* Cuts the id off the line. Returns what follows its space, or NULL. */
static char *parse_id(char *line, uint32_t *ret_id)
{
	uint32_t id = 0;
	char *at = line;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (__builtin_mul_overflow(id, 10u, &id) ||
			__builtin_add_overflow(id, (uint32_t)(*at - '0'), &id))
			return NULL;
	}
	if (at == line || *at != ' ')
		return NULL;
	*ret_id = id;
	return at + 1;
}

/* Cuts a word that ends with the byte stop, or with the line when that may end it. */
static char *parse_word(char *at, char stop, bool may_end, char **ret_word)
{
	char *word = at;

	while (byte_is_word((unsigned char)*at))
		at++;
	if (at == word || (*at != stop && !(may_end && *at == '\0')))
		return NULL;
	*ret_word = word;
	if (*at == '\0')
		return at;
	*at = '\0';
	return at + 1;
}

/* Decodes a value in place. Returns the start of the next field, or of the line's end. */
static char *parse_value(char *at, struct wire_field *field, bool *ret_more)
{
	char *out = at;

	field->value = at;
	for (; *at != ' ' && *at != '\0'; at++) {
		if (*at == '%') {
			int high = hex_digit(at[1]);
			int low = high < 0 ? -1 : hex_digit(at[2]);

			if (low < 0)
				return NULL;
			*out++ = (char)(high * 16 + low);
			at += 2;
		} else if (byte_is_plain((unsigned char)*at)) {
			*out++ = *at;
		} else {
			return NULL;
		}
	}
	field->length = (size_t)(out - field->value);
	*ret_more = *at == ' ';
	*out = '\0';
	return *ret_more ? at + 1 : at;
}

int wire_record_parse(char *line, struct wire_record *ret)
{
	struct wire_record record = {0};
	char *type;
	char *end = line + strlen(line);
	char *at = parse_id(line, &record.id);

	if (!at)
		return -EBADMSG;
	at = parse_word(at, ' ', true, &type);
	if (!at)
		return -EBADMSG;
	record.type = type;
	/* After the type's space, or after a value's, a field must follow: no space at the end. */
	bool more = at != end || end[-1] == '\0';

	while (more) {
		char *key;

		if (record.field_count == WIRE_FIELDS_MAX)
			return -E2BIG;
		at = parse_word(at, '=', false, &key);
		if (!at || wire_record_field(&record, key))
			return -EBADMSG;
		struct wire_field *field = &record.fields[record.field_count];

		field->key = key;
		at = parse_value(at, field, &more);
		if (!at)
			return -EBADMSG;
		record.field_count++;
	}
	*ret = record;
	return 0;
}

const struct wire_field *wire_record_field(const struct wire_record *record, const char *key)
{
	for (size_t i = 0; i < record->field_count; i++) {
		if (strcmp(record->fields[i].key, key) == 0)
			return &record->fields[i];
	}
	return NULL;
}

const char *wire_record_text(const struct wire_record *record, const char *key)
{
	const struct wire_field *field = wire_record_field(record, key);

	return field ? field->value : NULL;
}

int wire_record_number(const struct wire_record *record, const char *key, int64_t *ret)
{
	const struct wire_field *field = wire_record_field(record, key);

	if (!field)
		return -ENOENT;
	bool negative = field->value[0] == '-';
	size_t at = negative ? 1 : 0;
	int64_t number = 0;

	if (at == field->length)
		return -EINVAL;
	for (size_t i = at; i < field->length; i++) {
		if (field->value[i] < '0' || field->value[i] > '9')
			return -EINVAL;
	}
	for (; at < field->length; at++) {
		int64_t digit = field->value[at] - '0';

		/* Counted downwards for a negative number, so that the smallest one fits. */
		if (__builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, negative ? -digit : digit, &number))
			return -ERANGE;
	}
	*ret = number;
	return 0;
}

/* One byte always stays free for the newline. */
static void put(struct wire_writer *writer, const char *text, size_t length)
{
	if (writer->overflow || length > sizeof(writer->text) - 1 - writer->length) {
		writer->overflow = true;
		return;
	}
	memcpy(writer->text + writer->length, text, length);
	writer->length += length;
}

static void put_unsigned(struct wire_writer *writer, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put(writer, digits + at, sizeof(digits) - at);
}

static void put_key(struct wire_writer *writer, const char *key)
{
	if (writer->field_count == WIRE_FIELDS_MAX)
		writer->overflow = true;
	writer->field_count++;
	put(writer, " ", 1);
	put(writer, key, strlen(key));
	put(writer, "=", 1);
}

void wire_writer_begin(struct wire_writer *writer, uint32_t id, const char *type)
{
	writer->length = 0;
	writer->field_count = 0;
	writer->overflow = false;
	put_unsigned(writer, id);
	put(writer, " ", 1);
	put(writer, type, strlen(type));
}

void wire_writer_text(struct wire_writer *writer, const char *key, const char *value)
{
	wire_writer_data(writer, key, value, strlen(value));
}

void wire_writer_number(struct wire_writer *writer, const char *key, int64_t value)
{
	put_key(writer, key);
	if (value < 0)
		put(writer, "-", 1);
	put_unsigned(writer, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void wire_writer_data(struct wire_writer *writer, const char *key, const void *data, size_t length)
{
	static const char hex[] = "0123456789ABCDEF";
	const unsigned char *bytes = data;

	put_key(writer, key);
	for (size_t i = 0; i < length; i++) {
		if (byte_is_plain(bytes[i])) {
			char plain = (char)bytes[i];

			put(writer, &plain, 1);
		} else {
			char escape[3] = {'%', hex[bytes[i] >> 4], hex[bytes[i] & 15]};

			put(writer, escape, sizeof(escape));
		}
	}
}

int wire_writer_end(struct wire_writer *writer)
{
	if (writer->overflow)
		return -E2BIG;
	writer->text[writer->length++] = '\n';
	return (int)writer->length;
}

void wire_reader_init(struct wire_reader *reader)
{
	reader->start = 0;
	reader->end = 0;
}

char *wire_reader_space(struct wire_reader *reader, size_t *ret_size)
{
	if (reader->start > 0) {
		memmove(reader->buffer, reader->buffer + reader->start,
			reader->end - reader->start);
		reader->end -= reader->start;
		reader->start = 0;
	}
	*ret_size = sizeof(reader->buffer) - reader->end;
	return reader->buffer + reader->end;
}

void wire_reader_filled(struct wire_reader *reader, size_t size)
{
	char *bytes = reader->buffer + reader->end;

	/* A raw NUL would hide the rest of its line. Byte 1 is as illegal and hides nothing. */
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\0')
			bytes[i] = '\1';
	}
	reader->end += size;
}

int wire_reader_next(struct wire_reader *reader, char **ret_line)
{
	char *line = reader->buffer + reader->start;
	char *newline = memchr(line, '\n', reader->end - reader->start);

	if (!newline)
		return reader->end - reader->start == sizeof(reader->buffer) ? -E2BIG : 0;
	reader->start = (size_t)(newline - reader->buffer) + 1;
	*newline = '\0';
	if (newline > line && newline[-1] == '\r')
		newline[-1] = '\0';
	*ret_line = line;
	return 1;
}
