#include "fleet_internal.h"

#include "deadline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS     15000
#define BYE_MS         1000
#define HANDSHAKES_MAX 2 /* at once for one target: sshd's MaxStartups, dropbear's limit of 5 */

int64_t fleet_now(void)
{
	return deadline_now();
}

static bool wanted(const struct fleet_settings *settings, size_t host)
{
	return !settings || !settings->wanted || settings->wanted[host];
}

static int create_sessions(
	struct fleet *fleet, const struct fleet_settings *settings, struct error *err)
{
	const char *folder = settings ? settings->agent_folder : NULL;

	for (size_t i = 0; i < fleet->count; i++) {
		if (!wanted(settings, i))
			continue;
		fleet->sessions[i] =
			session_create(fleet->topology, &fleet->topology->hosts[i], folder, err);
		if (!fleet->sessions[i])
			return -1;
	}
	return 0;
}

struct fleet *fleet_create(
	const struct topology *topology, const struct fleet_settings *settings, struct error *err)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));
	size_t slots = 1 + topology->host_count * TRANSPORT_POLL_MAX;

	if (fleet) {
		fleet->topology = topology;
		fleet->count = topology->host_count;
		fleet->signals = -1;
		fleet->deadline = DEADLINE_NEVER;
		fleet->connect_ms =
			settings && settings->connect_ms ? settings->connect_ms : CONNECT_MS;
		fleet->sessions = calloc(fleet->count + 1, sizeof(*fleet->sessions));
		fleet->fds = calloc(slots, sizeof(*fleet->fds));
		fleet->owners = calloc(slots, sizeof(*fleet->owners));
	}
	if (!fleet || !fleet->sessions || !fleet->fds || !fleet->owners) {
		error_set(err, ERROR_SYSTEM, NULL, "out of memory");
		fleet_free(fleet);
		return NULL;
	}
	error_set(&fleet->unwanted, ERROR_HOST, NULL, "not needed by the plan, so not started");
	signal(SIGPIPE, SIG_IGN);
	if (create_sessions(fleet, settings, err) < 0) {
		fleet_free(fleet);
		return NULL;
	}
	return fleet;
}

/* Two hosts of a topology may be two names of one machine's ssh port. */
static bool same_target(const struct topology_host *a, const struct topology_host *b)
{
	return a->transport == TOPOLOGY_SSH && b->transport == TOPOLOGY_SSH &&
	       a->ssh.port == b->ssh.port && a->ssh.host && b->ssh.host &&
	       strcmp(a->ssh.host, b->ssh.host) == 0;
}

static size_t handshakes_with(const struct fleet *fleet, size_t host)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		if (fleet->sessions[i] && session_phase(fleet->sessions[i]) == SESSION_CONNECTING &&
			same_target(&fleet->topology->hosts[i], &fleet->topology->hosts[host]))
			count++;
	}
	return count;
}

/* Lets waiting hosts go, as many as their targets can take. */
static void begin_waiting(struct fleet *fleet)
{
	if (fleet->deadline == DEADLINE_NEVER)
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		struct session *session = fleet->sessions[i];

		if (!session || session_phase(session) != SESSION_WAITING ||
			handshakes_with(fleet, i) >= HANDSHAKES_MAX)
			continue;
		session_begin(session, fleet->deadline);
		session_step(session);
	}
}

static size_t fill_poll(struct fleet *fleet, int64_t *until)
{
	size_t filled = 1;

	fleet->fds[0] = (struct pollfd){fleet->signals, POLLIN, 0}; /* -1 is skipped by poll */
	for (size_t i = 0; i < fleet->count; i++) {
		size_t first = filled;
		int64_t timer;

		if (!fleet->sessions[i])
			continue;
		filled += session_poll(fleet->sessions[i], &fleet->fds[filled]);
		for (size_t slot = first; slot < filled; slot++)
			fleet->owners[slot] = i;
		timer = session_timer(fleet->sessions[i]);
		if (timer < *until)
			*until = timer;
	}
	return filled;
}

