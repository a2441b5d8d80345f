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


def check_tidy(seconds):
    # The sanitizer build's: there meson compiles the agent by itself, and so has written down how.
    with open("build-asan/compile_commands.json") as database:
        paths = {os.path.relpath(os.path.join(e["directory"], e["file"])) for e in json.load(database)}
    files = sorted(path for path in paths if path.startswith(PROGRAM_FOLDERS))
    # The database is gcc's: warnings that only gcc knows are none of clang's business.
    flags = ["--quiet", "--warnings-as-errors=*", "--extra-arg=-Wno-unknown-warning-option"]
    return each("tidy", files, lambda f: ["clang-tidy-14", "-p", "build-asan", *flags, f], seconds)


def check_sizes(seconds):
    argv = [sys.executable, "tests/style/check_sizes.py"]
    log = "build/meson-logs/sizes.log"
    status = job.run(argv, log, seconds)
    outcome = job.Outcome()
    outcome.check(status == 0, job.explain(argv, log, status, seconds))
    return outcome
