/* The engines' rows, one a file. */
#ifndef ENGINE_ROWS_H
#define ENGINE_ROWS_H

#include "engine.h"

extern const struct engine engine_native_tcp;
extern const struct engine engine_native_udp;
extern const struct engine engine_native_echo;

#endif
