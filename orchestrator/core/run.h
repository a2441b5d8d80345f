/*
 * A run: its topology and its trials, live or from a file (docs/run-file.md). The
 * JSON document is the truth, unknown fields included; struct run is a typed view into it. The same
 * functions build the view whether a trial just finished or was read back, so a report from memory
 * and a report from the file cannot differ. Pure: text in, text out.
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "topology.h"

struct cJSON;

#define RUN_FORMAT  "orch-run"
#define RUN_VERSION 1
/* More are refused: in a file, and in a plan before the first is measured. */
#define RUN_TRIALS_MAX 100000

/* Evidence of one host during one trial; shares are 0..1, negative = unknown. */
struct run_host_evidence {
	const char *host;
	double busiest;         /* busy share of the busiest core: 1 - (idle + iowait) / total */
	double busiest_softirq; /* softirq + irq share of that core */
	double steal;
	double wait_us, run_us; /* data threads' scheduling delay and run time */
	double softnet_dropped, softnet_squeezed;
};

struct run_interface_evidence {
	const char *host, *interface;
	double rx_bytes, tx_bytes, rx_dropped, tx_dropped, rx_errors, tx_errors;
	double qdisc_drops; /* largest of its qdiscs and classes: a root counts its children's */
	int speed_mbit;     /* -1 unknown or not believed */
};

/* Round trips; NaN = not known. Times in us. */
struct run_latency {
	double count, lost, min_us, mean_us, p50_us, p90_us, p99_us, p999_us, max_us;
	double rate_per_second;
};

/* Round trips over one segment before and during a trial of the whole path. */
struct run_load {
	const char *segment;
	size_t segment_index;
	struct run_latency idle, loaded;
};

struct run_trial {
	int round; /* 0 = not interleaved */
	const char *path, *segment, *test, *engine;
	enum topology_direction direction;
	size_t path_index;     /* into topology->paths */
	size_t segment_index;  /* see run_find_segment() */
	size_t test_index;     /* into topology->tests; (size_t)-1 when the file declares none */
	bool ok;               /* false as well when the throughput is 0: a failure, not a sample */
	const char *error;     /* NULL when ok */
	double throughput_bps; /* NaN when absent */
	double loss_percent, jitter_us, retransmits, rtt_us, min_rtt_us, seconds,
		bytes; /* NaN = absent */
	/* of the "udp" object, NaN = absent */
	double packets, lost, socket_drops, packets_per_second, sent_bps;
	const char *path_proof;     /* proved, contradicted, not_observable or NULL */
	bool stalled;               /* an interval outside omit moved nothing */
	struct run_latency latency; /* of a latency test */
	double value; /* of the test's own metric: throughput_bps, or p50_us of a latency test */
	struct run_load *loads;
	size_t load_count;
	struct run_host_evidence *hosts;
	size_t host_count;
	struct run_interface_evidence *interfaces;
	size_t interface_count;
	struct cJSON *json; /* the whole record, owned by the run */
};

struct run {
	struct cJSON *document; /* everything but trials, summary, verdicts */
	struct topology *topology;
	struct run_trial **trials;
	size_t trial_count;
};

struct run *run_create(const struct topology *topology, uint64_t seed, const char *label,
	const char *started, struct error *err);

/*
 * From a finished file's text, or a .part file's (a header line, then a trial a line; a torn last
 * line is dropped and the run is not complete). Fails with ERROR_FORMAT; where is file:line:column
 * or "file: trial N".
 */
struct run *run_parse(const char *text, size_t length, const char *file, struct error *err);

void run_free(struct run *run);

/*
 * Takes ownership of trial, also on failure. Refuses NaN, negative and absurd numbers by name, and
 * a second trial of a series in a round.
 */
int run_add_trial(struct run *run, struct cJSON *trial, struct error *err);

/* Sets hosts.NAME of the document (kernel, arch, firmware, ...); takes ownership of facts. */
int run_set_host(struct run *run, const char *name, struct cJSON *facts, struct error *err);

/* Marks the end; complete is false after an interruption. */
void run_finish(struct run *run, const char *finished, bool complete);

/* The first line of a .part file: the document as it is now, one line. free() it. */
char *run_header_line(const struct run *run);

/* The file's text with summary and verdicts computed afresh. free() it. */
char *run_print(const struct run *run);

/*
 * A segment of a path by name: 0 .. link_count - 1 are the path's links, link_count + j is the part
 * of the path over its links 0 .. j ("PATH:HOST", and PATH itself for the last). (size_t)-1 when
 * the path has no such segment.
 */
size_t run_find_segment(const struct topology *topology, size_t path, const char *name);

/* Is this a capacity test (unpaced TCP, UDP that searches its rate)? (size_t)-1 is plain TCP. */
bool run_is_capacity_test(const struct topology *topology, size_t test_index);

/* Is this a latency test? Its value is the median round trip. */
bool run_is_latency_test(const struct topology *topology, size_t test_index);

/* Is this a UDP test at a fixed rate? */
bool run_is_fixed_rate_test(const struct topology *topology, size_t test_index);

/*
 * Can this trial's value be used? (ok, not contradicted, throughput there and above 0, or a round
 * trip)
 */
bool run_trial_valid(const struct run_trial *trial);

/*
 * Orders for sorting, as the plan has them; 0 = equal. A series is (path, segment, test as
 * declared, engine, direction); a study, what one verdict is about, is the same without the
 * segment.
 */
int run_compare_series(const struct run_trial *a, const struct run_trial *b);
int run_compare_study(const struct run_trial *a, const struct run_trial *b);

#endif
