"""The three builds that the suites use, and meson's tests on them."""

import os

import counting
import job

COMMON = ["--werror"]

# folder -> (setup arguments, environment of the setup, what ninja builds)
BUILDS = {
    "build": (["--buildtype=release"], {}, []),
    "build-asan": (
        [
            "--buildtype=debugoptimized",
            "-Db_sanitize=address,undefined",
            "-Db_lundef=false",
            # The agent is started by sshd, where no UBSAN_OPTIONS reaches it.
            "-Dc_args=-fno-sanitize-recover=all",
        ],
        {},
        [],
    ),
    "build-fuzz": (["--buildtype=debugoptimized", "-Dfuzz=true"], {"CC": "clang-14"}, ["fuzz"]),
}

SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-14",
}

VALGRIND = "valgrind --quiet --error-exitcode=99 --leak-check=full"


def build(seconds):
    """One case a build: it configures and compiles without a warning."""
    outcome = job.Outcome()
    for folder, (arguments, env, targets) in BUILDS.items():
        log = f"{folder}/meson-logs/setup.log"
        argv = ["meson", "setup", folder, *COMMON, *arguments]
        if os.path.exists(f"{folder}/build.ninja"):
            argv.append("--reconfigure")
        status = job.run(argv, log, seconds, env)
        if status == 0:
            log = f"{folder}/meson-logs/ninja.log"
            argv = ["ninja", "--quiet", "-C", folder, *targets]
            status = job.run(argv, log, seconds)
        outcome.check(status == 0, job.explain(argv, log, status, seconds))
    return outcome


def meson_test(folder, suite, seconds, wrapper=None, multiplier=1, processes=None, env=None):
    """The cases of one meson suite on one build."""
    # meson adds the wrapper's name to the log's by itself
    base = f"{folder}/meson-logs/{suite}" + (f"-{wrapper.split()[0]}" if wrapper else "")
    argv = ["meson", "test", "-C", folder, "--no-rebuild", "--suite", suite, "--logbase", suite]
    argv += ["--num-processes", str(processes or os.cpu_count() or 1)]
    argv += ["--timeout-multiplier", str(multiplier)]
    argv += [f"--wrapper={wrapper}"] if wrapper else []
    if os.path.exists(f"{base}.json"):
        os.unlink(f"{base}.json")
    env = {**(SANITIZERS if folder == "build-asan" else {}), **(env or {})}
    status = job.run(argv, f"{base}.output", seconds, env)
    outcome = job.Outcome()
    if os.path.exists(f"{base}.json"):
        outcome = counting.count_log(f"{base}.json")
    if status != 0 and not outcome.failed:
        outcome.check(False, job.explain(argv, f"{base}.output", status, seconds))
    return outcome
