/* The parts of a topology, in the order in which they are read: each needs the ones before it. */
#ifndef TOPOLOGY_PARTS_H
#define TOPOLOGY_PARTS_H

#include "reader.h"

/* hosts may be NULL in a recorded run, whose ends bring the hosts in. */
int hosts_read(struct reader *reader, const struct node *hosts, size_t link_count);

/* Adds a host that only an end names; its index, or TOPOLOGY_NO_HOST when out of memory. */
size_t hosts_imply(struct reader *reader, const char *name, struct topology_mark mark);

/* Is every `via` a host, and has every host the one transport it needs? */
int hosts_check(struct reader *reader);

int links_read(struct reader *reader, const struct node *links);

/* path, paths and listen may be NULL; without paths the links must form one chain. */
int paths_read(struct reader *reader, const struct node *path, const struct node *paths,
	const struct node *listen);

int tests_read(struct reader *reader, const struct node *tests);

/* Gives omit, interval and id their defaults and checks them against the duration. */
int tests_finish(struct reader *reader, struct topology_test *test);
int tests_check_ids(struct reader *reader);
void tests_free(struct topology_test *test);

extern const struct reader_choice tests_engines[];

int expect_read(struct reader *reader, const struct node *expect);

/* "; did you mean ...?" over the hosts, links or tests of the topology; returns buffer. */
const char *parts_suggest_host(
	const struct topology *topology, const char *word, char *buffer, size_t size);
const char *parts_suggest_link(
	const struct topology *topology, const char *word, char *buffer, size_t size);

#endif
