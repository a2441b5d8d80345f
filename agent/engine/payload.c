#include "payload.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	FILL_WORDS = 1024,
	CLOSE_ON_EXEC = 1, /* MFD_CLOEXEC, which old headers lack */
};

static const uint32_t seed = 2463534242u;

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

/* Not of the heap: what it gets back it gives to others, whose secrets a packet that still waits
 * in a queue would then carry. */
char *payload_map(void)
{
	void *bytes = mmap(
		NULL, PAYLOAD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	fill_words(bytes, PAYLOAD_SIZE / sizeof(uint32_t), seed);
	return bytes;
}

void payload_unmap(char *bytes)
{
	if (bytes)
		munmap(bytes, PAYLOAD_SIZE);
}

#ifdef SYS_memfd_create
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
	uint32_t words[FILL_WORDS], state = seed;

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

int payload_open_file(size_t size)
{
	int file = (int)syscall(SYS_memfd_create, "payload", CLOSE_ON_EXEC);

	if (file < 0)
		return -errno;
	int result = fill_file(file, size);

	if (result < 0) {
		close(file);
		return result;
	}
	return file;
}
#else
int payload_open_file(size_t size)
{
	(void)size;
	return -ENOSYS;
}
#endif

size_t payload_name(const char *bytes, size_t size, size_t piece, struct iovec *pieces, size_t most,
	size_t *ret_size)
{
	size_t count = 0, named = 0;

	while (count < most && named < size) {
		size_t part = size - named < piece ? size - named : piece;

		pieces[count++] = (struct iovec){(void *)(uintptr_t)bytes, part};
		named += part;
	}
	*ret_size = named;
	return count;
}
