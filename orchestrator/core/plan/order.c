#include "order.h"

static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t draw_below(uint64_t *state, uint64_t n)
{
	uint64_t surplus = (UINT64_MAX % n + 1) % n;
	uint64_t value;

	do {
		value = draw(state);
	} while (value > UINT64_MAX - surplus);
	return value % n;
}

void order_fill(size_t *order, size_t rounds, size_t count, uint64_t seed)
{
	uint64_t state = seed;
	size_t round, i;

	for (round = 0; round < rounds; round++, order += count) {
		for (i = 0; i < count; i++)
			order[i] = i;
		for (i = count; i > 1; i--) {
			size_t other = (size_t)draw_below(&state, i);
			size_t kept = order[i - 1];

			order[i - 1] = order[other];
			order[other] = kept;
		}
	}
}
