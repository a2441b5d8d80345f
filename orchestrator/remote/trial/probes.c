#include "probes.h"

#include <stdlib.h>
#include <string.h>

#include "record.h"

#define PROBES_PACE_MS  20
#define PROBES_SIZE     64
#define PROBES_IDLE_MS  200
#define PROBES_SETUP_MS 1000 /* over an idle path; a trial must not wait long for its probes */
/* End to end and its first link listen at one address, and the trial's own port is one more. */
#define PROBES_PORTS  3
#define PROBES_END_MS 6000 /* the slowest answer that counts, and its way here */

struct probe {
	const struct plan_segment *planned;
	const struct segment *segment;
	bool near_asks;
	struct engine_trial request;
	struct ask *listener, *connector, *mark;
	bool ended;
	struct sample_latency idle, loaded;
};

struct probes {
	struct fleet *fleet;
	const struct engine *engine;
	struct topology_test test; /* what the engine is asked for */
	struct probe *items;
	size_t count;
};

static bool is_fatal(const struct error *error)
{
	return error->code == ERROR_INTERRUPTED || error->code == ERROR_SYSTEM;
}

/* 0 also for an error that is only this probe's. */
static int pass_fatal(const struct error *error, struct error *err)
{
	if (!is_fatal(error))
		return 0;
	if (err)
		*err = *error;
	return -1;
}

bool probes_wanted(const struct trial *trial)
{
	const struct topology_test *test = &trial->plan->topology->tests[trial->series->test];
	const struct plan_segment *planned = &trial->plan->segments[trial->series->segment];

	/* They must not take the ports that the trial needs. */
	if (test->port_first && test->port_last - test->port_first + 1 < PROBES_PORTS)
		return false;
	return test->kind == TOPOLOGY_TCP && test->probes && planned->kind == PLAN_PATH;
}

static void stop(struct probe *probe)
{
	ask_free(probe->mark);
	ask_free(probe->connector);
	ask_free(probe->listener);
	probe->mark = probe->connector = probe->listener = NULL;
}

static struct ask *asker_of(const struct probe *probe)
{
	return probe->request.listener_sends ? probe->listener : probe->connector;
}

/* The whole path, and each of its links that is ready to be measured. */
static void choose(struct probes *probes, const struct trial *trial)
{
	const struct plan *plan = trial->plan;
	size_t path = plan->segments[trial->series->segment].path;

	for (size_t i = 0; i < plan->segment_count; i++) {
		const struct plan_segment *planned = &plan->segments[i];
		struct plan_series series = *trial->series;
		const struct segment *segment;

		series.segment = i;
		segment = segments_find(trial->segments, &series);
		if (planned->path != path || planned->kind == PLAN_PREFIX ||
			segment->state != SEGMENT_READY)
			continue;
		probes->items[probes->count++] = (struct probe){
			.planned = planned,
			.segment = segment,
			.near_asks = trial->series->direction != TOPOLOGY_REVERSE,
		};
	}
}

static int listen_one(struct probes *probes, struct probe *probe, struct error *err)
{
	const struct segment *segment = probe->segment;
	const struct segment_end *listener = segment->near_listens ? &segment->near : &segment->far;
	const struct segment_end *connector =
		segment->near_listens ? &segment->far : &segment->near;
	struct wire_writer writer;

	probe->request = (struct engine_trial){
		.test = &probes->test,
		.direction = TOPOLOGY_FORWARD,
		.listener = &listener->binding,
		.connector = &connector->binding,
		.listener_sends = segment->near_listens == probe->near_asks,
		.duration_ms = probes->test.duration,
		.setup_ms = PROBES_SETUP_MS,
		.pace_ms = PROBES_PACE_MS,
	};
	if (trial_make_token(probe->request.token, err) < 0)
		return -1;
	probe->listener =
		fleet_ask(probes->fleet, listener->host, probes->engine->listen_type, &writer, err);
	if (!probe->listener)
		return -1;
	probes->engine->listen(&probe->request, &writer);
	return fleet_send(probe->listener, &writer, err);
}

static int connect_one(
	struct probes *probes, struct probe *probe, int64_t deadline, struct error *err)
{
	const struct segment *segment = probe->segment;
	size_t host = segment->near_listens ? segment->far.host : segment->near.host;
	const struct wire_record *ready = fleet_await_record(
		probes->fleet, probe->listener, probes->engine->ready_type, deadline, err);
	struct wire_writer writer;

	if (!ready)
		return -1;
	probe->connector =
		fleet_ask(probes->fleet, host, probes->engine->connect_type, &writer, err);
	if (!probe->connector)
		return -1;
	probes->engine->connect(&probe->request, ready, &writer);
	return fleet_send(probe->connector, &writer, err);
}

static int await_one(
	struct probes *probes, struct probe *probe, int64_t deadline, struct error *err)
{
	return fleet_await_record(probes->fleet, asker_of(probe), "connected", deadline, err) ? 0
											      : -1;
}

