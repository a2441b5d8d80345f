/*
 * A descriptor that becomes readable when a child process has exited, for loops that poll(2). The
 * ends of the child's pipes cannot stand for it: a child may close them before it exits, and what
 * it started may hold them open long after.
 */
#ifndef EXIT_NOTICE_H
#define EXIT_NOTICE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* Must not move between open and close: a thread may read it. */
struct exit_notice {
	int descriptor; /* poll for POLLIN; stays readable (or hung up) until closed */
	bool threaded;  /* the members below are in use */
	pid_t pid;
	int thread_end;
	pthread_t thread;
};

/* For a child that has not been reaped. Returns 0 or -errno; then there is nothing to close. */
int exit_notice_open(struct exit_notice *notice, pid_t pid);

/* Only when the child has exited, reaped or not: may wait for whoever watches it. */
void exit_notice_close(struct exit_notice *notice);

#endif
