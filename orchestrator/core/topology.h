/*
 * A topology file as data: hosts, links, paths and tests, checked as far as a file can be checked
 * without touching a host. Written by topology_load(), read by everyone; pointers inside are owned
 * by the topology. Rates are bit/s, times milliseconds, sizes bytes; 0 or NULL means "not given"
 * unless said otherwise.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct cJSON;

/* Where in the file a thing stands, counted from 1; line 0 = not from a file. */
struct topology_mark {
	int line, column;
};

enum topology_transport {
	TOPOLOGY_SSH,
	TOPOLOGY_EXEC,
	TOPOLOGY_LOCAL,
	TOPOLOGY_PASSIVE,
	TOPOLOGY_NONE, /* recorded runs and, until the lab is up, lab hosts */
};

enum topology_host_keys { TOPOLOGY_STRICT, TOPOLOGY_ACCEPT_NEW, TOPOLOGY_OFF };

struct topology_ssh {
	char *host;
	int port; /* 22 when not given */
	char *user;
	char *identity;      /* path as written, ~ allowed */
	char *via;           /* another host's name */
	char *proxy_command; /* run by sh -c, speaks SSH on its stdin/stdout */
	bool openssh;        /* client: openssh */
	char *known_hosts;   /* path as written; NULL = ~/.ssh/known_hosts */
	enum topology_host_keys host_keys;
	char *password_env;
};

/* The lab's keys of a host (docs/topology.md). */
struct topology_host_lab {
	int64_t forward_limit; /* bit/s */
	bool nat;
	double cpu;      /* share of one CPU, .05 = 5 %; 0 = no quota */
	bool bridge_all; /* bridge: true */
	char **bridge;   /* bridge: [eth1, wlan0] */
	size_t bridge_count;
	bool inband; /* control: inband */
};

struct topology_host {
	char *name;
	struct topology_mark mark;
	enum topology_transport transport;
	struct topology_ssh ssh;
	char **exec; /* argv the command is appended to */
	size_t exec_count;
	bool dut;
	bool sudo;
	char *firmware_command;
	char *tmp;   /* upload folder */
	char *agent; /* path of an agent that is already there */
	char **tool_names, **tool_paths;
	size_t tool_count;
	struct topology_host_lab lab;
};

enum topology_medium { TOPOLOGY_ETHERNET, TOPOLOGY_WIFI, TOPOLOGY_OTHER_MEDIUM };

/* host:interface[@address] */
struct topology_end {
	size_t host;     /* index into hosts */
	char *interface; /* as written, alias suffix included; NULL in recorded runs */
	char *device;    /* interface without an alias suffix (eth0:1 -> eth0) */
	char *address;   /* after '@', or NULL */
	struct topology_mark mark;
};

#define TOPOLOGY_NO_HOST ((size_t)-1)

struct topology_link_lab {
	/* bit/s; forward = from a to b. In a lab a link without them takes its nominal rate. */
	int64_t rate_forward, rate_reverse;
	int64_t queue; /* ms; 0 = default 100 */
	int mtu;
	double loss; /* percent */
};

/* Which end of a link listens. */
enum topology_listen { TOPOLOGY_LISTEN_AUTO, TOPOLOGY_LISTEN_A, TOPOLOGY_LISTEN_B };

struct topology_link {
	char *name;
	struct topology_mark mark;
	struct topology_end a, b;
	int64_t rate; /* nominal */
	enum topology_medium medium;
	char *shares; /* name of a shared medium, or NULL */
	enum topology_listen listen;
	struct topology_link_lab lab;
};

/* A path is a walk over links: hosts[i] -links[i]- hosts[i+1]. */
struct topology_path {
	char *name; /* "path" by default */
	struct topology_mark mark;
	size_t *hosts; /* link_count + 1 host indexes */
	size_t *links; /* link_count link indexes */
	bool *flipped; /* flipped[i]: the link's b end is nearer to the path's first host */
	size_t link_count;
	size_t listen; /* host that listens on the whole path, or TOPOLOGY_NO_HOST for auto */
};

#define TOPOLOGY_LOSS_LIMIT .1

