#include "trial.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "clock.h"
#include "probes.h"
#include "record.h"
#include "search.h"
#include "witness.h"

/* Beyond the phases the agents bound themselves: the answer's way back over a loaded link. */
#define TRIAL_GRACE_MS 5000

/* The roles of a trial's two ends. Both directions at once: as forward. */
struct roles {
	const struct segment_end *sender, *receiver, *listener, *connector;
};

/* Connections go the way that was settled, whatever the direction: another may not work at all. */
static bool is_connect_test(const struct trial *trial)
{
	const struct topology_test *test = &trial->plan->topology->tests[trial->series->test];

	return test->kind == TOPOLOGY_LATENCY && test->transport &&
	       !strcmp(test->transport, "connect");
}

static struct roles assign_roles(const struct trial *trial)
{
	const struct segment *segment = trial->segment;
	bool forward = is_connect_test(trial) ? !segment->near_listens
					      : trial->series->direction != TOPOLOGY_REVERSE;

	return (struct roles){
		.sender = forward ? &segment->near : &segment->far,
		.receiver = forward ? &segment->far : &segment->near,
		.listener = segment->near_listens ? &segment->near : &segment->far,
		.connector = segment->near_listens ? &segment->far : &segment->near,
	};
}

static const char *host_name(const struct trial *trial, const struct segment_end *end)
{
	return end->end ? trial->plan->topology->hosts[end->host].name : NULL;
}

static struct cJSON *make_record(
	const struct trial *trial, const char *started, const struct error *cause)
{
	struct roles roles = assign_roles(trial);
	char text[sizeof(cause->where) + sizeof(cause->message) + 3];
	struct record_trial header = {
		.plan = trial->plan,
		.series = trial->series,
		.round = trial->round,
		.started = started,
		.sender = host_name(trial, roles.sender),
		.receiver = host_name(trial, roles.receiver),
		.listener = trial->segment->state == SEGMENT_READY
				    ? host_name(trial, roles.listener)
				    : NULL,
	};

	if (!cause)
		return record_create(&header, NULL);
	snprintf(text, sizeof(text), "%s%s%s", cause->where, *cause->where ? ": " : "",
		cause->message);
	return record_create(&header, text);
}

struct cJSON *trial_refuse(const struct trial *trial, const struct error *cause)
{
	char started[CLOCK_UTC_SIZE];

	clock_utc(started);
	return make_record(trial, started, cause);
}

static int measure_once(struct fleet *fleet, const struct trial *trial,
	const struct topology_test *test, struct sample *ret, struct error *err)
{
	const struct engine *engine = engine_find(test->engine, test->kind);
	struct roles roles = assign_roles(trial);
	struct engine_trial request = {
		.test = test,
		.direction = trial->series->direction,
		.listener = &roles.listener->binding,
		.connector = &roles.connector->binding,
		.listener_sends = roles.listener == roles.sender,
		.duration_ms = test->duration,
		.setup_ms = ENGINE_SETUP_MS,
	};
	int64_t deadline = fleet_now() + 2 * ENGINE_SETUP_MS + test->duration + ENGINE_STALL_MS +
			   TRIAL_GRACE_MS;
	struct trial_exchange exchange;
	int result;

	if (trial_make_token(request.token, err) < 0 ||
		trial_exchange_start(fleet, engine, &request, roles.listener->host,
			roles.connector->host, &exchange, err) < 0)
		return -1;
	result = trial_exchange_finish(fleet, &exchange, deadline, err);
	if (result == 0) {
		const struct ask *sender =
			request.listener_sends ? exchange.listener : exchange.connector;
		const struct ask *receiver =
			request.listener_sends ? exchange.connector : exchange.listener;

		result = engine->sample(&(struct engine_answer){sender->records,
						sender->record_count, sender->final},
			&(struct engine_answer){
				receiver->records, receiver->record_count, receiver->final},
			ret, err);
	}
	trial_exchange_free(&exchange);
	return result;
}

struct probing {
	struct fleet *fleet;
	const struct trial *trial;
};

static int measure_probe(
	void *context, const struct topology_test *probe, struct sample *ret, struct error *err)
{
	const struct probing *probing = context;

	return measure_once(probing->fleet, probing->trial, probe, ret, err);
}

static int measure(
	struct fleet *fleet, const struct trial *trial, struct sample *ret, struct error *err)
{
	const struct topology_test *test = &trial->plan->topology->tests[trial->series->test];
	struct probing probing = {fleet, trial};

	if (test->rate_search)
		return search_run(test, measure_probe, &probing, ret, err);
	return measure_once(fleet, trial, test, ret, err);
}

/* Everything after the first snapshot. */
static int run_witnessed(struct fleet *fleet, const struct trial *trial, struct witness *witness,
	struct probes *probes, const char *started, struct cJSON **ret_record, struct error *err)
{
	struct roles roles = assign_roles(trial);
	struct sample sample;
	struct proof proof;
	cJSON *record;

	sample_init(&sample);
	if (measure(fleet, trial, &sample, err) < 0)
		return -1;
	if (probes_end(probes, err) < 0 ||
		witness_read(witness, roles.sender, roles.receiver, &sample, &proof, err) < 0) {
		sample_finish(&sample);
		return -1;
	}
	/* A small question's headers are more than the question. */
	if (sample.is_latency)
		proof.cross_traffic = false;
	record = make_record(trial, started, NULL);
	if (record) {
		record_add_sample(record, &sample);
		probes_record(probes, record);
		record_add_proof(record, &proof);
		witness_record(witness, roles.sender, roles.receiver, &sample, &proof, record);
	}
	sample_finish(&sample);
	*ret_record = record;
	return record ? 0 : error_set(err, ERROR_SYSTEM, NULL, "out of memory");
}

int trial_run(struct fleet *fleet, const struct trial *trial, struct cJSON **ret_record,
	struct error *err)
{
	const struct topology *topology = trial->plan->topology;
	const struct plan_segment *planned = &trial->plan->segments[trial->series->segment];
	struct error cause = {0};
	struct witness *witness = NULL;
	struct probes *probes = NULL;
	char started[CLOCK_UTC_SIZE];
	int result = -1;

	clock_utc(started);
	if (!probes_wanted(trial) || probes_begin(fleet, trial, &probes, &cause) == 0)
		witness = witness_begin(fleet, topology, &topology->paths[planned->path],
			topology->tests[trial->series->test].omit, &cause);
	if (witness)
		result = run_witnessed(fleet, trial, witness, probes, started, ret_record, &cause);
	witness_free(witness);
	probes_free(probes);
	if (result == 0)
		return 0;
	if (cause.code == ERROR_INTERRUPTED || cause.code == ERROR_SYSTEM) {
		if (err)
			*err = cause;
		return -1;
	}
	*ret_record = make_record(trial, started, &cause);
	return *ret_record ? 0 : error_set(err, ERROR_SYSTEM, NULL, "out of memory");
}
