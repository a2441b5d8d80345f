#include "storage.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Room taken in the folder before the first trial: a full disk shows itself then, not after. */
#define STORAGE_RESERVE (64 << 10)

struct storage {
	char *path, *part, *folder;
	int fd;     /* of the .part, locked while the run goes on */
	off_t size; /* of whole lines in it */
	int lines;  /* the header is the first, the others are trials */
	bool finished;
};

static int fail(struct error *err, const char *path, const char *what)
{
	return error_set(err, ERROR_FILE, path, "%s: %s", what, strerror(errno));
}

static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t done = write(fd, data, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		data += done;
		length -= (size_t)done;
	}
	return 0;
}

static char *read_open(
	int fd, const char *path, size_t size_max, size_t *ret_length, struct error *err)
{
	struct stat status;
	size_t size, used = 0;
	char *text;

	if (fstat(fd, &status) < 0) {
		fail(err, path, "cannot read");
		return NULL;
	}
	if (!S_ISREG(status.st_mode)) {
		error_set(err, ERROR_FILE, path, "not an ordinary file");
		return NULL;
	}
	if ((uintmax_t)status.st_size > size_max) {
		error_set(err, ERROR_FILE, path, "%jd bytes: larger than the %zu allowed",
			(intmax_t)status.st_size, size_max);
		return NULL;
	}
	size = (size_t)status.st_size;
	text = malloc(size + 1);
	if (!text) {
		error_set(err, ERROR_SYSTEM, path, "out of memory");
		return NULL;
	}
	/* A .part may grow or shrink under us: what is there now is what counts. */
	while (used < size) {
		ssize_t got = read(fd, text + used, size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			fail(err, path, "cannot read");
			free(text);
			return NULL;
		}
		if (got == 0)
			break;
		used += (size_t)got;
	}
	text[used] = '\0';
	*ret_length = used;
	return text;
}

