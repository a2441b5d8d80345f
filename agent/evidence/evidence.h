/*
 * `evidence`: what the host did during a window, as differences between two snapshots. Each kind of
 * evidence is a row in the table of evidence.c and a file or less.
 */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include <stdint.h>

struct evidence;

/* When evidence_advance() is wanted (monotonic us); INT64_MAX for never. NULL is fine. */
int64_t evidence_deadline(const struct evidence *evidence);

/* Takes the late part of the first snapshot when it is due. */
void evidence_advance(struct evidence *evidence);

void evidence_destroy(struct evidence *evidence);

#endif
