/*
 * A real sshd for the tests: inetd mode behind a proxy command, so no port and no daemon. Keys,
 * configuration and known_hosts are made in the folder of the test.
 */
#ifndef SSH_SERVER_H
#define SSH_SERVER_H

#include "hosts.h"

/* Exits with 77 (skip) unless root with sshd and ssh-keygen: sshd's privilege separation needs it.
 */
void ssh_server_require(void);

/*
 * Makes host keys, a user key (FOLDER/key), an unknown one (FOLDER/stranger), FOLDER/known_hosts
 * and the configuration with these lines added.
 */
void ssh_server_init(struct hosts *hosts, const char *configuration);

/* A host that reaches this sshd by proxy command, as root, with the user key. */
struct topology_host *ssh_server_add(struct hosts *hosts, const char *name);

/* Replaces a string of a host. */
void ssh_server_set(char **place, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