char *storage_read(const char *path, size_t size_max, size_t *ret_length, struct error *err)
{
	/* Not blocking: a pipe by that name would hold us for ever. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text;

	if (fd < 0) {
		fail(err, path, "cannot open");
		return NULL;
	}
	text = read_open(fd, path, size_max, ret_length, err);
	close(fd);
	return text;
}

/* May PATH be written when the run ends? */
static int check_target(const char *path, struct error *err)
{
	struct stat status;

	if (!path[0] || path[strlen(path) - 1] == '/')
		return error_set(err, ERROR_FILE, path, "a folder, not the name of a run file");
	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : fail(err, path, "cannot write there");
	if (S_ISDIR(status.st_mode))
		return error_set(err, ERROR_FILE, path, "is a folder: name a file in it");
	if (!S_ISREG(status.st_mode))
		return error_set(
			err, ERROR_FILE, path, "is no ordinary file and will not be replaced");
	if (access(path, W_OK) < 0)
		return fail(err, path, "cannot be replaced");
	return 0;
}

/* Lines of the .part that an earlier run left; trials are all but the first. */
static int count_trials(int fd)
{
	char buffer[4096];
	off_t at = 0;
	int lines = 0;
	bool open_line = false;

	for (;;) {
		ssize_t got = pread(fd, buffer, sizeof(buffer), at), i;

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		for (i = 0; i < got; i++) {
			lines += buffer[i] == '\n';
			open_line = buffer[i] != '\n';
		}
		at += got;
	}
	lines += open_line;
	return lines > 1 ? lines - 1 : 0;
}

static int open_part(struct storage *storage, struct error *err)
{
	int trials;

	storage->fd =
		open(storage->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	if (storage->fd < 0)
		return fail(err, storage->part, "cannot write there; no trial was started");
	if (flock(storage->fd, LOCK_EX | LOCK_NB) < 0) {
		close(storage->fd);
		storage->fd = -1;
		return error_set(err, ERROR_FILE, storage->part,
			"another orch is writing this run: choose another file with -o");
	}
	trials = count_trials(storage->fd);
	if (trials) {
		/* Not ours to remove: closing without our lines leaves it as it is. */
		close(storage->fd);
		storage->fd = -1;
		if (trials < 0)
			return fail(err, storage->part, "cannot read");
		return error_set(err, ERROR_FILE, storage->part,
			"holds %d trial%s of a run that did not end.\n"
			"See them with `orch report %s`, then move or delete that file",
			trials, trials == 1 ? "" : "s", storage->part);
	}
	return 0;
}

/* Takes room and gives it back: both a full disk and a full quota answer now. */
static int try_room(struct storage *storage, struct error *err)
{
	static const char zeros[4096];
	size_t written = 0;
	int failed = ftruncate(storage->fd, 0);

	while (!failed && written < STORAGE_RESERVE) {
		failed = write_all(storage->fd, zeros, sizeof(zeros));
		written += sizeof(zeros);
	}
	if (!failed)
		failed = fdatasync(storage->fd) < 0 && errno != EINVAL && errno != EROFS;
	if (failed) {
		fail(err, storage->part, "no room to write; no trial was started");
		(void)!ftruncate(storage->fd, 0);
		return -1;
	}
	if (ftruncate(storage->fd, 0) < 0 || lseek(storage->fd, 0, SEEK_SET) < 0)
		return fail(err, storage->part, "cannot write");
	return 0;
}

struct storage *storage_create(const char *path, struct error *err)
{
	struct storage *storage = NULL;
	char *copy = NULL;

	if (check_target(path, err) < 0)
		return NULL;
	storage = calloc(1, sizeof(*storage));
	if (!storage)
		goto no_memory;
	storage->fd = -1;
	storage->path = strdup(path);
	copy = strdup(path);
	if (!storage->path || !copy || asprintf(&storage->part, "%s.part", path) < 0)
		goto no_memory;
	storage->folder = strdup(dirname(copy));
	free(copy);
	copy = NULL;
	if (!storage->folder)
		goto no_memory;
	if (open_part(storage, err) < 0 || try_room(storage, err) < 0) {
		storage_close(storage);
		return NULL;
	}
	return storage;

no_memory:
	free(copy);
	storage_close(storage);
	error_set(err, ERROR_SYSTEM, path, "out of memory");
	return NULL;
}

int storage_append(struct storage *storage, const char *line, struct error *err)
{
	size_t length = strlen(line);

	if (write_all(storage->fd, line, length) < 0 || write_all(storage->fd, "\n", 1) < 0) {
		fail(err, storage->part, "cannot write");
		/* Half a line would spoil the next one. */
		if (ftruncate(storage->fd, storage->size) == 0)
			lseek(storage->fd, storage->size, SEEK_SET);
		return -1;
	}
	storage->size += (off_t)length + 1;
	storage->lines++;
	return 0;
}

/* The mode a plain open() would give: mkstemp's 0600 would hide runs from a lab's other users. */
static void plain_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	(void)!fchmod(fd, 0666 & ~mask);
}

static int write_beside(const struct storage *storage, int fd, const char *text, struct error *err)
{
	static const char what[] = "cannot be written; the trials are in the .part file";

	if (write_all(fd, text, strlen(text)) < 0 || fsync(fd) < 0) {
		fail(err, storage->path, what);
		close(fd);
		return -1;
	}
	plain_mode(fd);
	return close(fd) < 0 ? fail(err, storage->path, what) : 0;
}

/* The rename is safe on disk once its folder is. */
static void sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

int storage_finish(struct storage *storage, const char *text, struct error *err)
{
	char *beside = NULL;
	int fd;

	if (asprintf(&beside, "%s.XXXXXX", storage->path) < 0)
		return error_set(err, ERROR_SYSTEM, storage->path, "out of memory");
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0) {
		fail(err, storage->path, "cannot write there; the trials are in the .part file");
		free(beside);
		return -1;
	}
	if (write_beside(storage, fd, text, err) < 0)
		goto failed;
	if (rename(beside, storage->path) < 0) {
		fail(err, storage->path, "cannot be replaced; the trials are in the .part file");
		goto failed;
	}
	free(beside);
	sync_folder(storage->folder);
	unlink(storage->part);
	storage->finished = true;
	return 0;

failed:
	unlink(beside);
	free(beside);
	return -1;
}

void storage_close(struct storage *storage)
{
	if (!storage)
		return;
	if (storage->fd >= 0) {
		/* Removed while still locked, so that no other run's .part is hit. */
		if (!storage->finished && storage->lines < 2)
			unlink(storage->part);
		close(storage->fd);
	}
	free(storage->path);
	free(storage->part);
	free(storage->folder);
	free(storage);
}

const char *storage_path(const struct storage *storage)
{
	return storage->path;
}
