/*
 * Gets an agent going on a host that has nothing but a shell: probe the CPU family, upload the
 * agent, start it, check its greeting (docs/bootstrap.md). Never blocks.
 */
#ifndef BOOTSTRAP_H
#define BOOTSTRAP_H

#include "transport.h"
#include "wire.h"

struct bootstrap;

/*
 * For a connected transport. The reader gets the agent's output; what follows the greeting stays in
 * it for the session. agent_folder as in fleet_settings; host and reader must outlive the thing.
 */
struct bootstrap *bootstrap_create(struct transport *transport, const struct topology_host *host,
	const char *agent_folder, struct wire_reader *reader, struct error *err);

/* DONE when the agent has greeted and is the one that was sent. Errors name host and cause. */
enum transport_status bootstrap_step(struct bootstrap *bootstrap, struct error *err);

/* "uploading the agent", for the message when time is up. */
const char *bootstrap_activity(const struct bootstrap *bootstrap);

/* Does the transport's command run, so that it needs an end? */
bool bootstrap_running(const struct bootstrap *bootstrap);

void bootstrap_free(struct bootstrap *bootstrap); /* takes NULL; does not end the command */

#endif
