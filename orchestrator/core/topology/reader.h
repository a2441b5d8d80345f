/*
 * Reading mappings by table: a row says a key's name, how its value is read, where it goes and what
 * range it may have. A new key is a new row.
 */
#ifndef TOPOLOGY_READER_H
#define TOPOLOGY_READER_H

#include <stddef.h>

#include "node.h"

struct reader {
	struct topology *topology;
	enum topology_mode mode;
	struct error *err;
};

struct reader_choice {
	const char *name;
	int value;
};

struct field;
typedef int (*field_read)(
	struct reader *reader, const struct field *field, const struct node *value, void *target);

struct field {
	const char *name;
	field_read read;
	size_t offset;                       /* of the target in the mapping's struct */
	int64_t low, high;                   /* inclusive, in the base unit; both 0 = no range */
	const struct reader_choice *choices; /* ends with a NULL name */
	unsigned kinds;  /* tests: bits of the kinds that have this key; 0 = all */
	bool takes_null; /* an empty value is not the same as no key */
};

struct field_table {
	const struct field *fields;
	size_t count;
};

#define FIELD_TABLE(array)                                                                         \
	{                                                                                          \
		(array), sizeof(array) / sizeof((array)[0])                                        \
	}

int reader_fail(const struct reader *reader, struct topology_mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#ifdef __clang_analyzer__ /* as error_set() */
#define reader_fail(...) ((void)reader_fail(__VA_ARGS__), -1)
#endif
int reader_out_of_memory(const struct reader *reader);

/*
 * Reads the mapping's keys into base. what names the mapping in messages ("the topology", "host
 * \"pc1\""). Unknown keys are errors, except in a recorded run.
 */
int reader_mapping(struct reader *reader, const struct node *node, const char *what,
	const struct field_table *table, void *base);

/* The scalar's text, or NULL with an error that names the field. */
const char *reader_text(struct reader *reader, const char *name, const struct node *value);

/* A list of at least one text; strings and array are freed with reader_free_list(). */
int reader_list(struct reader *reader, const char *name, const struct node *value,
	char ***ret_items, size_t *ret_count);
void reader_free_list(char **items, size_t count);

/* Is this a name? [A-Za-z0-9][A-Za-z0-9._-]{0,63}; what names the thing in the error. */
int reader_check_name(
	struct reader *reader, struct topology_mark mark, const char *what, const char *name);

/* Targets: char *, char *, bool, int, int64_t (ms, bit/s, bytes), double (percent, share), enum,
 * const struct node *. */
int reader_string(struct reader *, const struct field *, const struct node *, void *target);
int reader_name(struct reader *, const struct field *, const struct node *, void *target);
int reader_bool(struct reader *, const struct field *, const struct node *, void *target);
int reader_int(struct reader *, const struct field *, const struct node *, void *target);
int reader_duration(struct reader *, const struct field *, const struct node *, void *target);
int reader_rate(struct reader *, const struct field *, const struct node *, void *target);
int reader_size(struct reader *, const struct field *, const struct node *, void *target);
int reader_percent(struct reader *, const struct field *, const struct node *, void *target);
int reader_share(struct reader *, const struct field *, const struct node *, void *target);
int reader_margin(struct reader *, const struct field *, const struct node *, void *target);
int reader_choice(struct reader *, const struct field *, const struct node *, void *target);
int reader_node(struct reader *, const struct field *, const struct node *, void *target);

#endif
