/* Files on a real file system: what is kept, what is refused, what is left behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "storage.h"

static char folder[] = "/tmp/test-storage-XXXXXX";
static char path[200], part[220];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/run.json", folder);
	snprintf(part, sizeof(part), "%s.part", path);
	return 0;
}

static int count_files(void)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

static int remove_folder(void **state)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char name[600];

	(void)state;
	while (dir && (entry = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.' && unlink(name) < 0)
			rmdir(name);
	}
	if (dir)
		closedir(dir);
	return rmdir(folder);
}

static void write_file(const char *name, const char *text)
{
	FILE *out = fopen(name, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void assert_text(const char *name, const char *expected)
{
	size_t length = 0;
	struct error err = {0};
	char *text = storage_read(name, STORAGE_FILE_MAX, &length, &err);

	assert_non_null(text);
	assert_string_equal(text, expected);
	assert_int_equal(length, strlen(expected));
	free(text);
}

static void test_whole_run(void **state)
{
	struct error err = {0};
	struct storage *storage = storage_create(path, &err);

	(void)state;
	assert_non_null(storage);
	assert_string_equal(storage_path(storage), path);
	assert_int_equal(storage_append(storage, "{header}", &err), 0);
	assert_int_equal(storage_append(storage, "{trial}", &err), 0);
	assert_text(part, "{header}\n{trial}\n");
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(storage_finish(storage, "{whole}\n", &err), 0);
	storage_close(storage);
	assert_text(path, "{whole}\n");
	assert_int_equal(count_files(), 1);
	/* The same name again replaces it, and only when the run ends. */
	storage = storage_create(path, &err);
	assert_text(path, "{whole}\n");
	storage_append(storage, "{header}", &err);
	assert_int_equal(storage_finish(storage, "{second}\n", &err), 0);
	storage_close(storage);
	assert_text(path, "{second}\n");
	assert_int_equal(count_files(), 1);
}

static void test_abandoned(void **state)
{
	struct error err = {0};
	struct storage *storage = storage_create(path, &err);

	(void)state;
	storage_append(storage, "{header}", &err);
	storage_close(storage);
	assert_int_equal(count_files(), 0);
	storage = storage_create(path, &err);
	storage_append(storage, "{header}", &err);
	storage_append(storage, "{trial}", &err);
	storage_close(storage);
	assert_text(part, "{header}\n{trial}\n");
	/* The next run must not destroy what that one kept. */
	assert_null(storage_create(path, &err));
	assert_int_equal(err.code, ERROR_FILE);
	assert_non_null(strstr(err.message, "holds 1 trial of a run"));
	assert_non_null(strstr(err.message, "orch report "));
	assert_non_null(strstr(err.message, part));
	assert_text(part, "{header}\n{trial}\n");
	/* A torn trial is one as well; a header alone is nothing. */
	write_file(part, "{header}\n{tri");
	assert_null(storage_create(path, &err));
	write_file(part, "{header}\n");
	storage = storage_create(path, &err);
	assert_non_null(storage);
	storage_close(storage);
	assert_int_equal(count_files(), 0);
}

static void test_two_at_once(void **state)
{
	struct error err = {0};
	struct storage *storage = storage_create(path, &err);

	(void)state;
	storage_append(storage, "{header}", &err);
	assert_null(storage_create(path, &err));
	assert_non_null(strstr(err.message, "another orch is writing"));
	assert_text(part, "{header}\n");
	storage_close(storage);
}

static void test_bad_places(void **state)
{
	struct error err = {0};
	char name[300];

	(void)state;
	assert_null(storage_create(folder, &err));
	assert_non_null(strstr(err.message, "is a folder"));
	snprintf(name, sizeof(name), "%s/", folder);
	assert_null(storage_create(name, &err));
	assert_null(storage_create("", &err));
	snprintf(name, sizeof(name), "%s/nowhere/run.json", folder);
	assert_null(storage_create(name, &err));
	assert_int_equal(err.code, ERROR_FILE);
	assert_non_null(strstr(err.message, strerror(ENOENT)));
	assert_non_null(strstr(err.where, "nowhere"));
	assert_null(storage_create("/dev/full", &err));
	assert_non_null(strstr(err.message, "no ordinary file"));
	/* A link at the .part's place would write into a stranger's file. */
	snprintf(name, sizeof(name), "%s/stranger", folder);
	write_file(name, "mine");
	assert_int_equal(symlink(name, part), 0);
	assert_null(storage_create(path, &err));
	assert_text(name, "mine");
	assert_int_equal(count_files(), 2);
}

static void test_read(void **state)
{
	struct error err = {0};
	size_t length;
	char name[300];

	(void)state;
	assert_null(storage_read(path, 100, &length, &err));
	assert_non_null(strstr(err.message, strerror(ENOENT)));
	assert_null(storage_read(folder, 100, &length, &err));
	assert_non_null(strstr(err.message, "not an ordinary file"));
	assert_null(storage_read("/dev/zero", 100, &length, &err));
	snprintf(name, sizeof(name), "%s/pipe", folder);
	assert_int_equal(mkfifo(name, 0600), 0);
	assert_null(storage_read(name, 100, &length, &err));
	write_file(path, "0123456789");
	assert_null(storage_read(path, 9, &length, &err));
	assert_non_null(strstr(err.message, "10 bytes: larger than the 9 allowed"));
	assert_text(path, "0123456789");
}

/* Mounts a file system of one kind over the folder; false when this is not permitted. */
static bool mount_over(unsigned long flags, const char *options)
{
	return mount("none", folder, "tmpfs", flags, options) == 0;
}

static void test_full(void **state)
{
	struct error err = {0};
	char *large = calloc(1, 200001);
	struct storage *storage;

	(void)state;
	if (!mount_over(0, "size=128k")) {
		free(large);
		skip();
		return;
	}
	memset(large, 'x', 200000);
	storage = storage_create(path, &err);
	assert_non_null(storage);
	assert_int_equal(storage_append(storage, "{header}", &err), 0);
	assert_int_equal(storage_append(storage, large, &err), -1);
	assert_non_null(strstr(err.message, strerror(ENOSPC)));
	/* The failed line is gone, what came before and after is whole. */
	assert_int_equal(storage_append(storage, "{trial}", &err), 0);
	assert_text(part, "{header}\n{trial}\n");
	assert_int_equal(storage_finish(storage, large, &err), -1);
	storage_close(storage);
	assert_text(part, "{header}\n{trial}\n");
	assert_int_equal(count_files(), 1);
	unlink(part);
	/* Full before the first trial: refused then, and nothing left. */
	large[120000] = '\0';
	snprintf(large + 150000, 300, "%s/filler", folder);
	write_file(large + 150000, large);
	assert_null(storage_create(path, &err));
	assert_non_null(strstr(err.message, "no trial was started"));
	assert_int_equal(count_files(), 1);
	umount(folder);
	free(large);
}

static void test_read_only(void **state)
{
	struct error err = {0};

	(void)state;
	if (!mount_over(MS_RDONLY, NULL))
		skip();
	assert_null(storage_create(path, &err));
	umount(folder);
	assert_int_equal(err.code, ERROR_FILE);
	assert_non_null(strstr(err.message, "no trial was started"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_whole_run),
		TEST(test_abandoned),
		TEST(test_two_at_once),
		TEST(test_bad_places),
		TEST(test_read),
		TEST(test_full),
		TEST(test_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
