#include "exit_notice.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *watch(void *argument)
{
	const struct exit_notice *notice = argument;
	siginfo_t info;

	/* WNOWAIT: the status is for child_reap(). Where that was first, this ends with ECHILD. */
	while (waitid(P_PID, (id_t)notice->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		continue;
	close(notice->thread_end);
	return NULL;
}

/* All signals are for the thread that has the loop. */
static int start_thread(struct exit_notice *notice)
{
	sigset_t all, before;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&notice->thread, NULL, watch, notice);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -result;
}

/* For kernels before 5.3 and for sandboxes that forbid pidfd_open(). */
static int open_threaded(struct exit_notice *notice, pid_t pid)
{
	int ends[2], result;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	*notice = (struct exit_notice){
		.descriptor = ends[0], .threaded = true, .pid = pid, .thread_end = ends[1]};
	result = start_thread(notice);
	if (result < 0) {
		close(ends[0]);
		close(ends[1]);
	}
	return result;
}

int exit_notice_open(struct exit_notice *notice, pid_t pid)
{
	*notice = (struct exit_notice){.descriptor = (int)syscall(SYS_pidfd_open, pid, 0)};
	return notice->descriptor >= 0 ? 0 : open_threaded(notice, pid);
}

void exit_notice_close(struct exit_notice *notice)
{
	if (notice->threaded)
		pthread_join(notice->thread, NULL);
	close(notice->descriptor);
	*notice = (struct exit_notice){.descriptor = -1};
}
