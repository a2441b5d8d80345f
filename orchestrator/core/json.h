/*
 * What cJSON leaves open: exact numbers, counters as strings, null for what is not known, limits on
 * what a stranger's file may hold.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

/* A number, or a decimal string (counters above 2^53); NaN when absent, null or anything else. */
double json_number(const struct cJSON *object, const char *key);

/* A string's text, or NULL. */
const char *json_text(const struct cJSON *object, const char *key);

/* Adds a number, null when it is not finite: NaN stands for "not known". */
void json_add_number(struct cJSON *object, const char *key, double value);

/* Adds a text, null when it is NULL or empty. */
void json_add_text(struct cJSON *object, const char *key, const char *text);

/* Sets key to item, in its old place when it was there. Takes ownership of item; false when item is
 * NULL or memory is out.
 */
bool json_set(struct cJSON *object, const char *key, struct cJSON *item);

/* One line of text that reads back as exactly the same numbers, for free(); NULL = out of memory.
 */
char *json_line(const struct cJSON *item);

/* The first number in the tree that is not finite or beyond 1e18: its key in *ret_key. */
bool json_has_absurd_number(const struct cJSON *item, const char **ret_key);

/* Deepest nesting of brackets outside strings. */
size_t json_depth(const char *text, size_t length);

#endif
