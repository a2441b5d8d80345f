#include <locale.h>

#include "command.h"

int main(int argc, char **argv)
{
	/* Text width only: numbers are printed and read with a point everywhere. */
	setlocale(LC_CTYPE, "");
	return command_main(argc, argv);
}
