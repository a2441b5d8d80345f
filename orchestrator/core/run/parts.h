/* What the files of run/ share; nobody else includes it. */
#ifndef RUN_PARTS_H
#define RUN_PARTS_H

#include <cjson/cJSON.h>

#include "run.h"

#define RUN_DEPTH_MAX 64

/* A number, or a decimal string (counters above 2^53); NaN when absent, null or anything else. */
double json_number(const struct cJSON *object, const char *key);

/* A string's text, or NULL. */
const char *json_text(const struct cJSON *object, const char *key);

/* Sets key to item, in its old place when it was there; takes ownership of item. */
bool json_set(struct cJSON *object, const char *key, struct cJSON *item);

/* A number item, null when it is not finite. */
struct cJSON *json_number_or_null(double value);

/* One line of text that reads back as exactly the same numbers. free() it. */
char *json_line(const struct cJSON *item);

/* The first number in the tree that is not finite or beyond 1e18: its key in *ret_key. */
bool json_has_absurd_number(const struct cJSON *item, const char **ret_key);

/* Deepest nesting of brackets outside strings. */
size_t json_depth(const char *text, size_t length);

/* Builds the typed view; where names the trial in messages. NULL with *err set. Takes ownership. */
struct run_trial *run_view_create(
	const struct run *run, struct cJSON *json, const char *where, struct error *err);
void run_view_free(struct run_trial *trial);

/* Adds without looking for duplicates. Takes ownership of trial, also on failure. */
int run_append(struct run *run, struct cJSON *trial, const char *where, struct error *err);

/* Order of (round, path, segment, test, engine, direction); 0 = the same place in the run. */
int run_compare_place(const struct run_trial *a, const struct run_trial *b);

/* The run's topology from its document. */
int run_load_topology(struct run *run, const char *file, struct error *err);

#endif
