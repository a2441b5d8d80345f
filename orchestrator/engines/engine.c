#include "engine.h"

#include <string.h>

#include "engine_rows.h"

const struct engine *engine_find(const char *name, enum topology_test_kind kind)
{
	static const struct engine *const engines[] = {
		&engine_native_tcp,
		&engine_native_udp,
		&engine_native_echo,
	};

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (!strcmp(engines[i]->name, name) && engines[i]->kind == kind)
			return engines[i];
	}
	return NULL;
}