static void step_due(struct fleet *fleet, size_t filled)
{
	int64_t now = deadline_now();

	for (size_t slot = 1; slot < filled;) {
		size_t owner = fleet->owners[slot];
		bool woken = false;

		for (; slot < filled && fleet->owners[slot] == owner; slot++)
			woken = woken || fleet->fds[slot].revents;
		if (woken)
			session_step(fleet->sessions[owner]);
	}
	for (size_t i = 0; i < fleet->count; i++) {
		if (fleet->sessions[i] && session_timer(fleet->sessions[i]) <= now)
			session_step(fleet->sessions[i]);
	}
}

int fleet_pump(struct fleet *fleet, int64_t until, struct error *err)
{
	size_t filled;
	int events;

	filled = fill_poll(fleet, &until);
	events = poll(fleet->fds, filled, deadline_timeout(until));
	if (events < 0 && errno != EINTR)
		return error_set(err, ERROR_SYSTEM, NULL, "poll: %s", strerror(errno));
	if (events > 0 && fleet->fds[0].revents)
		fleet_take_signal(fleet);
	if (events < 0)
		filled = 1;
	step_due(fleet, filled);
	if (fleet->interrupted)
		return error_set(err, ERROR_INTERRUPTED, NULL, "interrupted");
	return 0;
}

static bool starting(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		if (!fleet->sessions[i])
			continue;
		if (session_phase(fleet->sessions[i]) != SESSION_READY &&
			session_phase(fleet->sessions[i]) != SESSION_OVER)
			return true;
	}
	return false;
}

/* Hosts whose turn for a handshake never came. */
static void give_up_waiting(struct fleet *fleet)
{
	struct error cause;

	for (size_t i = 0; i < fleet->count; i++) {
		error_set(&cause, ERROR_HOST, fleet->topology->hosts[i].name,
			"not ready in time: other hosts of the same target took all of it");
		if (fleet->sessions[i] && session_phase(fleet->sessions[i]) == SESSION_WAITING)
			session_drop(fleet->sessions[i], &cause);
	}
}

int fleet_start(struct fleet *fleet, struct error *err)
{
	fleet->deadline = deadline_now() + fleet->connect_ms;
	for (;;) {
		begin_waiting(fleet); /* may end some at once, so it comes before the look */
		if (!starting(fleet))
			break;
		if (fleet_pump(fleet, fleet->deadline, err) < 0)
			return -1;
		if (deadline_now() >= fleet->deadline)
			give_up_waiting(fleet);
	}
	fleet->deadline = DEADLINE_NEVER;
	return 0;
}

static bool all_over(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->sessions[i] && session_phase(fleet->sessions[i]) != SESSION_OVER)
			return false;
	return true;
}

/* Gives every agent, and every half-done bootstrap, the chance to leave nothing behind. */
static void say_bye(struct fleet *fleet)
{
	int64_t until = deadline_now() + BYE_MS;

	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->sessions[i])
			session_end(fleet->sessions[i]);
	while (!all_over(fleet) && deadline_now() < until) {
		int64_t wake = until;
		size_t filled = fill_poll(fleet, &wake);

		fleet->fds[0].fd = -1;
		if (poll(fleet->fds, filled, deadline_timeout(wake)) < 0)
			filled = 1;
		step_due(fleet, filled);
	}
}

void fleet_free(struct fleet *fleet)
{
	if (!fleet)
		return;
	if (fleet->sessions && fleet->fds && fleet->owners)
		say_bye(fleet);
	for (size_t i = 0; fleet->sessions && i < fleet->count; i++)
		session_free(fleet->sessions[i]);
	fleet_release_signals(fleet);
	free(fleet->sessions);
	free(fleet->fds);
	free(fleet->owners);
	free(fleet);
}

bool fleet_host_ready(const struct fleet *fleet, size_t host)
{
	return fleet->sessions[host] && session_phase(fleet->sessions[host]) == SESSION_READY;
}

const struct error *fleet_host_error(const struct fleet *fleet, size_t host)
{
	return fleet->sessions[host] ? session_error(fleet->sessions[host]) : &fleet->unwanted;
}

const struct facts *fleet_host_facts(const struct fleet *fleet, size_t host)
{
	return fleet_host_ready(fleet, host) ? session_facts(fleet->sessions[host]) : NULL;
}
