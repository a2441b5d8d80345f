/* What a fuzz target is: one function, called by libFuzzer or by replay.c. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process, which both drivers report as a failure, when a property does not hold. */
static inline void fuzz_require(int holds, const char *property)
{
	if (holds)
		return;
	fprintf(stderr, "property violated: %s\n", property);
	abort();
}

#endif
