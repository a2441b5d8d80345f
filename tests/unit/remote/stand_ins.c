/* Until core has them. */
#include "facts.h"
#include "topology.h"

#include <stdio.h>

int __attribute__((weak))
facts_add(struct facts *facts, const struct wire_record *record, struct error *err)
{
	const char *arch = wire_record_text(record, "arch");

	(void)err;
	if (arch)
		snprintf(facts->arch, sizeof(facts->arch), "%s", arch);
	return 0;
}

void __attribute__((weak)) facts_finish(struct facts *facts)
{
	(void)facts;
}

const char *__attribute__((weak)) topology_where(
	const struct topology *topology, struct topology_mark mark, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s:%d:%d", topology->file, mark.line, mark.column);
	return buffer;
}
