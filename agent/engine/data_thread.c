#include "data_thread.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"

enum { STACK_SIZE = 128 << 10 };

static char *decimal(int number, char *end)
{
	*--end = '\0';
	do {
		*--end = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	return end;
}

/* Of this process, so never below a root of fake files. */
bool data_thread_read_scheduling(int task, int64_t *ret_run_us, int64_t *ret_wait_us)
{
	char path[64], digits[16], text[96];
	const char *at = text;
	int64_t run, wait;

	if (!files_join(path, sizeof(path), "/proc/self/task/",
		    decimal(task, digits + sizeof(digits)), "/schedstat", NULL) ||
		files_read(path, text, sizeof(text)) <= 0 || !files_parse_number(&at, &run) ||
		!files_parse_number(&at, &wait))
		return false;
	*ret_run_us = run / 1000;
	*ret_wait_us = wait / 1000;
	return true;
}

static void *run_thread(void *argument)
{
	struct data_thread *thread = argument;
	int task = (int)syscall(SYS_gettid);

	atomic_store(&thread->task, task);
	/* The default slack of 50 us would blur every paced wait. */
	prctl(PR_SET_TIMERSLACK, 1);
	thread->run(thread->argument);
	thread->told = data_thread_read_scheduling(task, &thread->run_us, &thread->wait_us);
	atomic_store(&thread->finished, true);
	return NULL;
}

int data_thread_start(struct data_thread *thread, void (*run)(void *argument), void *argument)
{
	pthread_attr_t attributes;
	sigset_t all, before;

	thread->run = run;
	thread->argument = argument;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int result = pthread_create(&thread->thread, &attributes, run_thread, thread);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	thread->running = result == 0;
	return -result;
}

bool data_thread_scheduling(
	const struct data_thread *thread, int64_t *ret_run_us, int64_t *ret_wait_us)
{
	int task = atomic_load(&thread->task);

	if (!atomic_load(&thread->finished)) {
		*ret_run_us = *ret_wait_us = 0;
		return task == 0 || data_thread_read_scheduling(task, ret_run_us, ret_wait_us);
	}
	*ret_run_us = thread->run_us;
	*ret_wait_us = thread->wait_us;
	return thread->told;
}

void data_thread_join(struct data_thread *thread)
{
	if (thread->running)
		pthread_join(thread->thread, NULL);
	thread->running = false;
}
