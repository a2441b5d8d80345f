#include "udp_tally.h"

#include <string.h>

/* No path loses so many in a row and goes on: such a number is none of the sender's. */
#define JUMP_MAX (UINT64_C(1) << 32)

void udp_tally_init(struct udp_tally *tally)
{
	memset(tally, 0, sizeof(*tally));
}

static uint64_t *word_of(struct udp_tally *tally, uint64_t number)
{
	return &tally->seen[number % UDP_TALLY_MEMORY / 64];
}

static void forget(struct udp_tally *tally, uint64_t from, uint64_t to)
{
	if (to - from >= UDP_TALLY_MEMORY) {
		memset(tally->seen, 0, sizeof(tally->seen));
		return;
	}
	for (; from < to; from++)
		*word_of(tally, from) &= ~(UINT64_C(1) << from % 64);
}

/*
 * RFC 3550, section 6.4.1: D is the difference of two neighbours' spacing here and at the sender,
 * in the order of arrival; J moves by a sixteenth of what D differs from it (appendix A.8's integer
 * form).
 */
static void add_spacing(struct udp_tally *tally, int64_t sent_ns, int64_t arrived_ns)
{
	if (tally->timed) {
		int64_t spread = (arrived_ns - tally->arrived_ns) - (sent_ns - tally->sent_ns);

		if (spread < 0)
			spread = -spread;
		tally->jitter += spread - ((tally->jitter + 8) >> 4);
		histogram_add(&tally->spread, spread);
	}
	tally->timed = true;
	tally->sent_ns = sent_ns;
	tally->arrived_ns = arrived_ns;
}

bool udp_tally_add(struct udp_tally *tally, uint64_t number, int64_t sent_ns, int64_t arrived_ns)
{
	bool of_window = number >= tally->window_from;
	uint64_t bit = UINT64_C(1) << number % 64;

	if (number >= tally->next) {
		if (number - tally->next >= JUMP_MAX)
			return false;
		forget(tally, tally->next, number);
		tally->next = number + 1;
	} else if (tally->next - number > UDP_TALLY_MEMORY) {
		/* Too old to tell whether it came before: counted nowhere, it stays lost. */
		return false;
	} else if (*word_of(tally, number) & bit) {
		tally->duplicates += of_window;
		return false;
	} else {
		tally->reordered += of_window;
	}
	*word_of(tally, number) |= bit;
	tally->packets++;
	tally->window_packets += of_window;
	add_spacing(tally, sent_ns, arrived_ns);
	return true;
}

void udp_tally_begin_window(struct udp_tally *tally)
{
	tally->window_from = tally->next;
	tally->window_packets = 0;
	tally->duplicates = 0;
	tally->reordered = 0;
	histogram_clear(&tally->spread);
}

int64_t udp_tally_lost(const struct udp_tally *tally, uint64_t sent)
{
	int64_t wanted = (int64_t)(sent - tally->window_from);

	return sent < tally->window_from || wanted < tally->window_packets
		       ? 0
		       : wanted - tally->window_packets;
}

int64_t udp_tally_jitter(const struct udp_tally *tally)
{
	return tally->jitter >> 4;
}
