/*
 * What waits to be written to the orchestrator. Writing never blocks, so that a slow reader cannot
 * stop the loop; what it does not take is kept, up to a bound.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#define OUTPUT_MAX  (4u << 20)   /* beyond this the reader is taken for dead */
#define OUTPUT_HIGH (256u << 10) /* above this, sources that can wait should wait */

struct output {
	int fd;
	char *bytes;
	size_t start, end, capacity;
	bool broken; /* the reader is gone, or did not keep up */
};

void output_init(struct output *output, int fd);
void output_finish(struct output *output);
void output_add(struct output *output, const char *bytes, size_t length);
void output_flush(struct output *output);
size_t output_pending(const struct output *output);

#endif
