/* A data datagram's header: half of the token, the number, the sender's ns; big endian. */
#ifndef UDP_WIRE_H
#define UDP_WIRE_H

#include <stdint.h>

static inline void udp_wire_put(unsigned char *at, uint64_t number)
{
	for (int i = 7; i >= 0; i--, number >>= 8)
		at[i] = (unsigned char)number;
}

static inline uint64_t udp_wire_get(const unsigned char *at)
{
	uint64_t number = 0;

	for (int i = 0; i < 8; i++)
		number = number << 8 | at[i];
	return number;
}

#endif
