"""Runs the suites one after the other and adds them up; called by scripts/test."""

import argparse
import sys
import time

import builds
import job
import static_checks
from builds import meson_test
from counting import count_test
from fuzzing import check_fuzz


def check_fresh(seconds):
    argv = ["tests/fresh/run"]
    log = "build/meson-logs/fresh.log"
    status = job.run(argv, log, seconds)
    outcome = job.Outcome()
    outcome.check(status == 0, job.explain(argv, log, status, seconds))
    return outcome


def check_harness(seconds):
    """The suites' own arithmetic: a sum that hides a failure would hide all of them."""
    argv = [sys.executable, "-m", "unittest", "discover", "-s", "tests/suites"]
    log = "build/meson-logs/harness.log"
    status = job.run(argv, log, seconds)
    result = "OK" if status == 0 else "FAIL"
    return count_test({"name": "harness", "result": result, "stdout": job.tail(log)})


# At most two beside each other: their links are shaped far below what two cores forward.
def lab(folder, **env):
    return lambda seconds: meson_test(folder, "lab", seconds, processes=2, env=env)


def lab_long(seconds):
    return meson_test("build", "lab", seconds, processes=2, multiplier=10, env={"ORCH_LONG": "1"})


def vm(seconds):
    return meson_test("build", "vm", seconds, processes=1)


# name, deadline in seconds, what runs. A deadline is there to end a hang, far above what is normal.
SUITES = (
    ("build", 300, builds.build),
    ("harness", 60, check_harness),
    ("style", 30, static_checks.check_sizes),
    ("format", 60, static_checks.check_format),
    ("tidy", 120, static_checks.check_tidy),
    ("unit", 120, lambda s: meson_test("build", "unit", s)),
    ("unit-asan", 180, lambda s: meson_test("build-asan", "unit", s, multiplier=3)),
    ("unit-valgrind", 300, lambda s: meson_test("build", "unit", s, builds.VALGRIND, 10)),
    ("cli", 120, lambda s: meson_test("build", "cli", s)),
    ("cli-asan", 180, lambda s: meson_test("build-asan", "cli", s, multiplier=3)),
    ("fuzz", 120, check_fuzz),
    ("lab", 600, lab("build")),
    # Once is enough there: the sanitizers look for faults, not for the spread of verdicts.
    ("lab-asan", 600, lab("build-asan", ORCH_TRUTH_TIMES="1")),
    ("vm", 420, vm),
)
LONG_SUITES = (
    ("lab-long", 3600, lab_long),
    ("fresh", 3600, check_fresh),
)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/test")
    parser.add_argument("--long", action="store_true", help="also the suites that take longer")
    parser.add_argument("--suite", action="append", default=[], metavar="NAME", help="only this one")
    parser.add_argument("--list", action="store_true", help="name the suites and end")
    parser.add_argument("--deps-seconds", type=float, default=0.0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = [name for name, _, _ in SUITES + LONG_SUITES]
    unknown = [name for name in arguments.suite if name not in names]
    if unknown:
        parser.error(f"no suite '{unknown[0]}'; there are {', '.join(names)}")
    return arguments


def chosen(arguments):
    everything = SUITES + LONG_SUITES
    if arguments.suite:
        # What is not built cannot be tested; ninja does nothing when it is.
        return [s for s in everything if s[0] in arguments.suite or s[0] == "build"]
    return everything if arguments.long else SUITES


def run_suite(name, seconds, function):
    start = time.monotonic()
    try:
        outcome = function(seconds)
    except Exception as error:  # a broken check is a failed one, and the others still run
        outcome = job.Outcome(failed=1, details=[f"{type(error).__name__}: {error}"])
    if outcome.passed + outcome.failed == 0:
        outcome.check(False, "no test ran: a suite without tests proves nothing")
    took = time.monotonic() - start
    word = "FAIL" if outcome.failed else "ok"
    print(f"{name:14} {word:5} {outcome.passed:5} passed {outcome.failed:4} failed {took:7.1f} s")
    for detail in outcome.details:
        print("\n".join("    " + line for line in detail.splitlines()))
    sys.stdout.flush()
    return outcome, took


def print_minutes(times):
    print("\nminutes by suite")
    for name, took in times:
        print(f"  {name:14} {took / 60:6.2f}")
    print(f"  {'all':14} {sum(took for _, took in times) / 60:6.2f}")


def main():
    arguments = parse_arguments()
    if arguments.list:
        print("\n".join(name for name, _, _ in SUITES + LONG_SUITES))
        return 0
    total = job.Outcome()
    times = [("deps", arguments.deps_seconds)]
    for name, seconds, function in chosen(arguments):
        outcome, took = run_suite(name, seconds, function)
        total.add(outcome)
        times.append((name, took))
        if name == "build" and outcome.failed:
            print("the other suites did not run: they would judge what an earlier build left")
            break
    print_minutes(times)
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