/* Asks the asker to begin its next part, or to end. */
static int mark_one(struct probes *probes, struct probe *probe, bool end, struct error *err)
{
	const struct ask *asker = asker_of(probe);
	struct wire_writer writer;

	ask_free(probe->mark);
	probe->mark = fleet_ask(probes->fleet, asker->host, "mark", &writer, err);
	if (!probe->mark)
		return -1;
	wire_writer_number(&writer, "target", asker->id);
	if (end)
		wire_writer_number(&writer, "end", 1);
	return fleet_send(probe->mark, &writer, err);
}

static int begin_part(
	struct probes *probes, struct probe *probe, int64_t deadline, struct error *err)
{
	(void)deadline;
	return mark_one(probes, probe, false, err);
}

static int await_mark(
	struct probes *probes, struct probe *probe, int64_t deadline, struct error *err)
{
	return fleet_await(probes->fleet, &probe->mark, 1, deadline, err);
}

static int start_listening(
	struct probes *probes, struct probe *probe, int64_t deadline, struct error *err)
{
	(void)deadline;
	return listen_one(probes, probe, err);
}

/* One step of all that still go, so that the hosts work at the same time. */
static int for_all(struct probes *probes,
	int (*step)(struct probes *, struct probe *, int64_t deadline, struct error *err),
	struct error *err)
{
	int64_t deadline = fleet_now() + PROBES_SETUP_MS;

	for (size_t i = 0; i < probes->count; i++) {
		struct probe *probe = &probes->items[i];
		struct error error = {0};

		if ((step != start_listening && !probe->listener) ||
			step(probes, probe, deadline, &error) == 0)
			continue;
		stop(probe);
		if (pass_fatal(&error, err) < 0)
			return -1;
	}
	return 0;
}

static int start(struct probes *probes, struct error *err)
{
	if (for_all(probes, start_listening, err) < 0 || for_all(probes, connect_one, err) < 0 ||
		for_all(probes, await_one, err) < 0 ||
		fleet_idle(probes->fleet, fleet_now() + PROBES_IDLE_MS, err) < 0 ||
		for_all(probes, begin_part, err) < 0)
		return -1;
	return for_all(probes, await_mark, err);
}

int probes_begin(struct fleet *fleet, const struct trial *trial, struct probes **ret_probes,
	struct error *err)
{
	const struct topology_test *measured = &trial->plan->topology->tests[trial->series->test];
	struct probes *probes = calloc(1, sizeof(*probes));

	if (probes)
		probes->items = calloc(trial->plan->segment_count, sizeof(*probes->items));
	if (!probes || !probes->items) {
		free(probes);
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	}
	probes->fleet = fleet;
	probes->engine = engine_find("native", TOPOLOGY_LATENCY);
	/* They end when they are told to; the time only bounds what nobody ends. */
	probes->test = (struct topology_test){
		.kind = TOPOLOGY_LATENCY,
		.duration = measured->duration + 3 * (ENGINE_SETUP_MS + ENGINE_STALL_MS),
		.streams = 1,
		.size = PROBES_SIZE,
		.dscp = measured->dscp,
		.port_first = measured->port_first,
		.port_last = measured->port_last,
	};
	choose(probes, trial);
	if (start(probes, err) < 0) {
		probes_free(probes);
		return -1;
	}
	*ret_probes = probes;
	return 0;
}

static void take_answer(struct probe *probe)
{
	const struct ask *asker = asker_of(probe);

	if (!asker->done || !asker->ok)
		return;
	for (size_t i = 0; i < asker->record_count; i++) {
		if (!strcmp(asker->records[i]->type, "part"))
			probe->idle = sample_read_latency(asker->records[i]);
	}
	probe->loaded = sample_read_latency(asker->final);
	probe->ended = true;
}

int probes_end(struct probes *probes, struct error *err)
{
	int64_t deadline = fleet_now() + PROBES_END_MS;

	for (size_t i = 0; probes && i < probes->count; i++) {
		struct probe *probe = &probes->items[i];
		struct error error = {0};

		if (probe->listener && mark_one(probes, probe, true, &error) < 0)
			stop(probe);
		if (pass_fatal(&error, err) < 0)
			return -1;
	}
	for (size_t i = 0; probes && i < probes->count; i++) {
		struct probe *probe = &probes->items[i];
		struct ask *asker = probe->listener ? asker_of(probe) : NULL;
		struct error error = {0};

		if (!asker)
			continue;
		if (fleet_await(probes->fleet, &asker, 1, deadline, &error) == 0)
			take_answer(probe);
		stop(probe);
		if (pass_fatal(&error, err) < 0)
			return -1;
	}
	return 0;
}

void probes_record(const struct probes *probes, struct cJSON *record)
{
	struct record_load *loads = probes ? calloc(probes->count + 1, sizeof(*loads)) : NULL;

	if (!loads)
		return;
	for (size_t i = 0; i < probes->count; i++) {
		const struct probe *probe = &probes->items[i];

		loads[i] = (struct record_load){
			.segment = probe->planned->name,
			.answered = probe->ended,
			.idle = probe->idle,
			.loaded = probe->loaded,
		};
	}
	record_add_load(record, loads, probes->count);
	free(loads);
}

void probes_free(struct probes *probes)
{
	if (!probes)
		return;
	for (size_t i = 0; i < probes->count; i++)
		stop(&probes->items[i]);
	free(probes->items);
	free(probes);
}
