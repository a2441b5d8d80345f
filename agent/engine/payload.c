#include "payload.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	FILL_WORDS = 1024,
	CLOSE_ON_EXEC = 1, /* MFD_CLOEXEC, which old headers lack */
};

/* Marsaglia's xorshift32 (Journal of Statistical Software 8(14), 2003). */
static uint32_t fill_words(uint32_t *words, size_t count, uint32_t state)
{
	for (size_t i = 0; i < count; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		words[i] = state;
	}
	return state;
}

static int write_all(int file, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t put = write(file, bytes, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -ENOSPC;
		bytes += put;
		size -= (size_t)put;
	}
	return 0;
}

static int fill_file(int file, size_t size)
{
	uint32_t words[FILL_WORDS], state = 2463534242u;

	while (size > 0) {
		size_t part = size < sizeof(words) ? size : sizeof(words);

		state = fill_words(words, FILL_WORDS, state);
		int result = write_all(file, (const char *)words, part);

		if (result < 0)
			return result;
		size -= part;
	}
	return 0;
}

/* Its pages belong to no address space: they cost the agent no resident memory. */
static int make_file(size_t size)
{
#ifdef SYS_memfd_create
	int file = (int)syscall(SYS_memfd_create, "payload", CLOSE_ON_EXEC);

	if (file < 0)
		return -errno;
	int result = fill_file(file, size);

	if (result < 0) {
		close(file);
		return result;
	}
	return file;
#else
	(void)size;
	return -ENOSYS;
#endif
}

int payload_init(struct payload *payload, size_t size, bool want_file)
{
	*payload = (struct payload){.file = -1, .size = size};
	if (want_file)
		payload->file = make_file(size);
	if (payload->file >= 0)
		return 0;
	payload->file = -1;
	/* Whole words, so that the last one fits. */
	uint32_t *words = malloc((size + sizeof(*words) - 1) / sizeof(*words) * sizeof(*words));

	if (!words)
		return -ENOMEM;
	fill_words(words, (size + sizeof(*words) - 1) / sizeof(*words), 2463534242u);
	payload->block = (char *)words;
	return 0;
}

void payload_finish(struct payload *payload)
{
	if (payload->file >= 0)
		close(payload->file);
	payload->file = -1;
	free(payload->block);
	payload->block = NULL;
}

const char *payload_map(const struct payload *payload)
{
	if (payload->file < 0)
		return payload->block;
	void *bytes = mmap(NULL, payload->size, PROT_READ, MAP_SHARED, payload->file, 0);

	return bytes == MAP_FAILED ? NULL : bytes;
}

void payload_unmap(const struct payload *payload, const char *bytes)
{
	if (payload->file >= 0 && bytes)
		munmap((void *)(uintptr_t)bytes, payload->size);
}
