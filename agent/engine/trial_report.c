#include "trial_report.h"

#include <string.h>

#include "agent.h"
#include "trial_side.h"

static void say_known(struct wire_writer *writer, const char *key, int64_t value)
{
	if (value != INFO_UNKNOWN)
		wire_writer_number(writer, key, value);
}

static int64_t difference(const struct stream_info *to, const struct stream_info *from, int item)
{
	if (to->items[item] == INFO_UNKNOWN || from->items[item] == INFO_UNKNOWN)
		return INFO_UNKNOWN;
	return to->items[item] - from->items[item];
}

static void say_sender(
	struct wire_writer *writer, const struct stream_info *to, const struct stream_info *from)
{
	int64_t delivery = to->items[INFO_DELIVERY_BYTES];

	say_known(writer, "retransmits", difference(to, from, INFO_RETRANSMITS));
	say_known(writer, "rtt_us", to->items[INFO_RTT_US]);
	say_known(writer, "min_rtt_us", to->items[INFO_MIN_RTT_US]);
	say_known(writer, "cwnd", to->items[INFO_CWND]);
	say_known(writer, "delivery_bps", delivery == INFO_UNKNOWN ? delivery : delivery * 8);
}

static const char *side_name(const struct trial_side *side)
{
	return side->sends ? "send" : "receive";
}

static void say_intervals(
	struct agent *agent, uint32_t id, const struct trial_side *side, bool named)
{
	const struct meter *meter = &side->meter;

	for (size_t i = 1; i < meter->count; i++) {
		const struct meter_sample *from = &meter->samples[i - 1];
		const struct meter_sample *to = &meter->samples[i];
		struct wire_writer *writer = agent_begin(agent, id, "interval");

		if (named)
			wire_writer_text(writer, "side", side_name(side));
		wire_writer_number(writer, "index", (int64_t)i - 1);
		wire_writer_number(writer, "start_us", from->at_us);
		wire_writer_number(writer, "end_us", to->at_us);
		wire_writer_number(writer, "omitted", i <= meter->omit_sample);
		wire_writer_number(writer, "bytes", to->bytes - from->bytes);
		if (side->sends)
			say_sender(writer, &to->info, &from->info);
		agent_end(agent);
	}
}

static void say_sender_total(struct wire_writer *writer, const struct trial_side *side)
{
	const struct stream_info *to = &meter_last(&side->meter)->info;
	const struct stream_info *from = &side->meter.samples[side->meter.omit_sample].info;

	say_sender(writer, to, from);
	say_known(writer, "busy_us", difference(to, from, INFO_BUSY_US));
	say_known(writer, "rwnd_limited_us", difference(to, from, INFO_RWND_LIMITED_US));
	say_known(writer, "sndbuf_limited_us", difference(to, from, INFO_SNDBUF_LIMITED_US));
	if (to->items[INFO_APP_LIMITED] != INFO_UNKNOWN)
		wire_writer_number(writer, "app_limited", side->app_limited);
	say_known(writer, "reordering", to->items[INFO_REORDERING]);
	say_known(writer, "path_mtu", to->items[INFO_PATH_MTU]);
}

static void say_fallbacks(struct wire_writer *writer, unsigned int lacks)
{
	static const struct {
		unsigned int lack;
		const char *name;
	} names[] = {{STREAMS_LACK_PIPE, "pipe"}, {STREAMS_LACK_SPLICE, "splice"},
		{STREAMS_LACK_MEMFD, "memfd"}, {STREAMS_LACK_SENDFILE, "sendfile"},
		{STREAMS_LACK_RECV_TRUNC, "recv_trunc"}};
	char list[64] = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(lacks & names[i].lack))
			continue;
		if (*list)
			strncat(list, ",", sizeof(list) - strlen(list) - 1);
		strncat(list, names[i].name, sizeof(list) - strlen(list) - 1);
	}
	if (*list)
		wire_writer_text(writer, "fallbacks", list);
}

static void say_total(struct wire_writer *writer, const struct trial_side *side)
{
	const struct meter *meter = &side->meter;

	wire_writer_number(writer, "bytes", meter_window_bytes(meter));
	wire_writer_number(writer, "window_us", meter_window_us(meter));
	wire_writer_number(writer, "total_bytes", meter_last(meter)->bytes);
	wire_writer_number(writer, "elapsed_us", meter_last(meter)->at_us);
	wire_writer_text(writer, "method", streams_method(&side->streams));
	say_fallbacks(writer, side->lacks);
	if (side->sends)
		say_sender_total(writer, side);
	if (side->scheduled) {
		wire_writer_number(writer, "wait_us", side->wait_us);
		wire_writer_number(writer, "run_us", side->run_us);
	}
}

void trial_report_probe(struct agent *agent, uint32_t id)
{
	static const char *const keys[] = {"bytes", "window_us", "total_bytes", "elapsed_us"};
	struct wire_writer *writer = agent_begin(agent, id, "ok");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		wire_writer_number(writer, keys[i], 0);
	wire_writer_text(writer, "method", "probe");
	agent_end(agent);
}

void trial_report_sides(
	struct agent *agent, uint32_t id, const struct trial_side *sides, size_t count)
{
	const struct trial_side *last = &sides[0];

	for (size_t i = 0; i < count; i++)
		say_intervals(agent, id, &sides[i], count > 1);
	for (size_t i = 0; count > 1 && i < count; i++) {
		struct wire_writer *writer = agent_begin(agent, id, "side");

		wire_writer_text(writer, "side", side_name(&sides[i]));
		say_total(writer, &sides[i]);
		agent_end(agent);
		if (!sides[i].sends)
			last = &sides[i];
	}
	say_total(agent_begin(agent, id, "ok"), last);
	agent_end(agent);
}
