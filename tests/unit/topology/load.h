/* Loading topologies in tests: fails the test with the loader's words. */
#ifndef TEST_LOAD_H
#define TEST_LOAD_H

#include "topology.h"

struct topology *load_text(const char *text, enum topology_mode mode);
struct topology *load_file(const char *path);

/* The file's text; free() it. */
char *read_file(const char *path, size_t *ret_length);

/* Compares everything but file names and places. */
void assert_same_topology(const struct topology *a, const struct topology *b);

#endif
