#include "summary.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "json.h"
#include "plan.h"

struct entry {
	const struct run_trial *trial;
	size_t index; /* order of measurement: keeps the sort stable */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = run_compare_series(x->trial, y->trial);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

struct mean {
	double sum;
	size_t count;
};

static void mean_add(struct mean *mean, double value)
{
	if (isnan(value))
		return;
	mean->sum += value;
	mean->count++;
}

static double mean_of(struct mean mean)
{
	return mean.count ? mean.sum / (double)mean.count : NAN;
}

static struct run_latency summarize_latency(const struct entry *entries, size_t count)
{
	static const size_t means[] = {
		offsetof(struct run_latency, mean_us),
		offsetof(struct run_latency, p50_us),
		offsetof(struct run_latency, p90_us),
		offsetof(struct run_latency, p99_us),
		offsetof(struct run_latency, p999_us),
		offsetof(struct run_latency, rate_per_second),
	};
	struct run_latency all = {.min_us = NAN, .max_us = NAN};

	for (size_t i = 0; i < count; i++) {
		const struct run_latency *one = &entries[i].trial->latency;

		if (!run_trial_valid(entries[i].trial))
			continue;
		all.min_us = fmin(all.min_us, one->min_us);
		all.max_us = fmax(all.max_us, one->max_us);
		all.count += isnan(one->count) ? 0 : one->count;
		all.lost += isnan(one->lost) ? 0 : one->lost;
	}
	for (size_t k = 0; k < sizeof(means) / sizeof(means[0]); k++) {
		struct mean mean = {0};

		for (size_t i = 0; i < count; i++) {
			const struct run_trial *trial = entries[i].trial;

			if (run_trial_valid(trial))
				mean_add(&mean, *(const double *)(const void *)((const char *)&trial
											->latency +
										means[k]));
		}
		*(double *)(void *)((char *)&all + means[k]) = mean_of(mean);
	}
	return all;
}

static bool build_row(
	const struct run *run, struct summary_row *row, const struct entry *entries, size_t count)
{
	const struct run_trial *first = entries[0].trial;
	bool is_latency = run_is_latency_test(run->topology, first->test_index);
	struct mean retransmits = {0}, rtt = {0}, loss = {0}, jitter = {0}, packets = {0};
	size_t i;

	*row = (struct summary_row){
		.path = first->path,
		.segment = first->segment,
		.test = first->test,
		.engine = first->engine,
		.direction = first->direction,
		.metric = is_latency ? "latency" : "throughput",
		.unit = is_latency ? "us" : "bit/s",
		.is_latency = is_latency,
		.values = calloc(count, sizeof(double)),
	};
	if (!row->values)
		return false;
	for (i = 0; i < count; i++) {
		const struct run_trial *trial = entries[i].trial;

		if (!run_trial_valid(trial)) {
			row->failed++;
			continue;
		}
		row->values[row->valid++] = trial->value;
		row->stalls = row->stalls || trial->stalled;
		mean_add(&retransmits, trial->retransmits);
		mean_add(&rtt, trial->rtt_us);
		mean_add(&loss, trial->loss_percent);
		mean_add(&jitter, trial->jitter_us);
		mean_add(&packets, trial->packets_per_second);
	}
	row->retransmits = mean_of(retransmits);
	row->rtt_us = mean_of(rtt);
	row->loss_percent = mean_of(loss);
	row->jitter_us = mean_of(jitter);
	row->packets_per_second = mean_of(packets);
	if (is_latency)
		row->latency = summarize_latency(entries, count);
	stats_summarize(row->values, row->valid, &row->stats);
	return true;
}

static bool build_rows(
	const struct run *run, struct summary *summary, const struct entry *entries, size_t count)
{
	size_t start = 0, i;

	for (i = 1; i <= count; i++) {
		if (i < count && !run_compare_series(entries[start].trial, entries[i].trial))
			continue;
		if (!build_row(
			    run, &summary->rows[summary->row_count++], entries + start, i - start))
			return false;
		start = i;
	}
	return true;
}

struct summary *summary_build(const struct run *run, struct error *err)
{
	struct summary *summary = calloc(1, sizeof(*summary));
	size_t count = run->trial_count, i;
	struct entry *entries = calloc(count ? count : 1, sizeof(*entries));

