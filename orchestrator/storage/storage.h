/*
 * Where run files live: whole-file reads with a size cap, the .part file that grows by a line a
 * trial, and the atomic finish (write beside, fsync, rename, remove the .part).
 */
#ifndef STORAGE_H
#define STORAGE_H

#include <stddef.h>

#include "error.h"

#define STORAGE_FILE_MAX (512u << 20)

/* Reads a whole regular file; free() the NUL-terminated text. Fails with ERROR_FILE. */
char *storage_read(const char *path, size_t size_max, size_t *ret_length, struct error *err);

struct storage;

/*
 * Opens PATH.part for a new run and reserves PATH (which must not exist unless it is an ordinary
 * file this user may replace); fails before the first trial when the folder is read-only or full
 * (ERROR_FILE).
 */
struct storage *storage_create(const char *path, struct error *err);

/* Appends a line and its newline and gives it to the kernel at once. */
int storage_append(struct storage *storage, const char *line, struct error *err);

/* Writes the finished text to PATH atomically and removes the .part; on failure the .part stays. */
int storage_finish(struct storage *storage, const char *text, struct error *err);

/* Closes; an unfinished .part stays when it holds at least one trial line, else it is removed. */
void storage_close(struct storage *storage);

const char *storage_path(const struct storage *storage);

#endif
