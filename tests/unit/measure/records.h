/* Wire records from literal lines, for tests that stand where the fleet would. */
#ifndef RECORDS_H
#define RECORDS_H

#include "wire.h"

#define RECORDS_MAX 32

struct records {
	char lines[RECORDS_MAX][512];
	struct wire_record items[RECORDS_MAX];
	const struct wire_record *pointers[RECORDS_MAX];
	size_t count;
};

/* Parses lines (NULL-terminated list) and fails the test when one is not a record. */
void records_parse(struct records *records, const char *const *lines);

#endif
