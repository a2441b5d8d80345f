#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START         10000000 /* bit/s: a home's uplink; four steps from a gigabit */
#define GROWTH        4
#define FINE          1.01 /* bounds this near are one rate */
#define SMALL_STEP    1.02 /* from a guess that passed: it rarely is far off */
#define SENDER_SHARE  .9   /* of the rate: who sends less cannot do more */
#define SENDER_GAIN   1.05
#define SIZE          1472     /* of a datagram, by default */
#define PACKETS_LEAST 20       /* of a probe */
#define PACKETS_MOST  10000000 /* a second */

void search_init(struct search *search, const struct topology_test *test)
{
	int64_t bits = 8 * (test->size ? test->size : SIZE);

	*search = (struct search){
		.limit = test->loss_limit,
		.least = PACKETS_LEAST * bits * 1000 / plan_probe_ms(test),
		.most = PACKETS_MOST * bits,
	};
}

static int64_t between(double value, int64_t least, int64_t most)
{
	if (value < (double)least)
		return least;
	return value > (double)most ? most : (int64_t)value;
}

static int64_t take_guess(struct search *search)
{
	int64_t guess = search->guess;
	double low = search->low ? (double)search->low * sqrt(FINE) : (double)search->least;

	search->guess = 0;
	search->guessed = (double)guess > low && (double)guess < (double)search->high / sqrt(FINE);
	return search->guessed ? guess : 0;
}

static int64_t bisect(struct search *search)
{
	double middle = sqrt((double)search->low * (double)search->high);
	double near = (double)search->low * SMALL_STEP;
	bool from_guess = search->guessed;
	int64_t guess = take_guess(search);

	if (guess)
		return guess;
	return (int64_t)(from_guess && near < middle ? near : middle);
}

int64_t search_next(struct search *search)
{
	int64_t guess;

	if (search->count == 0)
		return between(START, search->least, search->most);
	if (search->count == PLAN_PROBES_MAX || search->sender_limited)
		return 0;
	if (!search->high)
		return search->low >= search->most
			       ? 0
			       : between((double)search->low * GROWTH, search->least, search->most);
	if (search->low)
		return (double)search->high <= (double)search->low * FINE ? 0 : bisect(search);
	if (search->high <= search->least)
		return 0;
	guess = take_guess(search);
	return guess ? guess : between((double)search->high / GROWTH, search->least, search->most);
}

bool search_note(struct search *search, int64_t rate, const struct sample *sample)
{
	struct sample_probe probe = {
		.rate_bps = (double)rate, .throughput_bps = 0, .loss_percent = 100};

	if (sample) {
		probe.throughput_bps = sample->throughput_bps;
		probe.loss_percent = sample->loss_percent;
		probe.passed = sample->loss_percent <= search->limit;
	}
	search->probes[search->count++] = probe;
	if (!probe.passed) {
		search->high = rate;
		search->guess = (int64_t)probe.throughput_bps;
		/* A probe that failed ends what its guess began. */
		search->guessed = false;
		return false;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): passed only with a sample */
	bool behind = sample->udp.sent_bps < SENDER_SHARE * (double)rate;

	/* A sender that was kept from its CPU proves no more than what it sent: ask again. */
	if (behind && search->high) {
		search->low = between(sample->udp.sent_bps, search->low, rate);
		return true;
	}
	search->low = rate;
	/* Only one that does no more when four times as much is asked for has reached its end. */
	search->sender_limited = behind && probe.throughput_bps < SENDER_GAIN * search->held_back;
	search->held_back = behind ? probe.throughput_bps : 0;
	return true;
}

struct topology_test search_probe(const struct topology_test *test, int64_t rate)
{
	struct topology_test probe = *test;

	probe.rate_search = false;
	probe.rate = rate;
	probe.duration = plan_probe_ms(test);
	probe.omit = probe.duration / 5;
	probe.interval = probe.duration;
	return probe;
}

struct result {
	struct sample best;
	bool found;
	double sent, received; /* bytes of all probes */
};

static void keep(struct result *result, struct sample *sample, bool passed)
{
	result->sent += sample->total_sent;
	result->received += sample->total_received;
	if (!passed || (result->found && sample->throughput_bps <= result->best.throughput_bps)) {
		sample_finish(sample);
		return;
	}
	if (result->found)
		sample_finish(&result->best);
	result->best = *sample;
	result->found = true;
}

static int conclude(
	const struct search *search, struct result *result, struct sample *ret, struct error *err)
{
	const struct sample_probe *last = &search->probes[search->count - 1];

	if (!result->found)
		return error_set(err, ERROR_TRIAL, NULL,
			"no rate loses at most %g %%: at %.3g Mbit/s, the lowest of %zu probes, it "
			"was %.3g %%",
			search->limit, last->rate_bps / 1e6, search->count, last->loss_percent);
	result->best.total_sent = result->sent;
	result->best.total_received = result->received;
	result->best.probes = calloc(search->count, sizeof(*search->probes));
	if (!result->best.probes) {
		sample_finish(&result->best);
		return error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	}
	memcpy(result->best.probes, search->probes, search->count * sizeof(*search->probes));
	result->best.probe_count = search->count;
	*ret = result->best;
	return 0;
}

int search_run(const struct topology_test *test,
	int (*run)(void *context, const struct topology_test *probe, struct sample *ret,
		struct error *err),
	void *context, struct sample *ret, struct error *err)
{
	struct result result = {0};
	struct search search;
	int64_t rate;

	search_init(&search, test);
	while ((rate = search_next(&search)) > 0) {
		struct topology_test probe = search_probe(test, rate);
		struct error cause = {0};
		struct sample sample;

		if (run(context, &probe, &sample, &cause) == 0) {
			keep(&result, &sample, search_note(&search, rate, &sample));
			continue;
		}
		/* Where a lower rate went through, a rate at which nothing does has lost all. */
		if (cause.code == ERROR_TRIAL && search.low) {
			search_note(&search, rate, NULL);
			continue;
		}
		if (result.found)
			sample_finish(&result.best);
		if (err)
			*err = cause;
		return -1;
	}
	return conclude(&search, &result, ret, err);
}
