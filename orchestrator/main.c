#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "command.h"

/*
 * A file opened later must not become stdout or stderr by taking a number that was closed: messages
 * would be written into it. What goes to a closed stdout fails, as it should.
 */
static void fill_standard_descriptors(void)
{
	static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
			abort();
}

int main(int argc, char **argv)
{
	fill_standard_descriptors();
	/* A file that grows beyond its limit is an error like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	/* Text width only: numbers are printed and read with a point everywhere. */
	setlocale(LC_CTYPE, "");
	return command_main(argc, argv);
}
