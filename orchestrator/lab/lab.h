/*
 * The emulated testbed: every host of a topology with `lab:` is a network
 * namespace, every link a veth pair shaped by tc; hosts are reached through a real sshd started by
 * proxy command. State lives in /run/orch/lab/NAME; nothing outside the namespaces is touched.
 */
#ifndef LAB_H
#define LAB_H

#include <stdbool.h>

#include "topology.h"

/*
 * Builds the lab. owner is the pid whose death makes it reclaimable, or 0 for a lab that is kept.
 * A lab of the same name left by a dead owner, or half built, is taken down first. With a living
 * owner, or a kept lab of another topology, it fails (ERROR_LAB). Without root it says so.
 */
int lab_up(const struct topology *topology, int owner, struct error *err);

/* Takes it down; not an error when there is none. Ends the processes inside its namespaces. */
int lab_down(const struct topology *topology, struct error *err);

enum lab_state { LAB_DOWN, LAB_KEPT, LAB_OWNED, LAB_STALE };
enum lab_state lab_status(const struct topology *topology, int *ret_owner);

/* Fills the ssh settings of every host, so that ordinary transports reach the lab's sshd. */
int lab_attach(struct topology *topology, struct error *err);

/* The namespace of a host; returns buffer. */
const char *lab_namespace(const struct topology *topology, const struct topology_host *host,
	char *buffer, size_t size);

/* Addresses the lab will choose for the ends of a link, as text, for `orch plan`. */
int lab_address(const struct topology *topology, size_t link, bool end_b, int family, char *buffer,
	size_t size);

/* argv to run a command inside a host; execs, returns only on failure. */
int lab_exec(const struct topology *topology, const struct topology_host *host, char *const argv[],
	struct error *err);

#endif
