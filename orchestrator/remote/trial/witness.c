#include "witness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

#define WITNESS_ANSWER_MS 5000
/* Drivers that keep counters in hardware refresh them about once a second. */
#define WITNESS_LATE_MS  1500
#define WITNESS_AGAIN_MS 100
/* Around a small datagram they are most of it: Ethernet with a VLAN tag, IPv6, UDP. */
#define HEADERS_MAX (18 + 40 + 8)

struct witness {
	struct fleet *fleet;
	const struct topology *topology;
	const struct topology_path *path;
	size_t host_count;
	struct ask **asks; /* by position on the path; NULL = not to be had */
};

static bool is_fatal(const struct error *error)
{
	return error->code == ERROR_INTERRUPTED || error->code == ERROR_SYSTEM;
}

/* The devices of the path's links on this host, as a comma list. */
static void list_devices(const struct witness *witness, size_t host, char *list, size_t size)
{
	const struct topology_path *path = witness->path;

	list[0] = '\0';
	for (size_t i = 0; i < path->link_count; i++) {
		const struct topology_link *link = &witness->topology->links[path->links[i]];
		const struct topology_end *ends[] = {&link->a, &link->b};

		for (size_t j = 0; j < 2; j++) {
			if (ends[j]->host != host || !ends[j]->device)
				continue;
			if (*list)
				strncat(list, ",", size - strlen(list) - 1);
			strncat(list, ends[j]->device, size - strlen(list) - 1);
		}
	}
}

static void drop_asks(struct witness *witness)
{
	for (size_t i = 0; i < witness->host_count; i++) {
		ask_free(witness->asks[i]);
		witness->asks[i] = NULL;
	}
}

static struct ask *ask_host(
	struct witness *witness, size_t position, const char *op, int64_t delay_ms)
{
	size_t host = witness->path->hosts[position];
	struct wire_writer writer;
	char devices[256];
	struct ask *ask;

	if (!fleet_host_ready(witness->fleet, host))
		return NULL;
	ask = fleet_ask(witness->fleet, host, "evidence", &writer, NULL);
	if (!ask)
		return NULL;
	list_devices(witness, host, devices, sizeof(devices));
	wire_writer_text(&writer, "op", op);
	if (!strcmp(op, "begin")) {
		wire_writer_number(&writer, "delay_ms", delay_ms);
		wire_writer_text(&writer, "interfaces", devices);
	}
	if (fleet_send(ask, &writer, NULL) < 0) {
		ask_free(ask);
		return NULL;
	}
	return ask;
}

/* Asks every host at once; one that fails or does not answer in time is left out. */
static int ask_all(struct witness *witness, const char *op, int64_t delay_ms, struct error *err)
{
	int64_t deadline = fleet_now() + WITNESS_ANSWER_MS;

	drop_asks(witness);
	for (size_t i = 0; i < witness->host_count; i++)
		witness->asks[i] = ask_host(witness, i, op, delay_ms);
	for (size_t i = 0; i < witness->host_count; i++) {
		struct error error = {0};

		if (!witness->asks[i])
			continue;
		if (fleet_await(witness->fleet, &witness->asks[i], 1, deadline, &error) < 0 &&
			is_fatal(&error)) {
			if (err)
				*err = error;
			return -1;
		}
		if (!witness->asks[i]->done || !witness->asks[i]->ok) {
			ask_free(witness->asks[i]);
			witness->asks[i] = NULL;
		}
	}
	return 0;
}

struct witness *witness_begin(struct fleet *fleet, const struct topology *topology,
	const struct topology_path *path, int64_t delay_ms, struct error *err)
{
	struct witness *witness = calloc(1, sizeof(*witness));

	if (witness) {
		*witness = (struct witness){
			.fleet = fleet,
			.topology = topology,
			.path = path,
			.host_count = path->link_count + 1,
		};
		witness->asks = calloc(witness->host_count, sizeof(struct ask *));
	}
	if (!witness || !witness->asks) {
		free(witness);
		error_set(err, ERROR_SYSTEM, NULL, "out of memory");
		return NULL;
	}
	if (ask_all(witness, "begin", delay_ms, err) < 0) {
		witness_free(witness);
		return NULL;
	}
	return witness;
}

static struct evidence evidence_of(const struct witness *witness, size_t host)
{
	for (size_t i = 0; i < witness->host_count; i++) {
		if (witness->path->hosts[i] == host && witness->asks[i])
			return (struct evidence){
				.records = witness->asks[i]->records,
				.count = witness->asks[i]->record_count,
			};
	}
	return (struct evidence){0};
}

static struct proof_end proof_end(
	const struct witness *witness, const struct segment_end *end, bool sends)
{
	return (struct proof_end){
		.host = witness->topology->hosts[end->host].name,
		.facts = fleet_host_facts(witness->fleet, end->host),
		.binding = &end->binding,
		.evidence = evidence_of(witness, end->host),
		.sends = sends,
	};
}

/*
 * What the sender can have put on the wire. Lost segments were sent again, the omitted start's as
 * well, so the intervals are asked, not the window's own count.
 */
