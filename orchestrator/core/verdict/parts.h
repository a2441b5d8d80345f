/* What the files of verdict/ share; nobody else includes it. */
#ifndef VERDICT_PARTS_H
#define VERDICT_PARTS_H

#include "stats.h"
#include "verdict.h"

#define VERDICT_ROUNDS_MIN 5   /* below this nothing is said */
#define VERDICT_ROUNDS_MAX 200 /* more rounds than this are not asked for */
#define VERDICT_ALPHA      .05 /* one-sided, shared out among the links */
#define VERDICT_CORE_FULL  .95 /* a core this busy limits what runs on it */
#define VERDICT_CORE_BUSY  .90 /* ... when statistics say so already */

/* The values of one segment as natural logs of bit/s. */
struct verdict_sample {
	double *log;
	int *round;
	size_t n;
};

/* One (path, test, engine, direction) while it is being decided. */
struct verdict_study {
	const struct run *run;
	const struct topology *topology;
	const struct topology_path *path;
	const struct run_trial **trials; /* its trials in order of measurement */
	size_t trial_count;
	size_t links;                   /* of the path */
	struct verdict_sample *all;     /* 2 * links segments, every valid trial */
	struct verdict_sample *matched; /* ... cut to the rounds that all needed ones have */
	bool *measured;                 /* by link: it has trials */
	size_t measured_count;
	size_t rounds; /* valid ones: of the shortest needed segment */
	double alpha;  /* one-sided level per bound */

	bool *limited; /* by link: its test was limited by a host that ended it */
	size_t x;      /* the link with the lowest capacity */
	double margin; /* end_to_end for x, a share */
	double p;      /* largest one-sided p of the tests needed so far */
	int needed;    /* rounds that would settle what is open; 0 none, -1 hopeless */
	struct verdict *verdict;
};

/* The interval of ln a - ln b. */
struct verdict_comparison {
	double low, high, mean;
	double variance; /* of a round's difference, or the sum of both samples' */
	double df;
};

/* words.c: false when there is no memory */
bool verdict_reason(struct verdict *verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool verdict_add_segment(struct verdict *verdict, const char *name);
bool verdict_add_host(struct verdict *verdict, const char *name);
/* "24.0 % below" of a difference in logs. */
const char *verdict_shift(double difference, char *buffer, size_t size);
/* "-1.0 to +0.2 %" */
const char *verdict_range(const struct verdict_comparison *comparison, char *buffer, size_t size);

/* study.c */
bool study_prepare(struct verdict_study *study);
void study_finish(struct verdict_study *study);
size_t study_whole(const struct verdict_study *study); /* index of the end-to-end segment */
const char *study_link_name(const struct verdict_study *study, size_t link);
const char *study_host_name(const struct verdict_study *study, size_t position);
double study_rate(const struct verdict_study *study, size_t segment); /* mean, bit/s */
double study_margin(const struct verdict_study *study, size_t link);
/* The end of a link that is nearer to the path's first host, and the other. */
const struct topology_end *study_near_end(const struct verdict_study *study, size_t link);
const struct topology_end *study_far_end(const struct verdict_study *study, size_t link);
/* What a link carries at least: its own values, or end to end's when a host limited its test. */
const struct verdict_sample *study_capacity(const struct verdict_study *study, size_t link);

/* compare.c */
struct verdict_comparison study_compare(const struct verdict_study *study,
	const struct verdict_sample *a, const struct verdict_sample *b);
/* One-sided p of "ln a - ln b is at most threshold". */
double study_p_above(const struct verdict_study *study, const struct verdict_sample *a,
	const struct verdict_sample *b, double threshold);
void study_need(struct verdict_study *study, double p);
/* Notes that a bound this far from the estimate is open. */
void study_open(
	struct verdict_study *study, const struct verdict_comparison *comparison, double distance);
double study_level_percent(const struct verdict_study *study);

/* evidence.c: all of them add reasons; true when the evidence speaks for it */
bool evidence_forwarding(struct verdict_study *study, size_t position);
bool evidence_link(struct verdict_study *study, size_t link);
bool evidence_core(struct verdict_study *study, size_t segment, size_t position, double level);
/* Negotiated speed of a physical Ethernet link in Mbit/s, and who says so; 0 = not known. */
int evidence_speed(const struct verdict_study *study, size_t link, const char **ret_host,
	const char **ret_interface);
/*
 * queues.c: did the queue in front of this link grow under load in half of the trials, and no other
 * link's? Adds no reason: explain_queues() says what the probes saw, whatever the verdict.
 */
bool evidence_queue_growth(const struct verdict_study *study, size_t link);
void explain_queues(const struct verdict_study *study);
/* Is the path's loss times its round-trip time what holds it back? */
bool evidence_loss_rtt(struct verdict_study *study);

/*
 * The steps, in order; each returns true when it has settled the verdict. capacity.c:
 */
bool step_rounds(struct verdict_study *study);
bool step_speed(struct verdict_study *study);
bool step_only_link(struct verdict_study *study);
bool step_capacities(struct verdict_study *study);
/* The hosts that ended the link's own test are named in the verdict. */
void study_blame_enders(struct verdict_study *study, size_t link);
/* outcome.c: always settles it */
bool step_outcome(struct verdict_study *study);

/* fixed_rate.c: carried, or loss, of a UDP test's trials; false when there is no memory */
bool verdict_fixed_rate(const struct run *run, const struct run_trial *const *trials, size_t count,
	struct verdict *verdict);

void study_inconclusive(struct verdict_study *study);
void study_grade(struct verdict_study *study, enum verdict_kind kind, enum verdict_grade grade);

#endif
