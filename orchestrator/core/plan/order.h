/*
 * The order of trials within each round: the same for the same seed on every machine. Generator:
 * splitmix64 (Steele, Lea and Flood 2014), one stream through all rounds, starting from the seed.
 * Shuffle: Fisher-Yates from the last place down; a draw below n takes the remainder and throws
 * away draws beyond the largest multiple of n, so that no order is favoured.
 */
#ifndef PLAN_ORDER_H
#define PLAN_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Fills rounds x count indexes, each round a permutation of 0 .. count-1. */
void order_fill(size_t *order, size_t rounds, size_t count, uint64_t seed);

#endif
