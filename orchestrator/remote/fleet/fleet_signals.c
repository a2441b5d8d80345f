#include "fleet_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void fill_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

void fleet_hold_signals(sigset_t *ret_before)
{
	sigset_t set;

	fill_set(&set);
	sigprocmask(SIG_BLOCK, &set, ret_before);
}

int fleet_catch_signals(struct fleet *fleet, struct error *err)
{
	sigset_t set;

	fill_set(&set);
	if (fleet->signals >= 0)
		return 0;
	fleet->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fleet->signals < 0)
		return error_set(err, ERROR_SYSTEM, NULL, "signalfd: %s", strerror(errno));
	sigprocmask(SIG_BLOCK, &set, &fleet->mask_before);
	return 0;
}

void fleet_take_signal(struct fleet *fleet)
{
	struct signalfd_siginfo info;
	sigset_t set;

	if (read(fleet->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	fleet->interrupted = true;
	/* Unblocked, the next one ends the process: agents end when their input does. */
	fleet_release_signals(fleet);
	fill_set(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void fleet_release_signals(struct fleet *fleet)
{
	if (fleet->signals < 0)
		return;
	close(fleet->signals);
	fleet->signals = -1;
	sigprocmask(SIG_SETMASK, &fleet->mask_before, NULL);
}