	if (!summary || !entries)
		goto failed;
	for (i = 0; i < count; i++)
		entries[i] = (struct entry){run->trials[i], i};
	if (count > 1)
		qsort(entries, count, sizeof(*entries), compare_entries);
	summary->rows = calloc(count ? count : 1, sizeof(*summary->rows));
	if (!summary->rows || (count && !build_rows(run, summary, entries, count)))
		goto failed;
	free(entries);
	return summary;

failed:
	free(entries);
	summary_free(summary);
	error_set(err, ERROR_SYSTEM, NULL, "out of memory");
	return NULL;
}

void summary_free(struct summary *summary)
{
	size_t i;

	if (!summary)
		return;
	for (i = 0; summary->rows && i < summary->row_count; i++)
		free(summary->rows[i].values);
	free(summary->rows);
	free(summary);
}

static void add_interval(cJSON *object, const char *key, struct stats_interval interval)
{
	cJSON *pair;

	if (isnan(interval.low) || isnan(interval.high)) {
		cJSON_AddNullToObject(object, key);
		return;
	}
	pair = cJSON_AddArrayToObject(object, key);
	cJSON_AddItemToArray(pair, cJSON_CreateNumber(interval.low));
	cJSON_AddItemToArray(pair, cJSON_CreateNumber(interval.high));
}

static void add_flags(cJSON *object, const struct summary_row *row)
{
	cJSON *flags = cJSON_AddArrayToObject(object, "flags");

	if (row->stats.drift)
		cJSON_AddItemToArray(flags, cJSON_CreateString("drift"));
	if (row->stats.two_modes)
		cJSON_AddItemToArray(flags, cJSON_CreateString("two_modes"));
	if (row->stalls)
		cJSON_AddItemToArray(flags, cJSON_CreateString("stalls"));
}

static void add_latency(cJSON *row, const struct run_latency *latency)
{
	cJSON *object = cJSON_AddObjectToObject(row, "latency");

	json_add_number(object, "count", latency->count);
	json_add_number(object, "lost", latency->lost);
	json_add_number(object, "min_us", latency->min_us);
	json_add_number(object, "mean_us", latency->mean_us);
	json_add_number(object, "p50_us", latency->p50_us);
	json_add_number(object, "p90_us", latency->p90_us);
	json_add_number(object, "p99_us", latency->p99_us);
	json_add_number(object, "p999_us", latency->p999_us);
	json_add_number(object, "max_us", latency->max_us);
	json_add_number(object, "rate_per_second", latency->rate_per_second);
}

static cJSON *row_to_json(const struct summary_row *row)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "path", row->path);
	cJSON_AddStringToObject(object, "segment", row->segment);
	cJSON_AddStringToObject(object, "test", row->test);
	cJSON_AddStringToObject(object, "engine", row->engine);
	cJSON_AddStringToObject(object, "direction", plan_direction_name(row->direction));
	cJSON_AddStringToObject(object, "metric", row->metric);
	cJSON_AddStringToObject(object, "unit", row->unit);
	cJSON_AddNumberToObject(object, "n", (double)row->valid);
	cJSON_AddNumberToObject(object, "failed", (double)row->failed);
	json_add_number(object, "mean", row->stats.mean);
	json_add_number(object, "sd", row->stats.sd);
	json_add_number(object, "cv", row->stats.cv);
	json_add_number(object, "median", row->stats.median);
	json_add_number(object, "min", row->stats.min);
	json_add_number(object, "max", row->stats.max);
	add_interval(object, "ci95", row->stats.t95);
	json_add_number(object, "hl", row->stats.hl);
	add_interval(object, "hl_ci95", row->stats.hl95);
	add_interval(object, "median_ci95", row->stats.median95);
	json_add_number(object, "retransmits", row->retransmits);
	json_add_number(object, "rtt_us", row->rtt_us);
	json_add_number(object, "loss_percent", row->loss_percent);
	json_add_number(object, "jitter_us", row->jitter_us);
	json_add_number(object, "packets_per_second", row->packets_per_second);
	if (row->is_latency)
		add_latency(object, &row->latency);
	add_flags(object, row);
	return object;
}

struct cJSON *summary_to_json(const struct summary *summary)
{
	cJSON *array = cJSON_CreateArray();
	size_t i;

	for (i = 0; array && i < summary->row_count; i++)
		cJSON_AddItemToArray(array, row_to_json(&summary->rows[i]));
	return array;
}
