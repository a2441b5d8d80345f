#include "records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

void records_parse(struct records *records, const char *const *lines)
{
	records->count = 0;
	for (size_t i = 0; lines[i]; i++) {
		assert_true(i < RECORDS_MAX);
		snprintf(records->lines[i], sizeof(records->lines[i]), "%s", lines[i]);
		assert_int_equal(wire_record_parse(records->lines[i], &records->items[i]), 0);
		records->pointers[i] = &records->items[i];
		records->count++;
	}
}
