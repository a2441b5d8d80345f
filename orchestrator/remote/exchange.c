/* The two ends of one native trial or probe: see trial.h. */
#include <stdio.h>
#include <sys/random.h>

#include "trial.h"

int trial_make_token(char token[ENGINE_TOKEN_SIZE], struct error *err)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_set(err, ERROR_SYSTEM, NULL, "the kernel gave no random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static struct ask *ask_listener(struct fleet *fleet, const struct engine *engine,
	const struct engine_trial *trial, size_t host, struct error *err)
{
	struct wire_writer writer;
	struct ask *ask = fleet_ask(fleet, host, engine->listen_type, &writer, err);

	if (!ask)
		return NULL;
	engine->listen(trial, &writer);
	if (fleet_send(ask, &writer, err) < 0) {
		ask_free(ask);
		return NULL;
	}
	return ask;
}

static struct ask *ask_connector(struct fleet *fleet, const struct engine *engine,
	const struct engine_trial *trial, const struct wire_record *ready, size_t host,
	struct error *err)
{
	struct wire_writer writer;
	struct ask *ask = fleet_ask(fleet, host, engine->connect_type, &writer, err);

	if (!ask)
		return NULL;
	engine->connect(trial, ready, &writer);
	if (fleet_send(ask, &writer, err) < 0) {
		ask_free(ask);
		return NULL;
	}
	return ask;
}

int trial_exchange_start(struct fleet *fleet, const struct engine *engine,
	const struct engine_trial *trial, size_t listener, size_t connector,
	struct trial_exchange *ret, struct error *err)
{
	struct trial_exchange exchange = {0};
	const struct wire_record *ready;

	exchange.listener = ask_listener(fleet, engine, trial, listener, err);
	if (!exchange.listener)
		return -1;
	ready = fleet_await_record(
		fleet, exchange.listener, engine->ready_type, fleet_now() + ENGINE_SETUP_MS, err);
	if (ready)
		exchange.connector = ask_connector(fleet, engine, trial, ready, connector, err);
	if (!exchange.connector) {
		trial_exchange_free(&exchange);
		return -1;
	}
	*ret = exchange;
	return 0;
}

int trial_exchange_finish(
	struct fleet *fleet, struct trial_exchange *exchange, int64_t deadline, struct error *err)
{
	struct ask *const asks[] = {exchange->listener, exchange->connector};

	if (fleet_await(fleet, asks, 2, deadline, err) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		if (asks[i]->done && !asks[i]->ok) {
			if (err)
				*err = asks[i]->error;
			return -1;
		}
	}
	return 0;
}

void trial_exchange_free(struct trial_exchange *exchange)
{
	ask_free(exchange->connector);
	ask_free(exchange->listener);
	*exchange = (struct trial_exchange){0};
}
