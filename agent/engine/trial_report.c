#include "trial_report.h"

#include "agent.h"

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

void trial_report_intervals(struct agent *agent, uint32_t id, const struct meter *meter, bool sends)
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
		if (sends)
			say_sender(writer, &to->info, &from->info);
		agent_end(agent);
	}
}

static void say_sender_total(
	struct wire_writer *writer, const struct meter *meter, const struct trial_result *result)
{
	const struct stream_info *to = &meter_last(meter)->info;
	const struct stream_info *from = &meter->samples[meter->omit_sample].info;

	say_sender(writer, to, from);
	say_known(writer, "busy_us", difference(to, from, INFO_BUSY_US));
	say_known(writer, "rwnd_limited_us", difference(to, from, INFO_RWND_LIMITED_US));
	say_known(writer, "sndbuf_limited_us", difference(to, from, INFO_SNDBUF_LIMITED_US));
	if (to->items[INFO_APP_LIMITED] != INFO_UNKNOWN)
		wire_writer_number(writer, "app_limited", result->app_limited);
	say_known(writer, "reordering", to->items[INFO_REORDERING]);
	say_known(writer, "path_mtu", to->items[INFO_PATH_MTU]);
}

void trial_report_ok(struct agent *agent, uint32_t id, const struct meter *meter,
	const struct trial_result *result)
{
	struct wire_writer *writer = agent_begin(agent, id, "ok");

	wire_writer_number(writer, "bytes", meter_window_bytes(meter));
	wire_writer_number(writer, "window_us", meter_window_us(meter));
	wire_writer_number(writer, "total_bytes", meter->count ? meter_last(meter)->bytes : 0);
	wire_writer_number(writer, "elapsed_us", meter->count ? meter_last(meter)->at_us : 0);
	wire_writer_text(writer, "method", result->method);
	if (result->sends && meter->count > 0)
		say_sender_total(writer, meter, result);
	if (result->scheduled) {
		wire_writer_number(writer, "wait_us", result->wait_us);
		wire_writer_number(writer, "run_us", result->run_us);
	}
	agent_end(agent);
}
