/* Made-up runs as the text of a run file, read back by run_parse(). */
#ifndef MADE_H
#define MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "run.h"

#define MADE_LINKS_AND_PATH                                                                        \
	"\"links\":["                                                                              \
	"{\"name\":\"wired\",\"a\":\"pc1:eth0\",\"b\":\"router:eth0\"},"                           \
	"{\"name\":\"wireless\",\"a\":\"router:wlan0\",\"b\":\"pc2:wlan0\"}],"                     \
	"\"path\":[\"pc1\",\"router\",\"pc2\"]"
#define MADE_TWO_LINKS "{" MADE_LINKS_AND_PATH "}"

/* A document with this topology and no trials. */
cJSON *made_document(const char *topology);

/* Adds trials of a segment: values are Mbit/s; rounds count from 1 when interleaved. */
void made_add(
	cJSON *document, const char *segment, const double *values, size_t n, bool interleaved);

/* The trial of a segment that was added as the index-th, to hang evidence on. */
cJSON *made_trial(cJSON *document, const char *segment, size_t index);

/* Parses the document and deletes it; fails the test when it is refused. */
struct run *made_run(cJSON *document);

/* Normal deviates from a seeded generator: the same on every machine. */
double made_normal(uint64_t *state);

#endif
