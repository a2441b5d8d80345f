/*
 * Small files of /proc and /sys, below a root that tests may set to a folder of their own.
 */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILES_PATH_MAX = 512 };

/* Joins parts (NULL-terminated list) to a path below root. False when it does not fit. */
bool files_join(char *path, size_t size, const char *root, ...) __attribute__((sentinel));

/* Reads at most size - 1 bytes and adds a NUL. Returns the length, or -errno. */
int files_read(const char *path, char *text, size_t size);

/* Reads a file of any size. Returns NUL-terminated text to be freed, or NULL. */
char *files_read_all(const char *path);

/* Reads the number at the file's start, whatever follows it. False when there is none. */
bool files_read_number(const char *path, int64_t *ret);

bool files_exist(const char *path);

/* Skips blanks and reads a decimal number; moves *at behind it. False when there is none. */
bool files_parse_number(const char **at, int64_t *ret);

/* Cuts the next line off *text. NULL at the end. */
char *files_next_line(char **text);

/* Cuts the next word (separated by blanks) off *line. NULL at the end. */
char *files_next_word(char **line);

#endif
