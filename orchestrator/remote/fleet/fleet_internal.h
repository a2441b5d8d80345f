/* What fleet.c and the files beside it share. */
#ifndef FLEET_INTERNAL_H
#define FLEET_INTERNAL_H

#include <poll.h>
#include <signal.h>

#include "fleet.h"
#include "session.h"

struct fleet {
	const struct topology *topology;
	struct session **sessions; /* one a host; NULL when the plan does not need it */
	size_t count;
	struct pollfd *fds; /* 1 + count * TRANSPORT_POLL_MAX */
	size_t *owners;     /* session of each of fds */
	int64_t connect_ms;
	int64_t deadline; /* of the start; DEADLINE_NEVER before and after */
	int signals;      /* signalfd, or -1 */
	bool interrupted;
	sigset_t mask_before;
	struct error unwanted;
};

/* One turn of the loop, ending at the latest at `until`. -1 once the user interrupted. */
int fleet_pump(struct fleet *fleet, int64_t until, struct error *err);

/* Reads a signal that came; gives the second one its usual effect. */
void fleet_take_signal(struct fleet *fleet);
void fleet_release_signals(struct fleet *fleet);

#endif
