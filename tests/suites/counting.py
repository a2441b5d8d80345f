"""How many cases a meson test run held. A test that tells its cases (cmocka, unittest) counts as
those, any other as one. Skipped is failed: what a suite promises is run, or said to be missing."""

import json
import re

from job import Outcome

CASES = (re.compile(r"^\[=+\] .*?Running (\d+) test", re.M), re.compile(r"^Ran (\d+) tests? in", re.M))
FAILED = (
    re.compile(r"^\[  FAILED  \] .*?(\d+) test\(s\), listed below", re.M),
    re.compile(r"^\[  SKIPPED \] .*?(\d+) test\(s\)", re.M),
    re.compile(r"^(?:OK|FAILED) \(.*?\bfailures=(\d+)", re.M),
    re.compile(r"^(?:OK|FAILED) \(.*?\berrors=(\d+)", re.M),
    re.compile(r"^(?:OK|FAILED) \(.*?\bskipped=(\d+)", re.M),
    re.compile(r"^(?:OK|FAILED) \(.*?\bunexpected successes=(\d+)", re.M),
)


def total(patterns, text):
    return sum(int(found) for pattern in patterns for found in pattern.findall(text))


def count_test(record):
    """The Outcome of one line of meson's testlog.json."""
    text = (record.get("stdout") or "") + "\n" + (record.get("stderr") or "")
    cases = max(total(CASES, text), 1)
    failed = total(FAILED, text)
    if record["result"] != "OK":
        failed = max(failed, 1)
    outcome = Outcome(passed=max(cases - failed, 0), failed=failed)
    if failed:
        last = "\n".join(text.strip().splitlines()[-40:])
        outcome.details.append(f"{record['name']}: {record['result']}\n{last}")
    return outcome


def count_log(path):
    outcome = Outcome()
    with open(path) as log:
        for line in log:
            outcome.add(count_test(json.loads(line)))
    return outcome
