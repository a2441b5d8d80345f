#include "command.h"

int cmd_plan(int argc, char **argv)
{
	struct run_arguments arguments;
	struct error err = {0};
	int status = 0;

	if (arguments_parse(&arguments, arguments_plan, argc, argv, &err))
		status = command_fail_line("plan", &err);
	arguments_finish(&arguments);
	return status;
}
