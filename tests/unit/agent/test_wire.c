#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire.h"

static int parse(const char *text, struct wire_record *ret)
{
	static char line[WIRE_LINE_MAX * 2];

	assert_true(strlen(text) < sizeof(line));
	strcpy(line, text);
	return wire_record_parse(line, ret);
}

static void parses_fields(void **state)
{
	struct wire_record record;

	(void)state;
	assert_int_equal(parse("4294967295 out_2 a=1 b= c=%00x%0A%7e d9_=._:/,@+-Z", &record), 0);
	assert_int_equal(record.id, UINT32_MAX);
	assert_string_equal(record.type, "out_2");
	assert_int_equal(record.field_count, 4);
	assert_string_equal(wire_record_text(&record, "a"), "1");
	assert_string_equal(wire_record_text(&record, "b"), "");
	const struct wire_field *field = wire_record_field(&record, "c");

	assert_int_equal(field->length, 4);
	assert_memory_equal(field->value, "\0x\n~", 5);
	assert_string_equal(wire_record_text(&record, "d9_"), "._:/,@+-Z");
	assert_null(wire_record_text(&record, "d9"));
	assert_null(wire_record_field(&record, ""));
}

static void parses_without_fields(void **state)
{
	struct wire_record record;

	(void)state;
	assert_int_equal(parse("0 ok", &record), 0);
	assert_int_equal(record.id, 0);
	assert_int_equal(record.field_count, 0);
}

static void refuses_bad_lines(void **state)
{
	static const char *const bad[] = {"", " ", "1", "1 ", "x ok", "-1 ok", "+1 ok",
		"4294967296 ok", "99999999999999999999 ok", "1  ok", " 1 ok", "1 ok ", "1 Ok",
		"1 o-k", "1 ok a", "1 ok =1", "1 ok a=1 ", "1 ok a=1  b=2", "1 ok a=1\tb=2",
		"1 ok a=%", "1 ok a=%4", "1 ok a=%4g", "1 ok a=%g4", "1 ok a=% 41", "1 ok a=b=c",
		"1 ok a=\"", "1 ok a=\x01", "1 ok a=\xc3\xa4", "1 ok A=1", "1 ok a=1 a=2",
		"1 ok a=1 b=2 a=1", "1\tok", "1 ok\r"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct wire_record record = {.id = 77};

		if (parse(bad[i], &record) != -EBADMSG)
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(record.id, 77);
	}
}

static void bounds_the_fields(void **state)
{
	char text[4096] = "1 ok";
	struct wire_record record = {.id = 77};

	(void)state;
	for (int i = 0; i < WIRE_FIELDS_MAX; i++)
		sprintf(text + strlen(text), " k%d=%d", i, i);
	assert_int_equal(parse(text, &record), 0);
	assert_int_equal(record.field_count, WIRE_FIELDS_MAX);
	strcat(text, " one_more=1");
	record.id = 77;
	assert_int_equal(parse(text, &record), -E2BIG);
	assert_int_equal(record.id, 77);
}

static void reads_numbers(void **state)
{
	struct wire_record record;
	int64_t number = 5;

	(void)state;
	assert_int_equal(parse("1 x a=9223372036854775807 b=-9223372036854775808 c=0 "
			       "d=9223372036854775808 e=-9223372036854775809 f= g=- h=1a i=0x1 "
			       "j=+1 k=1%00 l=1.5 m=%201 n=99999999999999999999999",
				 &record),
		0);
	assert_int_equal(wire_record_number(&record, "d", &number), -ERANGE);
	assert_int_equal(wire_record_number(&record, "e", &number), -ERANGE);
	assert_int_equal(wire_record_number(&record, "n", &number), -ERANGE);
	assert_int_equal(wire_record_number(&record, "zz", &number), -ENOENT);
	for (const char *key = "fghijklm"; *key; key++) {
		char name[2] = {*key, '\0'};

		assert_int_equal(wire_record_number(&record, name, &number), -EINVAL);
	}
	assert_int_equal(number, 5);
	assert_int_equal(wire_record_number(&record, "a", &number), 0);
	assert_true(number == INT64_MAX);
	assert_int_equal(wire_record_number(&record, "b", &number), 0);
	assert_true(number == INT64_MIN);
	assert_int_equal(wire_record_number(&record, "c", &number), 0);
	assert_true(number == 0);
}

static void writes_what_it_reads(void **state)
{
	unsigned char all[256];
	struct wire_writer writer;
	struct wire_record record;
	int64_t number;

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)i;
	wire_writer_begin(&writer, 12, "out");
	wire_writer_data(&writer, "data", all, sizeof(all));
	wire_writer_number(&writer, "low", INT64_MIN);
	wire_writer_number(&writer, "high", INT64_MAX);
	wire_writer_text(&writer, "text", "a b=c%\n");
	int length = wire_writer_end(&writer);

	assert_true(length > 0);
	assert_int_equal(writer.text[length - 1], '\n');
	assert_null(memchr(writer.text, '\n', (size_t)length - 1));
	writer.text[length - 1] = '\0';
	assert_int_equal(wire_record_parse(writer.text, &record), 0);
	assert_int_equal(record.id, 12);
	assert_int_equal(wire_record_field(&record, "data")->length, 256);
	assert_memory_equal(wire_record_text(&record, "data"), all, 256);
	assert_int_equal(wire_record_number(&record, "low", &number), 0);
	assert_true(number == INT64_MIN);
	assert_int_equal(wire_record_number(&record, "high", &number), 0);
	assert_true(number == INT64_MAX);
	assert_string_equal(wire_record_text(&record, "text"), "a b=c%\n");
}

