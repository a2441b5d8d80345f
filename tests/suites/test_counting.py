"""What the log of a test says of its cases."""

import os
import sys
import tempfile
import time
import unittest

import job
from counting import count_log, count_test

CMOCKA_GOOD = (
    "[==========] Running 3 test(s).\n[ RUN      ] a\n[       OK ] a\n[       OK ] b\n"
    "[       OK ] c\n[==========] 3 test(s) run.\n[  PASSED  ] 3 test(s).\n"
)
CMOCKA_BAD = (
    "[==========] Running 3 test(s).\n[       OK ] a\n[  FAILED  ] b\n[       OK ] c\n"
    "[  PASSED  ] 2 test(s).\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] b\n"
)
CMOCKA_SKIPPED = (
    "[==========] Running 2 test(s).\n[       OK ] a\n[  SKIPPED ] b\n[  PASSED  ] 1 test(s).\n"
    "[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] b\n"
)
UNITTEST_GOOD = "....\nRan 4 tests in 0.010s\n\nOK\n"
UNITTEST_SKIPPED = "..s.\nRan 4 tests in 0.010s\n\nOK (skipped=1)\n"
UNITTEST_BAD = "F.E.\nRan 4 tests in 0.010s\n\nFAILED (failures=1, errors=1)\n"


def counts(result, stdout="", stderr=""):
    outcome = count_test({"name": "x", "result": result, "stdout": stdout, "stderr": stderr})
    return outcome.passed, outcome.failed


class Counting(unittest.TestCase):
    def test_a_silent_test_is_one_case(self):
        self.assertEqual(counts("OK"), (1, 0))
        self.assertEqual(counts("FAIL"), (0, 1))

    def test_cmocka_cases(self):
        self.assertEqual(counts("OK", stderr=CMOCKA_GOOD), (3, 0))
        self.assertEqual(counts("OK", CMOCKA_SKIPPED), (1, 1))
        self.assertEqual(counts("FAIL", CMOCKA_BAD), (2, 1))

    def test_two_groups_in_one_program(self):
        self.assertEqual(counts("FAIL", CMOCKA_GOOD + CMOCKA_BAD), (5, 1))

    def test_unittest_cases(self):
        self.assertEqual(counts("OK", UNITTEST_GOOD), (4, 0))
        self.assertEqual(counts("FAIL", UNITTEST_BAD), (2, 2))

    def test_skipped_is_failed(self):
        self.assertEqual(counts("OK", UNITTEST_SKIPPED), (3, 1))
        self.assertEqual(counts("SKIP"), (0, 1))

    def test_a_death_after_good_cases_is_failed(self):
        self.assertEqual(counts("FAIL", CMOCKA_GOOD), (2, 1))

    def test_cases_that_a_crash_kept_from_running_are_failed(self):
        begun = "[==========] Running 3 test(s).\n[       OK ] a\n[ RUN      ] b\n"
        self.assertEqual(counts("TIMEOUT", begun), (1, 2))

    def test_a_log_adds_up(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
            log.write('{"name": "a", "result": "OK", "stdout": ""}\n')
            log.write('{"name": "b", "result": "ERROR", "stdout": "boom"}\n')
            log.flush()
            outcome = count_log(log.name)
        self.assertEqual((outcome.passed, outcome.failed), (1, 1))
        self.assertIn("boom", outcome.details[0])


class Jobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.log = os.path.join(self.folder.name, "logs", "log")

    def test_status_and_log(self):
        argv = [sys.executable, "-c", "import sys; print('said'); sys.exit(3)"]
        self.assertEqual(job.run(argv, self.log, 30), 3)
        self.assertIn("said", job.explain(argv, self.log, 3, 30))

    def test_a_hang_is_ended_with_its_children(self):
        start = time.monotonic()
        status = job.run(["sh", "-c", "sleep 60 & echo $!; wait"], self.log, 0.5)
        self.assertIsNone(status)
        self.assertLess(time.monotonic() - start, 30)
        with open(self.log) as log:
            child = int(log.read())
        self.assertFalse(running(child))

    def test_no_such_program(self):
        self.assertEqual(job.run(["orch-no-such-program"], self.log, 1), 127)


def running(pid):
    """Dead, or dead and not collected yet, is not running."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    unittest.main()