static double bytes_sent(const struct sample *sample)
{
	double again = 0;

	if (sample->udp.size > 0)
		return sample->total_sent * (1 + HEADERS_MAX / sample->udp.size);
	for (size_t i = 0; i < sample->interval_count; i++) {
		if (sample->intervals[i].retransmits > 0)
			again += sample->intervals[i].retransmits;
	}
	return sample->total_sent + again * (isnan(sample->mss) ? 0 : sample->mss);
}

/* An acknowledgement (66 to 86 bytes) for every segment of 1428 bytes and more at the most. */
#define WITNESS_ACK_SHARE .06

/* One direction. other: bytes that went the other way at the same time, whose acknowledgements ride
 * along. */
static struct proof judge(const struct witness *witness, const struct segment_end *sender,
	const struct segment_end *receiver, const struct sample *sample, double other)
{
	struct proof proof;

	proof_judge((struct proof_end[2]){proof_end(witness, sender, true),
			    proof_end(witness, receiver, false)},
		sample->total_received,
		fmax(bytes_sent(sample), sample->total_received) + WITNESS_ACK_SHARE * other,
		&proof);
	return proof;
}

static struct proof judge_ways(const struct witness *witness, const struct segment_end *sender,
	const struct segment_end *receiver, const struct sample *sample)
{
	const struct sample *forward = &sample->ways[SAMPLE_FORWARD];
	const struct sample *reverse = &sample->ways[SAMPLE_REVERSE];
	struct proof proof = judge(witness, sender, receiver, forward, reverse->total_received);
	struct proof back = judge(witness, receiver, sender, reverse, forward->total_received);
	char carrier[IFNAMSIZ];

	memcpy(carrier, back.carrier[0], sizeof(carrier));
	memcpy(back.carrier[0], back.carrier[1], sizeof(carrier));
	memcpy(back.carrier[1], carrier, sizeof(carrier));
	proof_join(&proof, &back);
	return proof;
}

int witness_read(struct witness *witness, const struct segment_end *sender,
	const struct segment_end *receiver, const struct sample *sample, struct proof *ret_proof,
	struct error *err)
{
	int64_t deadline = fleet_now() + WITNESS_LATE_MS;

	for (;;) {
		if (ask_all(witness, "read", 0, err) < 0)
			return -1;
		*ret_proof = sample->ways ? judge_ways(witness, sender, receiver, sample)
					  : judge(witness, sender, receiver, sample, 0);
		if (ret_proof->state == PROOF_PROVED || fleet_now() >= deadline)
			return 0;
		if (fleet_idle(witness->fleet, fleet_now() + WITNESS_AGAIN_MS, err) < 0)
			return -1;
	}
}

static size_t add_host(
	const struct witness *witness, size_t position, struct record_evidence *items)
{
	const struct topology_path *path = witness->path;
	size_t host = path->hosts[position], count = 0;
	struct record_evidence item = {
		.host = witness->topology->hosts[host].name,
		.evidence = evidence_of(witness, host),
		.wait_us = NAN,
		.run_us = NAN,
	};

	items[count++] = item;
	for (size_t side = 0; side < 2; side++) {
		const struct topology_link *link;
		const struct topology_end *end;

		if ((side == 0 && position == 0) || (side == 1 && position == path->link_count))
			continue;
		link = &witness->topology->links[path->links[position - (side == 0)]];
		end = link->a.host == host ? &link->a : &link->b;
		item.interface = end->device;
		items[count++] = item;
	}
	return count;
}

/* The interface that wrongly carried the traffic belongs into the record, too. */
static size_t add_carriers(const struct witness *witness, const struct segment_end *const ends[2],
	const struct proof *proof, struct record_evidence *items)
{
	size_t count = 0;

	for (size_t i = 0; i < 2; i++) {
		if (!proof->carrier[i][0])
			continue;
		items[count++] = (struct record_evidence){
			.host = witness->topology->hosts[ends[i]->host].name,
			.interface = proof->carrier[i],
			.evidence = evidence_of(witness, ends[i]->host),
		};
	}
	return count;
}

void witness_record(const struct witness *witness, const struct segment_end *sender,
	const struct segment_end *receiver, const struct sample *sample, const struct proof *proof,
	struct cJSON *record)
{
	const struct segment_end *const ends[] = {sender, receiver};
	struct record_evidence *items = calloc(3 * witness->host_count + 2, sizeof(*items));
	size_t count = 0;

	if (!items)
		return;
	for (size_t i = 0; i < witness->host_count; i++) {
		size_t first = count;

		if (!witness->asks[i])
			continue;
		count += add_host(witness, i, items + count);
		if (witness->path->hosts[i] == sender->host) {
			items[first].wait_us = sample->sender_wait_us;
			items[first].run_us = sample->sender_run_us;
		} else if (witness->path->hosts[i] == receiver->host) {
			items[first].wait_us = sample->receiver_wait_us;
			items[first].run_us = sample->receiver_run_us;
		}
	}
	count += add_carriers(witness, ends, proof, items + count);
	record_add_evidence(record, items, count);
	free(items);
}

void witness_free(struct witness *witness)
{
	if (!witness)
		return;
	drop_asks(witness);
	free(witness->asks);
	free(witness);
}
