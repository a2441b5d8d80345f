#include "target_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Flash is never written unless $HOME is all there is, or the user says so by `tmp:`. */
static const char *const folders[] = {"/tmp", "/var/tmp", "/run", "/dev/shm", "$HOME"};

#define FOLDER_COUNT (sizeof(folders) / sizeof(folders[0]))
_Static_assert(FOLDER_COUNT + 1 == TARGET_FOLDERS_MAX, "tmp and the table");

const char *target_script_folder(const struct target_script *script, size_t folder)
{
	if (script->tmp && folder == 1)
		return script->tmp;
	folder -= script->tmp ? 2 : 1;
	return folder < FOLDER_COUNT ? folders[folder] : NULL;
}

static void put_quoted(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			putc(*text, out);
	}
	putc('\'', out);
}

/* The home folder is the target's to know, everything else is meant literally. */
static void put_path(FILE *out, const char *path)
{
	if (strcmp(path, "$HOME") == 0) {
		fputs("\"$HOME\"", out);
	} else if (strncmp(path, "~/", 2) == 0) {
		fputs("\"$HOME\"", out);
		put_quoted(out, path + 1);
	} else {
		put_quoted(out, path);
	}
}

/* Wraps a script for the login shell, whichever that is. */
static char *wrap(char *script)
{
	char *command = NULL;
	size_t size;
	FILE *out = script ? open_memstream(&command, &size) : NULL;

	if (out) {
		fputs("exec sh -c ", out);
		put_quoted(out, script);
		if (fclose(out) != 0) {
			free(command);
			command = NULL;
		}
	}
	free(script);
	return command;
}

static char *finish(FILE *out, char **script)
{
	if (fclose(out) != 0) {
		free(*script);
		return NULL;
	}
	return wrap(*script);
}

char *target_script_probe(void)
{
	/* Its own program: whatever family that has, the host can run. No `head -c`: all of cat. */
	return wrap(strdup("head -c 64 /proc/self/exe 2>/dev/null || exec cat /proc/self/exe"));
}

/*
 * Chooses a folder: $f becomes an own, new (set -C: O_EXCL) and executable file. The test -x fails
 * on a noexec mount in most shells; where it does not, running the file gives 126.
 */
static void put_choice(FILE *out, const struct target_script *script)
{
	const char *folder;

	fprintf(out, "umask 077; say() { echo \"orch-%s $*\"; }; n=0; for d in", script->token);
	for (size_t i = 1; (folder = target_script_folder(script, i)); i++) {
		putc(' ', out);
		put_path(out, folder);
	}
	fprintf(out,
		"; do n=$((n+1)); [ $n -gt %zu ] || continue; "
		"[ -d \"$d\" ] || { say absent $n; continue; }; f=$d/.orch-agent-%s; "
		"(set -C; : >\"$f\") 2>/dev/null || { say unwritable $n; continue; }; "
		"chmod 700 \"$f\"; "
		"[ -x \"$f\" ] || { rm -f \"$f\"; say noexec $n; continue; }; ",
		script->skip, script->token);
}

/* A short file is a full disk, or input that ended because the asker died: away with it. */
static void put_check(FILE *out, const struct target_script *script)
{
	fprintf(out,
		"set -- $(ls -ln \"$f\" 2>/dev/null); "
		"[ \"$5\" = %zu ] || { rm -f \"$f\"; say full $n; exit 0; }; ",
		script->size);
}

static void put_run(FILE *out, bool sudo)
{
	/* Not exec: the file goes even when the agent could not start to unlink it. */
	fprintf(out,
		"%s\"$f\" --unlink; s=$?; rm -f \"$f\"; "
		"[ $s = 126 ] && say noexec $n; exit $s; ",
		sudo ? "sudo -n " : "");
}

char *target_script_run(const struct target_script *script)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "head -c 1 </dev/null >/dev/null 2>&1 || { echo orch-%s nohead; exit 0; }; ",
		script->token);
	put_choice(out, script);
	fprintf(out, "head -c %zu >\"$f\" 2>/dev/null; ", script->size);
	put_check(out, script);
	put_run(out, script->sudo);
	fputs("done; say nofolder", out);
	return finish(out, &text);
}

char *target_script_store(const struct target_script *script)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_choice(out, script);
	fputs("cat >\"$f\" 2>/dev/null; ", out);
	put_check(out, script);
	fputs("say stored $n; exit 0; done; say nofolder", out);
	return finish(out, &text);
}

static void put_stored(FILE *out, const struct target_script *script, size_t folder)
{
	fprintf(out, "say() { echo \"orch-%s $*\"; }; n=%zu; d=", script->token, folder);
	put_path(out, target_script_folder(script, folder));
	fprintf(out, "; f=$d/.orch-agent-%s; ", script->token);
}

char *target_script_run_stored(const struct target_script *script, size_t folder)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_stored(out, script, folder);
	put_run(out, script->sudo);
	return finish(out, &text);
}

char *target_script_run_installed(const char *path, bool sudo)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(sudo ? "exec sudo -n " : "exec ", out);
	put_path(out, path);
	return finish(out, &text);
}
