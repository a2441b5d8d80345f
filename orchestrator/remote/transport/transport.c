#include "transport.h"

struct row {
	const struct transport_ops *ops; /* NULL: no program runs there */
	const char *problem;
};

static const struct row rows[] = {
	[TOPOLOGY_SSH] = {&transport_ssh, NULL},
	[TOPOLOGY_EXEC] = {&transport_exec, NULL},
	[TOPOLOGY_LOCAL] = {&transport_local, NULL},
	[TOPOLOGY_PASSIVE] = {NULL, "it is passive: nothing can be started on it"},
	[TOPOLOGY_NONE] = {NULL, "the topology does not say how to reach it; "
				 "give it ssh:, exec: or local:"},
};

/* What a host may ask for that a later version brings. */
static const char *unbuilt(const struct topology_host *host)
{
	if (host->transport != TOPOLOGY_SSH)
		return NULL;
	if (host->ssh.via)
		return "via";
	if (host->ssh.openssh)
		return "client: openssh";
	if (host->ssh.password_env)
		return "password_env";
	return NULL;
}

const struct transport_ops *transport_find(
	const struct topology *topology, const struct topology_host *host, struct error *err)
{
	const char *missing = unbuilt(host);
	char where[200];

	topology_where(topology, host->mark, where, sizeof(where));
	if (missing) {
		error_set(err, ERROR_UNBUILT, where, "%s: \"%s\" is not built yet", host->name,
			missing);
		return NULL;
	}
	if (!rows[host->transport].ops) {
		error_set(err, ERROR_TOPOLOGY, where, "%s: %s", host->name,
			rows[host->transport].problem);
		return NULL;
	}
	return rows[host->transport].ops;
}
