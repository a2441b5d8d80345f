#include "link.h"

#include <string.h>

#include "files.h"

static bool join(
	char path[FILES_PATH_MAX], const char *root, const char *interface, const char *file)
{
	return files_join(path, FILES_PATH_MAX, root, "/sys/class/net/", interface, file, NULL);
}

bool link_has(const char *root, const char *interface, const char *file)
{
	char path[FILES_PATH_MAX];

	return join(path, root, interface, file) && files_exist(path);
}

bool link_read_number(const char *root, const char *interface, const char *file, int64_t *ret)
{
	char path[FILES_PATH_MAX];

	return join(path, root, interface, file) && files_read_number(path, ret);
}

void link_say_speed(struct wire_writer *writer, const char *root, const char *interface)
{
	char path[FILES_PATH_MAX], text[32];
	char *rest = text;
	int64_t speed;

	if (link_read_number(root, interface, "/speed", &speed) && speed > 0)
		wire_writer_number(writer, "speed_mbit", speed);
	if (!join(path, root, interface, "/duplex") || files_read(path, text, sizeof(text)) <= 0)
		return;
	const char *duplex = files_next_line(&rest);

	if (strcmp(duplex, "full") == 0 || strcmp(duplex, "half") == 0)
		wire_writer_text(writer, "duplex", duplex);
}