enum topology_test_kind { TOPOLOGY_TCP, TOPOLOGY_UDP, TOPOLOGY_LATENCY, TOPOLOGY_COPY };
enum topology_direction { TOPOLOGY_BOTH, TOPOLOGY_FORWARD, TOPOLOGY_REVERSE, TOPOLOGY_BIDIR };

struct topology_test {
	char *id; /* name, or the kind (with "-ENGINE" when the engine is not native) */
	struct topology_mark mark;
	enum topology_test_kind kind;
	char *engine; /* "native" by default */
	enum topology_direction direction;
	int64_t duration; /* ms, includes omit; 10 s by default, 10 min with bytes */
	int64_t omit;     /* ms; default 1 s for 5 s and more, else 20 %; 0 with bytes */
	int64_t interval; /* ms; default 1 s for 5 s and more, else 100 ms */
	bool named, omit_given, interval_given;
	int64_t gap;   /* ms idle before each trial of it */
	int64_t bytes; /* of each direction; the duration is its upper bound */
	bool nodelay;
	int streams; /* 1 by default */
	int64_t block, window, pacing;
	char *congestion;
	int mss;
	int dscp;                  /* -1 = not given */
	int family;                /* 0 = any (4 preferred), 4 or 6 */
	int port_first, port_last; /* 0 = chosen by the listener's kernel */
	/* udp */
	int64_t rate; /* 0 = not given */
	bool rate_search;
	double loss_limit; /* percent; TOPOLOGY_LOSS_LIMIT by default */
	int64_t size;      /* datagram, request, or file */
	/* latency, copy */
	char *transport, *method, *from, *to, *verify;
	bool probes; /* tcp: round trips are measured beside its trials of the whole path */
};

struct topology_verdict {
	double tie;        /* .05 */
	double end_to_end; /* .10; wifi .15 unless given */
	bool end_to_end_given;
};

struct topology_expect_min {
	char *segment;
	int64_t rate;
};

struct topology_expect {
	bool given;
	struct topology_mark mark;
	char *link;
	struct topology_expect_min *min;
	size_t min_count;
};

enum topology_mode {
	TOPOLOGY_FILE,     /* everything docs/topology.md demands */
	TOPOLOGY_RECORDED, /* inside a run file: orch, name, hosts, transports and interfaces
			      optional */
};

struct topology {
	char *file; /* for messages */
	enum topology_mode mode;
	char *name;
	bool lab;
	int trials; /* 10 by default */
	struct topology_host *hosts;
	size_t host_count;
	struct topology_link *links;
	size_t link_count;
	struct topology_path *paths;
	size_t path_count;
	struct topology_test *tests; /* one tcp test when the file has none */
	size_t test_count;
	struct topology_verdict verdict;
	struct topology_expect expect;
	struct cJSON *source; /* the document as JSON, overrides applied; goes into the run file */
};

/*
 * Reads a topology from text (YAML; JSON is YAML). file names it in messages. Fails with
 * ERROR_TOPOLOGY and file:line:column in err->where. A feature that is not built yet loads;
 * plan_build() refuses it.
 */
struct topology *topology_load(const char *text, size_t length, const char *file,
	enum topology_mode mode, struct error *err);

void topology_free(struct topology *topology);

/* What the command line changes. Zero or NULL leaves the file's word. */
struct topology_overrides {
	int trials;
	int64_t duration;           /* ms, for every test */
	const char *const *engines; /* each test is repeated for each of these */
	size_t engine_count;
};

/* Applies the overrides to the data and to topology->source alike. */
int topology_override(
	struct topology *topology, const struct topology_overrides *overrides, struct error *err);

/* "file:line:column" for messages; returns buffer. */
const char *topology_where(
	const struct topology *topology, struct topology_mark mark, char *buffer, size_t size);

/* Is the interface an address label (eth0:1) of its device? */
bool topology_end_is_alias(const struct topology_end *end);

/* Index of the host or link with this name, or (size_t)-1. */
size_t topology_find_host(const struct topology *topology, const char *name);
size_t topology_find_link(const struct topology *topology, const char *name);

#endif
