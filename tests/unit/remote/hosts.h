/* Topologies, folders and agents for the tests of orchestrator/remote. */
#ifndef HOSTS_H
#define HOSTS_H

#include "fleet.h"

#define HOSTS_MAX 8

struct hosts {
	struct topology topology;
	struct topology_host list[HOSTS_MAX];
	struct topology_test nothing;
	char folder[64]; /* own; removed at the end */
	char agents[96]; /* holds orch-agent-FAMILY, the stand-in */
	char upload[96]; /* an empty folder to upload to */
};

void hosts_init(struct hosts *hosts);
void hosts_finish(struct hosts *hosts);

/* Adds a local host that uploads to hosts->upload; change it as the test needs. */
struct topology_host *hosts_add(struct hosts *hosts, const char *name);

/* A script FOLDER/NAME (mode 755); free() the path. */
char *hosts_script(struct hosts *hosts, const char *name, const char *text);

/* The stand-in as an installed agent with a misbehaviour; free() the path. */
char *hosts_agent(struct hosts *hosts, const char *mode);

/* Creates and starts a fleet with the stand-in agents. */
struct fleet *hosts_start(struct hosts *hosts, int64_t connect_ms);

/* One request without arguments, awaited; returns the ask, done or not. */
struct ask *hosts_ask(struct fleet *fleet, size_t host, const char *type, int64_t wait_ms,
	int *ret_result, struct error *err);

/* How many entries a folder holds. */
int hosts_count_files(const char *folder);

/* How many processes there are whose command line holds text. */
int hosts_count_processes(const char *text);

/* Runs a shell command; fails the test when it fails. */
void hosts_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
