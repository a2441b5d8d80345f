#include "settle.h"

#include <stdio.h>
#include <string.h>

#include "trial.h"

/* A connection over the slowest link takes far less; a firewall that drops shall not cost more. */
#define SETTLE_SETUP_MS 3000

struct attempt {
	const struct plan *plan;
	const struct plan_series *series;
	const struct segment_end *listener, *connector;
	bool no_route;    /* set when the connector's routes do not lead there */
	bool no_listener; /* nobody could even listen, so the other way round proves nothing */
	struct error error;
};

static const char *host_name(const struct attempt *attempt, const struct segment_end *end)
{
	return attempt->plan->topology->hosts[end->host].name;
}

static int fail_route(struct attempt *attempt, const char *to)
{
	const struct binding *from = &attempt->connector->binding;
	char where[80], gateway[FACTS_ADDRESS_MAX];

	attempt->no_route = true;
	return error_set(&attempt->error, ERROR_TOPOLOGY,
		topology_where(attempt->plan->topology, attempt->connector->end->mark, where,
			sizeof(where)),
		"%s has no route to %s by %s: test traffic would leave another way.\n"
		"Give %s one:  ip %sroute add %s/%d via %s dev %s",
		host_name(attempt, attempt->connector), to, from->device,
		host_name(attempt, attempt->connector), from->family == 6 ? "-6 " : "", to,
		from->family == 6 ? 128 : 32,
		binding_address_from(&attempt->connector->neighbour, from, gateway), from->device);
}

/*
 * Asks the connector's kernel which way it would send. Bound to a device without a route, Linux
 * takes any address for a neighbour, so an answer without a gateway counts only on a shared subnet.
 */
static int check_route(struct fleet *fleet, struct attempt *attempt)
{
	const struct binding *from = &attempt->connector->binding;
	const char *to, *device, *gateway;
	char address[FACTS_ADDRESS_MAX];
	struct wire_writer writer;
	struct ask *ask =
		fleet_ask(fleet, attempt->connector->host, "route", &writer, &attempt->error);
	int result = -1;

	if (!ask)
		return -1;
	to = binding_address_from(&attempt->listener->binding, from, address);
	wire_writer_text(&writer, "to", to);
	wire_writer_number(&writer, "family", from->family);
	wire_writer_text(&writer, "interface", from->device);
	wire_writer_text(&writer, "from", from->address);
	if (fleet_send(ask, &writer, &attempt->error) < 0 ||
		fleet_await(fleet, &ask, 1, fleet_now() + SETTLE_SETUP_MS, &attempt->error) < 0)
		goto out;
	device = ask->ok ? wire_record_text(ask->final, "device") : NULL;
	gateway = ask->ok ? wire_record_text(ask->final, "gateway") : NULL;
	if (device && !strcmp(device, from->device) &&
		((gateway && *gateway) ||
			binding_on_link(fleet_host_facts(fleet, attempt->connector->host),
				from->device, to)))
		result = 0;
	else
		fail_route(attempt, to);
out:
	ask_free(ask);
	return result;
}

static int connect_once(struct fleet *fleet, struct attempt *attempt)
{
	const struct topology_test *test = &attempt->plan->topology->tests[attempt->series->test];
	struct engine_trial probe = {
		.test = test,
		.listener = &attempt->listener->binding,
		.connector = &attempt->connector->binding,
		.setup_ms = SETTLE_SETUP_MS,
	};
	const struct engine *native = engine_find("native", TOPOLOGY_TCP);
	struct trial_exchange exchange;
	int result;

	if (trial_make_token(probe.token, &attempt->error) < 0 ||
		trial_exchange_start(fleet, native, &probe, attempt->listener->host,
			attempt->connector->host, &exchange, &attempt->error) < 0) {
		attempt->no_listener = true;
		return -1;
	}
	result = trial_exchange_finish(
		fleet, &exchange, fleet_now() + 2 * SETTLE_SETUP_MS, &attempt->error);
	trial_exchange_free(&exchange);
	return result;
}

/* 1 = works, 0 = does not (attempt->error says why), -1 = the run is over. */
static int try_listener(struct fleet *fleet, struct attempt *attempt, struct error *err)
{
	if (check_route(fleet, attempt) == 0 && connect_once(fleet, attempt) == 0)
		return 1;
	if (attempt->error.code != ERROR_INTERRUPTED && attempt->error.code != ERROR_SYSTEM)
		return 0;
	if (err)
		*err = attempt->error;
	return -1;
}

static int explain_failure(
	const struct attempt attempts[2], size_t count, struct segment *segment, struct error *err)
{
	const struct attempt *first = &attempts[0], *second = &attempts[count == 2];

	/* A port that is taken is no matter of routes, though the other way round may lack one. */
	for (size_t i = 0; i < count; i++) {
		if (attempts[i].no_route && !first->no_listener) {
			if (err)
				*err = attempts[i].error;
			return -1;
		}
	}
	segment->state = SEGMENT_FAILED;
	if (count == 1)
		error_set(&segment->error, ERROR_TRIAL, "",
			"listener at %s (%s) not reachable from %s: %s",
			first->listener->binding.address, host_name(first, first->listener),
			host_name(first, first->connector), first->error.message);
	else
		/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): two ends, two attempts */
		error_set(&segment->error, ERROR_TRIAL, "",
			"listener at %s (%s) not reachable from %s: %s; nor the other way round, "
			"at %s: %s",
			first->listener->binding.address, host_name(first, first->listener),
			host_name(first, first->connector), first->error.message,
			second->listener->binding.address, second->error.message);
	return 0;
}

int settle_listener(const struct plan *plan, const struct plan_series *series,
	struct segment *segment, struct fleet *fleet, struct error *err)
{
	const struct segment_end *ends[] = {&segment->near, &segment->far};
	size_t wanted = plan_listener(plan, &plan->segments[series->segment]), count = 0;
	struct attempt attempts[2];

	for (size_t i = 0; i < 2; i++) {
		int works;

		if (wanted == ends[1 - i]->host)
			continue;

		attempts[count] = (struct attempt){
			.plan = plan,
			.series = series,
			.listener = ends[i],
			.connector = ends[1 - i],
		};
		works = try_listener(fleet, &attempts[count++], err);
		if (works < 0)
			return -1;
		if (works) {
			segment->near_listens = i == 0;
			return 0;
		}
	}
	return explain_failure(attempts, count, segment, err);
}
