#include "echo_report.h"

#include "agent.h"

static void say_intervals(struct agent *agent, uint32_t id, const struct echo_count *count)
{
	for (size_t i = 0; i < echo_count_intervals(count); i++) {
		const struct echo_interval *interval = &count->intervals[i];
		struct wire_writer *writer = agent_begin(agent, id, "interval");

		wire_writer_number(writer, "index", (int64_t)i);
		wire_writer_number(writer, "start_us", (int64_t)i * count->interval_us);
		wire_writer_number(writer, "end_us", (int64_t)(i + 1) * count->interval_us);
		wire_writer_number(writer, "count", interval->count);
		wire_writer_number(writer, "lost", interval->asked - interval->answered);
		if (interval->count > 0) {
			wire_writer_number(writer, "p50_us", interval->p50_us);
			wire_writer_number(writer, "max_us", interval->max_us);
		}
		agent_end(agent);
	}
}

static void put_part(struct wire_writer *writer, const struct echo_part *part)
{
	static const struct {
		const char *key;
		unsigned int permille;
	} percentiles[] = {{"p50_us", 500}, {"p90_us", 900}, {"p99_us", 990}, {"p999_us", 999}};
	const struct histogram *times = &part->times;
	int64_t answers = (int64_t)times->total;
	int64_t elapsed_us = part->ended_us - part->begun_us;

	wire_writer_number(writer, "count", answers);
	wire_writer_number(writer, "lost", part->asked - answers);
	wire_writer_number(writer, "elapsed_us", elapsed_us > 0 ? elapsed_us : 0);
	if (elapsed_us > 0)
		wire_writer_number(writer, "rate_milli", answers * 1000000000 / elapsed_us);
	/* No time is not a time of 0. */
	if (answers == 0)
		return;
	wire_writer_number(writer, "min_us", part->min_us);
	wire_writer_number(writer, "mean_us", (part->sum_us + answers / 2) / answers);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		wire_writer_number(writer, percentiles[i].key,
			histogram_percentile(times, percentiles[i].permille));
	wire_writer_number(writer, "max_us", times->max);
}

void echo_report(struct agent *agent, uint32_t id, const struct echo_count *count)
{
	say_intervals(agent, id, count);
	for (size_t i = 0; i < count->part; i++) {
		struct wire_writer *writer = agent_begin(agent, id, "part");

		wire_writer_number(writer, "index", (int64_t)i);
		put_part(writer, &count->parts[i]);
		agent_end(agent);
	}
	put_part(agent_begin(agent, id, "ok"), &count->parts[count->part]);
	agent_end(agent);
}
