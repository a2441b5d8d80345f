#include "proof.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shares of the trial's bytes an interface must, and may, have counted. */
#define PROOF_ENOUGH 0.9
#define PROOF_CROSS  1.1

static const char *counter_key(const struct proof_end *end)
{
	return end->sends ? "tx_bytes" : "rx_bytes";
}

/* A bridge's own counters miss what it bridges, so the sum of its members counts when it is more.
 */
static double carried_by(const struct proof_end *end, const char *interface)
{
	double own = evidence_counter(&end->evidence, interface, counter_key(end)), members = 0;

	for (size_t i = 0; i < end->facts->interface_count; i++) {
		const struct facts_interface *member = &end->facts->interfaces[i];
		double bytes;

		if (strcmp(member->master, interface) != 0)
			continue;
		bytes = evidence_counter(&end->evidence, member->name, counter_key(end));
		if (!isnan(bytes))
			members += bytes;
	}
	return isnan(own) || members > own ? members : own;
}

/* Does other stand above or below interface, so that the same bytes may be counted in both? */
static bool related(const struct facts *facts, const char *interface, const char *other)
{
	const struct facts_interface *a = facts_find_interface(facts, interface);
	const struct facts_interface *b = facts_find_interface(facts, other);

	if (!a || !b)
		return false;
	return !strcmp(a->master, other) || !strcmp(b->master, interface);
}

/* Another interface of the host that carried the bytes, or NULL. */
static const char *find_carrier(const struct proof_end *end, double enough)
{
	for (size_t i = 0; i < end->facts->interface_count; i++) {
		const char *name = end->facts->interfaces[i].name;

		if (!strcmp(name, end->binding->counter) ||
			related(end->facts, end->binding->counter, name))
			continue;
		if (evidence_counter(&end->evidence, name, counter_key(end)) >= enough)
			return name;
	}
	return NULL;
}

static enum proof_state judge_end(
	const struct proof_end *end, double bytes, double sent, struct proof *proof, char *carrier)
{
	const char *verb = end->sends ? "sent" : "received", *other;
	double carried = carried_by(end, end->binding->counter);
	size_t used = strlen(proof->text);
	char *text = proof->text + used;
	size_t room = sizeof(proof->text) - used;

	if (carried >= PROOF_ENOUGH * bytes) {
		snprintf(text, room, "%s:%s %s %.0f of %.0f bytes; ", end->host,
			end->binding->counter, verb, carried, bytes);
		proof->cross_traffic |= carried > PROOF_CROSS * sent;
		return PROOF_PROVED;
	}
	other = find_carrier(end, PROOF_ENOUGH * bytes);
	if (other) {
		snprintf(carrier, IFNAMSIZ, "%s", other);
		snprintf(text, room, "%s:%s %s the traffic, %s only %.0f of %.0f bytes; ",
			end->host, other, verb, end->binding->counter, carried, bytes);
		return PROOF_CONTRADICTED;
	}
	snprintf(text, room,
		"no counter of %s shows the %.0f bytes (%s: %.0f): hidden by an offload or a "
		"bridge; ",
		end->host, bytes, end->binding->counter, carried);
	return PROOF_NOT_OBSERVABLE;
}

void proof_judge(const struct proof_end ends[2], double received, double sent, struct proof *ret)
{
	size_t length;

	*ret = (struct proof){.state = PROOF_PROVED};
	for (int i = 0; i < 2; i++) {
		enum proof_state state =
			judge_end(&ends[i], received, fmax(sent, received), ret, ret->carrier[i]);

		if (state > ret->state)
			ret->state = state;
	}
	length = strlen(ret->text);
	if (length >= 2 && !strcmp(ret->text + length - 2, "; "))
		ret->text[length - 2] = '\0';
}

void proof_join(struct proof *proof, const struct proof *other)
{
	size_t used = strlen(proof->text);

	if (other->state > proof->state)
		proof->state = other->state;
	proof->cross_traffic |= other->cross_traffic;
	snprintf(proof->text + used, sizeof(proof->text) - used, "; %s", other->text);
	for (int i = 0; i < 2; i++) {
		if (!proof->carrier[i][0])
			memcpy(proof->carrier[i], other->carrier[i], sizeof(proof->carrier[i]));
	}
}

const char *proof_state_name(enum proof_state state)
{
	static const char *const names[] = {"proved", "not_observable", "contradicted"};

	return names[state];
}
