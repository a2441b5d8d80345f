/* The two ends of one native trial or probe: see trial.h. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "trial.h"

/* How long the other end of a failed trial may take to say what it saw. */
#define TRIAL_CAUSE_MS 500

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

/* How near an end's word is to the cause: a lost host explains what its peer saw of it. */
static int cause_rank(const struct ask *ask)
{
	const char *code = ask->final ? wire_record_text(ask->final, "code") : NULL;

	if (!ask->done || ask->ok)
		return 0;
	if (ask->error.code == ERROR_HOST)
		return 3;
	return code && (!strcmp(code, "lost") || !strcmp(code, "refused")) ? 1 : 2;
}

int trial_exchange_finish(
	struct fleet *fleet, struct trial_exchange *exchange, int64_t deadline, struct error *err)
{
	struct ask *const asks[] = {exchange->listener, exchange->connector};
	struct error late = {0};

	if (fleet_await(fleet, asks, 2, deadline, err) < 0)
		return -1;
	if (asks[0]->done && asks[0]->ok && asks[1]->done && asks[1]->ok)
		return 0;
	/* One end failed; the other's word may be nearer to the cause, and comes at once or never.
	 */
	for (int i = 0; i < 2; i++) {
		if (fleet_await(fleet, &asks[i], 1, fleet_now() + TRIAL_CAUSE_MS, &late) < 0 &&
			late.code != ERROR_TRIAL) {
			if (err)
				*err = late;
			return -1;
		}
	}
	if (err)
		*err = asks[cause_rank(asks[1]) > cause_rank(asks[0])]->error;
	return -1;
}

void trial_exchange_free(struct trial_exchange *exchange)
{
	ask_free(exchange->connector);
	ask_free(exchange->listener);
	*exchange = (struct trial_exchange){0};
}
