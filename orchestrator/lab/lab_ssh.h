/*
 * The lab's sshd: one ed25519 key pair and one configuration for all hosts of a lab, a process for
 * each connection, started by the client's proxy command inside the host's namespace. Nothing
 * listens on any port.
 */
#ifndef LAB_SSH_H
#define LAB_SSH_H

#include "topology.h"

/* Writes key, configuration and known_hosts into the lab's folder. */
int lab_ssh_create(const struct topology *topology, const char *folder, struct error *err);

/* Fills one host's ssh settings. cgroup is the folder to join first, or NULL. */
int lab_ssh_attach(struct topology *topology, struct topology_host *host, const char *folder,
	const char *cgroup, struct error *err);

#endif