static void writes_plainly(void **state)
{
	struct wire_writer writer;

	(void)state;
	wire_writer_begin(&writer, 0, "hello");
	wire_writer_text(&writer, "k", "fe80::1%eth0 \xff");
	wire_writer_number(&writer, "n", -12);
	assert_int_equal(wire_writer_end(&writer), 37);
	assert_memory_equal(writer.text, "0 hello k=fe80::1%25eth0%20%FF n=-12\n", 37);
}

static void remembers_overflow(void **state)
{
	char data[WIRE_LINE_MAX];
	struct wire_writer writer;

	(void)state;
	memset(data, 'a', sizeof(data));
	/* "1 t k=" and the newline leave this much: */
	size_t fits = WIRE_LINE_MAX - 7;

	wire_writer_begin(&writer, 1, "t");
	wire_writer_data(&writer, "k", data, fits);
	assert_int_equal(wire_writer_end(&writer), WIRE_LINE_MAX);
	wire_writer_begin(&writer, 1, "t");
	wire_writer_data(&writer, "k", data, fits + 1);
	wire_writer_number(&writer, "n", 1);
	assert_int_equal(wire_writer_end(&writer), -E2BIG);
	wire_writer_begin(&writer, 1, "t");
	for (int i = 0; i <= WIRE_FIELDS_MAX; i++)
		wire_writer_number(&writer, "k", i);
	assert_int_equal(wire_writer_end(&writer), -E2BIG);
	/* A full chunk of the worst bytes fits one record. */
	memset(data, 0, sizeof(data));
	wire_writer_begin(&writer, UINT32_MAX, "out");
	wire_writer_number(&writer, "stream", 2);
	wire_writer_data(&writer, "data", data, WIRE_CHUNK_MAX);
	assert_true(wire_writer_end(&writer) > 0);
}

/* Feeds bytes in pieces of `step`; gathers the lines, joined by '|'. Returns the last result. */
static int split(const char *bytes, size_t length, size_t step, char *lines)
{
	static struct wire_reader reader;
	size_t at = 0;
	int got = 0;

	lines[0] = '\0';
	wire_reader_init(&reader);
	while (at < length) {
		size_t space;
		char *into = wire_reader_space(&reader, &space);
		size_t piece = length - at < step ? length - at : step;
		char *line;

		assert_true(space > 0);
		if (piece > space)
			piece = space;
		memcpy(into, bytes + at, piece);
		wire_reader_filled(&reader, piece);
		at += piece;
		while ((got = wire_reader_next(&reader, &line)) == 1) {
			strcat(lines, line);
			strcat(lines, "|");
		}
		if (got < 0)
			return got;
	}
	return got;
}

static void splits_at_any_byte(void **state)
{
	static const char bytes[] = "1 ping\n\r\n22 ping a=1\r\n\n3 ok b=\0c\r\r\nrest";
	char lines[200];

	(void)state;
	for (size_t step = 1; step < sizeof(bytes); step++) {
		assert_int_equal(split(bytes, sizeof(bytes) - 1, step, lines), 0);
		assert_string_equal(lines, "1 ping||22 ping a=1||3 ok b=\1c\r|");
	}
}

static void bounds_a_line(void **state)
{
	static char bytes[WIRE_LINE_MAX * 2], lines[WIRE_LINE_MAX * 2 + 16];

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	memcpy(bytes, "1 a\n", 4);
	bytes[4 + WIRE_LINE_MAX - 1] = '\n';
	for (size_t step = 1000; step < 20000; step += 6000) {
		assert_int_equal(split(bytes, 4 + WIRE_LINE_MAX, step, lines), 0);
		assert_int_equal(strlen(lines), 4 + WIRE_LINE_MAX);
	}
	bytes[4 + WIRE_LINE_MAX - 1] = 'a';
	for (size_t step = 1000; step < 20000; step += 6000)
		assert_int_equal(split(bytes, sizeof(bytes), step, lines), -E2BIG);
	assert_string_equal(lines, "1 a|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_fields),
		cmocka_unit_test(parses_without_fields),
		cmocka_unit_test(refuses_bad_lines),
		cmocka_unit_test(bounds_the_fields),
		cmocka_unit_test(reads_numbers),
		cmocka_unit_test(writes_what_it_reads),
		cmocka_unit_test(writes_plainly),
		cmocka_unit_test(remembers_overflow),
		cmocka_unit_test(splits_at_any_byte),
		cmocka_unit_test(bounds_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
