"""Checks that read the sources: format, clang-tidy, sizes. One case a file."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import job

PROGRAM_FOLDERS = ("agent", "orchestrator", "reports", "tests/fuzz")


def c_files(*folders):
    for folder in folders:
        for path, _, names in os.walk(folder):
            yield from (os.path.join(path, name) for name in sorted(names) if name[-2:] in (".c", ".h"))


def each(name, files, command, seconds):
    """Runs command(file) for every file, as many at once as there are CPUs."""

    def one(file):
        log = f"build/meson-logs/{name}/{file.replace('/', '_')}.log"
        argv = command(file)
        status = job.run(argv, log, seconds)
        return status == 0, job.explain(argv, log, status, seconds)

    outcome = job.Outcome()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for holds, detail in pool.map(one, files):
            outcome.check(holds, detail)
    return outcome


def check_format(seconds):
    files = list(c_files("agent", "orchestrator", "reports", "tests"))
    return each("format", files, lambda f: ["clang-format-14", "--dry-run", "-Werror", f], seconds)


def tidy_database():
    """Writes how each program file is compiled; returns (folder, files).

    From the sanitizer build, where meson compiles the agent by itself and so has written down how.
    clang-tidy checks a file once for every target that compiles it: one of them is enough."""
    with open("build-asan/compile_commands.json") as database:
        entries = {os.path.relpath(os.path.join(e["directory"], e["file"])): e for e in json.load(database)}
    kept = {path: entry for path, entry in entries.items() if path.startswith(PROGRAM_FOLDERS)}
    folder = "build/meson-logs/tidy"
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "compile_commands.json"), "w") as database:
        json.dump(list(kept.values()), database)
    return folder, sorted(kept)


def check_tidy(seconds):
    folder, files = tidy_database()
    # The database is gcc's: warnings that only gcc knows are none of clang's business.
    flags = ["--quiet", "--warnings-as-errors=*", "--extra-arg=-Wno-unknown-warning-option"]
    return each("tidy", files, lambda f: ["clang-tidy-14", "-p", folder, *flags, f], seconds)


def check_sizes(seconds):
    argv = [sys.executable, "tests/style/check_sizes.py"]
    log = "build/meson-logs/sizes.log"
    status = job.run(argv, log, seconds)
    outcome = job.Outcome()
    outcome.check(status == 0, job.explain(argv, log, status, seconds))
    return outcome
