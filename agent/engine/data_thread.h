/* A thread that moves data: a small stack, no signals, and what the scheduler says of it. */
#ifndef DATA_THREAD_H
#define DATA_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct data_thread {
	void (*run)(void *argument);
	void *argument;
	pthread_t thread;
	bool running;
	atomic_int task; /* its number in /proc/self/task; 0 until it runs */
	/* What the scheduler said as the thread ended, when /proc forgets it. */
	int64_t run_us, wait_us;
	bool told;
	atomic_bool finished; /* the three above stand */
};

/* Returns 0 or -errno. */
int data_thread_start(struct data_thread *thread, void (*run)(void *argument), void *argument);

/* CPU time used and waited for so far. False where the kernel does not tell. */
bool data_thread_scheduling(
	const struct data_thread *thread, int64_t *ret_run_us, int64_t *ret_wait_us);

/*
 * The same of any live thread of this process by its number in /proc/self/task. False where the
 * kernel does not tell, and once the thread is gone; the results are then untouched.
 */
bool data_thread_read_scheduling(int task, int64_t *ret_run_us, int64_t *ret_wait_us);

/* Waits for its end; the caller has told it to. Does nothing when it does not run. */
void data_thread_join(struct data_thread *thread);

#endif
