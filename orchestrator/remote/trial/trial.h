/*
 * One trial over the wire: evidence begins on every host of the path, one end listens, the other
 * connects, both finish, evidence is read and the path proved. Straight-line code on the fleet's
 * loop.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include "engine.h"
#include "fleet.h"
#include "plan.h"
#include "segment.h"

struct cJSON;

struct trial {
	const struct plan *plan;
	const struct plan_series *series;
	const struct segment *segment;
	const struct segments *segments; /* all: probes use the path's links */
	int round;
};

/*
 * Runs it and makes its record (docs/run-file.md). A trial that fails still makes a record, with
 * its cause; -1 only for ERROR_INTERRUPTED and ERROR_SYSTEM.
 */
int trial_run(struct fleet *fleet, const struct trial *trial, struct cJSON **ret_record,
	struct error *err);

/* The record of a trial that could not be started. */
struct cJSON *trial_refuse(const struct trial *trial, const struct error *cause);

/*
 * The two ends of one exchange: listen, wait until it is ready, connect. On success both asks are
 * running; the caller awaits and frees them. Both are NULL on failure.
 */
struct trial_exchange {
	struct ask *listener, *connector;
};

int trial_exchange_start(struct fleet *fleet, const struct engine *engine,
	const struct engine_trial *trial, size_t listener, size_t connector,
	struct trial_exchange *ret, struct error *err);

/*
 * Awaits both ends. Fails with the cause of the end that failed first (ERROR_TRIAL, ERROR_HOST), or
 * as fleet_await.
 */
int trial_exchange_finish(
	struct fleet *fleet, struct trial_exchange *exchange, int64_t deadline, struct error *err);

void trial_exchange_free(struct trial_exchange *exchange);

/* 128 random bits as hex. */
int trial_make_token(char token[ENGINE_TOKEN_SIZE], struct error *err);

#endif
