#include "engine.h"

#include <string.h>

#include "engine_rows.h"

const struct engine *engine_find(const char *name)
{
	static const struct engine *const engines[] = {&engine_native};

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	}
	return NULL;
}
