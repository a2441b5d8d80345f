/* The records of a UDP test's end. */
#ifndef UDP_REPORT_H
#define UDP_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "meter.h"
#include "udp_receive.h"
#include "udp_send.h"

struct agent;

struct udp_result {
	bool scheduled; /* the two below are known */
	int64_t run_us, wait_us;
};

void udp_report_intervals(
	struct agent *agent, uint32_t id, const struct meter *meter, bool receives);

void udp_report_sent(struct agent *agent, uint32_t id, const struct meter *meter,
	struct udp_sender *sender, const struct udp_result *result);

/* sent: datagrams in all, by the sender's word. */
void udp_report_received(struct agent *agent, uint32_t id, const struct meter *meter,
	struct udp_receiver *receiver, uint64_t sent, const struct udp_result *result);

#endif
