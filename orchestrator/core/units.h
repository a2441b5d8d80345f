/*
 * Numbers with units as people write them: 500ms, 10s, 20Mbit, 64k, 1MiB, 5%. Strict: no spaces,
 * exact letters (M is mega, m is not), no silent rounding. Errors are ERROR_USAGE without a place;
 * a caller who knows the place adds it.
 */
#ifndef UNITS_H
#define UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* ms, s, min, h -> milliseconds. A unit is needed, except for 0. */
int units_parse_duration(const char *text, int64_t *ret_ms, struct error *err);

/* The same for the command line, where a bare number means seconds. */
int units_parse_seconds(const char *text, int64_t *ret_ms, struct error *err);

/* bit, kbit, Mbit, Gbit, Tbit (powers of 1000) -> bit/s. A unit is needed, except for 0. */
int units_parse_rate(const char *text, int64_t *ret_bps, struct error *err);

/* B, kB, MB, GB (1000); k, K, KiB, M, MiB, G, GiB (1024) -> bytes. A bare number is bytes. */
int units_parse_size(const char *text, int64_t *ret_bytes, struct error *err);

/* 5% -> 5.0. The sign is needed, except for 0. */
int units_parse_percent(const char *text, double *ret_percent, struct error *err);

/* A whole number without a unit, possibly negative. */
int units_parse_count(const char *text, int64_t *ret_count, struct error *err);

#define UNITS_TEXT_MAX 32

/* The shortest exact text, which the parsers above read back; all return buffer. */
const char *units_format_duration(int64_t ms, char *buffer, size_t size);
const char *units_format_rate(int64_t bps, char *buffer, size_t size);
const char *units_format_size(int64_t bytes, char *buffer, size_t size);

#endif
