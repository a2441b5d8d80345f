#include "meter.h"

#include <errno.h>
#include <stdlib.h>

int meter_init(struct meter *meter, int64_t duration_us, int64_t omit_us, int64_t interval_us)
{
	/* Time 0, the end of the omitted time, the end, and one for the peer's early end. */
	size_t capacity = 4;

	if (interval_us > 0)
		capacity += (size_t)(duration_us / interval_us);
	*meter = (struct meter){
		.omit_us = omit_us, .duration_us = duration_us, .interval_us = interval_us};
	meter->samples = calloc(capacity, sizeof(*meter->samples));
	meter->capacity = capacity;
	return meter->samples ? 0 : -ENOMEM;
}

void meter_finish(struct meter *meter)
{
	free(meter->samples);
	meter->samples = NULL;
	meter->count = 0;
}

const struct meter_sample *meter_last(const struct meter *meter)
{
	return &meter->samples[meter->count - 1];
}

int64_t meter_next_us(const struct meter *meter)
{
	int64_t next = meter->duration_us;
	int64_t now = meter->count ? meter_last(meter)->at_us : 0;

	if (meter->interval_us > 0) {
		int64_t boundary = (now / meter->interval_us + 1) * meter->interval_us;

		if (boundary < next)
			next = boundary;
	}
	if (now < meter->omit_us && meter->omit_us < next)
		next = meter->omit_us;
	return next;
}

bool meter_add(struct meter *meter, const struct meter_sample *sample)
{
	bool omitting = meter->count == 0 || meter_last(meter)->at_us < meter->omit_us;

	/* A sender waits for the reset a little longer than the duration: that is the last
	 * interval's end, no further interval. */
	if (meter->count > 1 &&
		(meter->count == meter->capacity || meter_last(meter)->at_us >= meter->duration_us))
		meter->count--;
	meter->samples[meter->count++] = *sample;
	if (!omitting || sample->at_us < meter->omit_us)
		return false;
	meter->omit_sample = meter->count - 1;
	return true;
}

static bool window_began(const struct meter *meter)
{
	return meter->count > 0 && meter->samples[meter->omit_sample].at_us >= meter->omit_us;
}

int64_t meter_window_us(const struct meter *meter)
{
	if (!window_began(meter))
		return 0;
	return meter_last(meter)->at_us - meter->samples[meter->omit_sample].at_us;
}

int64_t meter_window_bytes(const struct meter *meter)
{
	if (!window_began(meter))
		return 0;
	return meter_last(meter)->bytes - meter->samples[meter->omit_sample].bytes;
}
