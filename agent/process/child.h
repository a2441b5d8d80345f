/*
 * A child process in its own process group, with its standard streams on non-blocking descriptors.
 * Used by the agent (spawn) and by the orchestrator (exec transport, proxy commands, lab tools).
 * libc only; no floating point.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

enum child_streams {
	CHILD_PIPES,      /* input, output and errors are pipes */
	CHILD_SOCKETPAIR, /* input == output is one socket; errors is a pipe */
	CHILD_QUIET,      /* all three are /dev/null; the descriptors are -1 */
};

struct child {
	pid_t pid;                 /* -1 when there is none */
	int input, output, errors; /* -1 when closed */
	bool exited;
	int status; /* as of waitpid(), once exited */
};

/*
 * Starts argv[0] (searched in PATH) in a new process group, all other descriptors closed, signals
 * reset. Returns 0, or -errno, the failure of exec included.
 */
int child_start(const char *const argv[], enum child_streams streams, struct child *ret);

/*
 * Learns the exit status when there is one. Returns true once the child has exited. Never blocks.
 * The zombie stays until child_finish(), so that the group's number cannot become another's.
 */
bool child_reap(struct child *child);

/* SIGKILLs the whole process group, reaps (the kill is certain, so the wait is short), closes. Also
 * right for a child that has exited, whose own children may live; the second time it does nothing.
 */
void child_finish(struct child *child);

/* With CHILD_SOCKETPAIR, ends the sending direction only. */
void child_close_input(struct child *child);

#endif
