#include "command.h"

#include <stdio.h>

int cmd_version(int argc, char **argv)
{
	struct error err = {0};
	size_t operands;

	if (arguments_read(NULL, 0, argc, argv, NULL, NULL, 0, &operands, &err))
		return command_fail_line("version", &err);
	printf("orch %s\n", ORCH_VERSION);
	return 0;
}
