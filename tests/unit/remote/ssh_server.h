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

/* One host, "router", at a new sshd with these lines of configuration. */
struct topology_host *ssh_server_one_host(struct hosts *hosts, const char *configuration);

/* Removes known_hosts; adds to it the line NAME with the key of FOLDER/KEY.pub. */
void ssh_server_forget_known(const struct hosts *hosts);
void ssh_server_know(const struct hosts *hosts, const char *name, const char *key);

void ssh_server_assert_ready(const struct fleet *fleet, size_t host);
void ssh_server_assert_says(const struct error *err, const char *text);

/* Waits until folder and processes are clean, or says what was left. */
void ssh_server_assert_clean(const struct hosts *hosts, int64_t wait_ms);

/* The one host becomes ready and answers; or does not, for this reason. Nothing stays behind. */
void ssh_server_expect_ready(struct hosts *hosts);
void ssh_server_expect_refused(struct hosts *hosts, int64_t connect_ms, const char *reason);

#endif
