/*
 * What went wrong, where, and what to do: the last argument of every function that can fail.
 * A caller that does not care may pass NULL.
 */
#ifndef ERROR_H
#define ERROR_H

#include <stdbool.h>

enum error_code {
	ERROR_NONE = 0,
	ERROR_USAGE,       /* the command line */
	ERROR_TOPOLOGY,    /* the topology file, or what a host knows better than it */
	ERROR_UNBUILT,     /* valid, but not built yet */
	ERROR_FILE,        /* a file or folder that cannot be read or written */
	ERROR_FORMAT,      /* a run file that is none */
	ERROR_HOST,        /* a host that cannot be reached or was lost */
	ERROR_TRIAL,       /* one trial failed; the run goes on */
	ERROR_LAB,         /* the emulated testbed */
	ERROR_INTERRUPTED, /* Ctrl-C */
	ERROR_SYSTEM,      /* out of memory or descriptors */
};

struct error {
	enum error_code code;
	char where[200]; /* host, segment or file:line:column; empty when it is nowhere special */
	char message[1000]; /* what is wrong and what to do, one or more lines, no final newline */
};

/* Sets *err unless it is NULL. where may be NULL. Always returns -1, so that a caller can return
 * it. */
int error_set(struct error *err, enum error_code code, const char *where, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The analyzer sees one file at a time, and would follow paths on which an error is none. */
#ifdef __clang_analyzer__
#define error_set(...) ((void)error_set(__VA_ARGS__), -1)
#endif

/* The exit status of a command that ends with this error (4, 5 or 130). */
int error_exit_status(const struct error *err);

#endif
