#include "udp_report.h"

#include "agent.h"

void udp_report_intervals(
	struct agent *agent, uint32_t id, const struct meter *meter, bool receives)
{
	for (size_t i = 1; i < meter->count; i++) {
		const struct meter_sample *from = &meter->samples[i - 1];
		const struct meter_sample *to = &meter->samples[i];
		struct wire_writer *writer = agent_begin(agent, id, "interval");

		wire_writer_number(writer, "index", (int64_t)i - 1);
		wire_writer_number(writer, "start_us", from->at_us);
		wire_writer_number(writer, "end_us", to->at_us);
		wire_writer_number(writer, "omitted", i <= meter->omit_sample);
		wire_writer_number(writer, "bytes", to->bytes - from->bytes);
		wire_writer_number(writer, "packets", to->packets - from->packets);
		/* Stragglers of the interval before can outnumber what this one lost. */
		if (receives)
			wire_writer_number(
				writer, "lost", to->lost > from->lost ? to->lost - from->lost : 0);
		agent_end(agent);
	}
}

static struct wire_writer *begin_final(struct agent *agent, uint32_t id, const struct meter *meter)
{
	struct wire_writer *writer = agent_begin(agent, id, "ok");

	wire_writer_number(writer, "bytes", meter_window_bytes(meter));
	wire_writer_number(writer, "window_us", meter_window_us(meter));
	wire_writer_number(writer, "total_bytes", meter_last(meter)->bytes);
	wire_writer_number(writer, "elapsed_us", meter_last(meter)->at_us);
	return writer;
}

static void end_final(struct agent *agent, struct wire_writer *writer, const char *method,
	const char *fallbacks, const struct udp_result *result)
{
	wire_writer_text(writer, "method", method);
	if (fallbacks[0])
		wire_writer_text(writer, "fallbacks", fallbacks);
	if (result->scheduled) {
		wire_writer_number(writer, "wait_us", result->wait_us);
		wire_writer_number(writer, "run_us", result->run_us);
	}
	agent_end(agent);
}

void udp_report_sent(struct agent *agent, uint32_t id, const struct meter *meter,
	struct udp_sender *sender, const struct udp_result *result)
{
	struct wire_writer *writer = begin_final(agent, id, meter);
	struct udp_sent sent;

	udp_sender_look(sender, &sent);
	wire_writer_number(writer, "packets", sent.packets);
	wire_writer_number(writer, "burst", sent.burst);
	wire_writer_number(writer, "late", sent.late);
	wire_writer_number(writer, "refused", sent.refused);
	end_final(agent, writer, udp_sender_method(sender), sender->fallbacks, result);
}

void udp_report_received(struct agent *agent, uint32_t id, const struct meter *meter,
	struct udp_receiver *receiver, uint64_t sent, const struct udp_result *result)
{
	static const struct {
		const char *key;
		unsigned int permille;
	} percentiles[] = {
		{"jitter_p50_us", 500},
		{"jitter_p90_us", 900},
		{"jitter_p99_us", 990},
	};
	struct wire_writer *writer = begin_final(agent, id, meter);
	const struct udp_tally *tally = &receiver->tally;
	int64_t lost = udp_tally_lost(tally, sent), drops = udp_receiver_drops(receiver);

	wire_writer_number(writer, "packets", tally->window_packets);
	wire_writer_number(writer, "lost", lost);
	wire_writer_number(writer, "duplicates", tally->duplicates);
	wire_writer_number(writer, "reordered", tally->reordered);
	wire_writer_number(writer, "jitter_us", udp_tally_jitter(tally) / 1000);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		wire_writer_number(writer, percentiles[i].key,
			histogram_percentile(&tally->spread, percentiles[i].permille) / 1000);
	wire_writer_number(writer, "jitter_max_us", tally->spread.max / 1000);
	/* Before the window's first number there may have been strangers' and duplicates. */
	wire_writer_number(writer, "socket_drops", drops < lost ? drops : lost);
	end_final(agent, writer, udp_receiver_method(receiver), receiver->fallbacks, result);
}
