#include "load.h"

#include <math.h>
#include <stdlib.h>

#include "stats.h"

static const struct run_load *find_load(const struct run_trial *trial, size_t segment)
{
	for (size_t i = 0; i < trial->load_count; i++) {
		const struct run_load *load = &trial->loads[i];

		if (load->segment_index == segment && !isnan(load->idle.p50_us) &&
			!isnan(load->loaded.p50_us))
			return load;
	}
	return NULL;
}

static bool queue_grew(const struct run_load *load)
{
	return load->loaded.p50_us > 2 * load->idle.p50_us &&
	       load->loaded.p50_us - load->idle.p50_us >= LOAD_GROWTH_US;
}

static double median_of(double *values, size_t count)
{
	struct stats_summary stats;

	stats_summarize(values, count, &stats);
	return stats.median;
}

bool load_summarize(
	const struct run_trial *const *trials, size_t count, size_t segment, struct load *ret)
{
	double *values = calloc(3 * count + 1, sizeof(*values));
	double *idle = values, *loaded = values + count, *p99 = values + 2 * count;
	struct load load = {0};

	for (size_t i = 0; values && i < count; i++) {
		const struct run_load *one =
			run_trial_valid(trials[i]) ? find_load(trials[i], segment) : NULL;

		if (!one)
			continue;
		load.segment = one->segment;
		load.grew += queue_grew(one);
		idle[load.trials] = one->idle.p50_us;
		loaded[load.trials] = one->loaded.p50_us;
		p99[load.trials++] = one->loaded.p99_us;
	}
	if (load.trials > 0) {
		load.idle_us = median_of(idle, load.trials);
		load.loaded_us = median_of(loaded, load.trials);
		load.loaded_p99_us = median_of(p99, load.trials);
		*ret = load;
	}
	free(values);
	return load.trials > 0;
}
