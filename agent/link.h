/* What /sys/class/net says of an interface, in hello and in the evidence of a trial. */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

/* file begins with '/' ("/device"), or is empty for the interface itself. */
bool link_has(const char *root, const char *interface, const char *file);

/* False when there is no such file, or it holds no number. */
bool link_read_number(const char *root, const char *interface, const char *file, int64_t *ret);

/* Adds speed_mbit and duplex where they are known. Only for physical interfaces: virtual ones make
 * them up (veth says 10000).
 */
void link_say_speed(struct wire_writer *writer, const char *root, const char *interface);

#endif
