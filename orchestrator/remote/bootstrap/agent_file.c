#include "agent_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef ORCH_LIBEXECDIR
#error "ORCH_LIBEXECDIR must name the folder the agents are installed to"
#endif

#define PATH_SIZE 4096

static uint64_t fnv1a(const char *data, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++) {
		hash ^= (unsigned char)data[i];
		hash *= 0x100000001b3u;
	}
	return hash;
}

/* Returns the descriptor, or -1: a NULL folder holds nothing. */
static int open_in(const char *folder, const char *below, const char *family)
{
	char path[PATH_SIZE];
	int length;

	if (!folder || !folder[0])
		return -1;
	length = snprintf(path, sizeof(path), "%s%s/orch-agent-%s", folder, below, family);
	if (length < 0 || (size_t)length >= sizeof(path))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_searched(const char *family)
{
	char self[PATH_SIZE];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int descriptor = open_in(getenv("ORCH_AGENT_DIR"), "", family);
	char *slash;

	if (descriptor < 0 && length > 0) {
		self[length] = '\0';
		slash = strrchr(self, '/');
		if (slash)
			*slash = '\0';
		descriptor = open_in(self, "/../agent", family);
		if (descriptor < 0)
			descriptor = open_in(self, "/../libexec/orch", family);
	}
	if (descriptor < 0)
		descriptor = open_in(ORCH_LIBEXECDIR, "", family);
	return descriptor;
}

static int read_whole(struct agent_file *file, int descriptor)
{
	struct stat status;
	size_t have = 0;
	ssize_t got;

	if (fstat(descriptor, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size <= 0 || status.st_size > AGENT_FILE_MAX)
		return -EFBIG;
	file->size = (size_t)status.st_size;
	file->data = malloc(file->size);
	if (!file->data)
		return -ENOMEM;
	while (have < file->size) {
		got = read(descriptor, file->data + have, file->size - have);
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		have += (size_t)got;
	}
	file->hash = fnv1a(file->data, file->size);
	return 0;
}

int agent_file_load(struct agent_file *file, const char *folder, const char *family,
	const char *host, struct error *err)
{
	int descriptor = folder ? open_in(folder, "", family) : open_searched(family);
	int result;

	*file = (struct agent_file){0};
	if (descriptor < 0)
		return error_set(err, ERROR_HOST, host,
			"its CPU family is %s, and there is no orch-agent-%s in %s;\n"
			"build one for it (CONTRIBUTING.md) and name its folder in ORCH_AGENT_DIR",
			family, family, folder ? folder : "the agent folders");
	result = read_whole(file, descriptor);
	close(descriptor);
	if (result < 0) {
		agent_file_finish(file);
		return error_set(err, ERROR_HOST, host, "orch-agent-%s cannot be read: %s", family,
			strerror(-result));
	}
	return 0;
}

void agent_file_finish(struct agent_file *file)
{
	free(file->data);
	*file = (struct agent_file){0};
}
