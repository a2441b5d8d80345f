"""How many cases a meson test run held. A test that tells its cases (cmocka, unittest) counts as
those, any other as one. Skipped is failed: what a suite promises is run, or said to be missing."""

import json
import re

from job import Outcome

# A group says first how many it holds, so that cases are missed which a crash kept from running.
CMOCKA_GROUP = re.compile(r"^\[=+\] .*?Running (\d+) test", re.M)
CMOCKA_GOOD = re.compile(r"^\[ +OK \] ", re.M)
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
UNITTEST_BAD = [
    re.compile(rf"^(?:OK|FAILED) \(.*?\b{word}=(\d+)", re.M)
    for word in ("failures", "errors", "skipped", "unexpected successes")
]


def total(pattern, text):
    return sum(int(found) for found in pattern.findall(text))


def count_cases(text):
    """(cases, failed ones) that the output of a test tells."""
    cmocka = total(CMOCKA_GROUP, text)
    unittest = total(UNITTEST_RAN, text)
    failed = max(cmocka - len(CMOCKA_GOOD.findall(text)), 0)
    failed += sum(total(pattern, text) for pattern in UNITTEST_BAD)
    return cmocka + unittest, failed


def count_test(record):
    """The Outcome of one line of meson's testlog.json."""
    text = (record.get("stdout") or "") + "\n" + (record.get("stderr") or "")
    cases, failed = count_cases(text)
    cases = max(cases, 1)
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
