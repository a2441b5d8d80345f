/*
 * Runs a fuzz target over files, without a fuzzer: every input that once mattered stays a
 * regression test of ordinary builds.
 *
 *     replay-TARGET FILE|FOLDER...
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned char *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	unsigned char *data = NULL;
	struct stat about;
	if (fstat(fileno(file), &about) == 0) {
		size_t size = (size_t)about.st_size;
		/* Exactly as large as the input, so that a sanitizer sees a read past its end. */
		data = malloc(size ? size : 1);
		if (data && fread(data, 1, size, file) != size) {
			free(data);
			data = NULL;
		}
		*ret_size = size;
	}
	fclose(file);
	return data;
}

static int replay_file(const char *path)
{
	size_t size = 0;
	unsigned char *data = read_file(path, &size);
	if (!data) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	/* Named before it runs: a target that finds a fault aborts. */
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 1;
}

/* Returns how many inputs ran, or -1. */
static int replay(const char *path)
{
	DIR *folder = opendir(path);
	if (!folder)
		return errno == ENOTDIR ? replay_file(path) : -1;
	int count = 0;
	for (struct dirent *entry; count >= 0 && (entry = readdir(folder));) {
		char inner[PATH_MAX];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
		int ran = replay(inner);
		count = ran < 0 ? -1 : count + ran;
	}
	closedir(folder);
	return count;
}

int main(int argc, char **argv)
{
	int count = 0;
	for (int i = 1; i < argc; i++) {
		int ran = replay(argv[i]);
		if (ran < 0) {
			fprintf(stderr, "%s: cannot be replayed\n", argv[i]);
			return 1;
		}
		count += ran;
	}
	printf("%d inputs\n", count);
	return count > 0 ? 0 : 1;
}
