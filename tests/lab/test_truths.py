"""The three lab truths: each topology has one bottleneck by construction, and orch must name it.

Five rounds of one-second trials, each topology twice (ten times with ORCH_LONG=1).
"""
import os
import pathlib
import re
import tempfile
import unittest

from harness import run_topology, topology_path, write_topology

TIMES = 10 if os.environ.get("ORCH_LONG") else int(os.environ.get("ORCH_TRUTH_TIMES", "2"))


class Truths(unittest.TestCase):
    def verdicts(self, name):
        # under a lab name of its own: other tests use the shipped labs at the same time
        text = pathlib.Path(topology_path(name)).read_text()
        text = re.sub(r"(?m)^name: lab-", "name: truth-", text)
        with tempfile.TemporaryDirectory(prefix="orch-test-") as folder:
            path = write_topology(folder, name, text)
            run = run_topology(path, "--trials", "5", "--duration", "1s")
        self.assertEqual(run.status, 0, run.errors)
        trials = run.data["trials"]
        self.assertEqual([t["error"] for t in trials if not t["ok"]], [])
        self.assertEqual({t["path_proof"] for t in trials}, {"proved"})
        verdicts = run.data["verdicts"]
        self.assertEqual({v["direction"] for v in verdicts}, {"forward", "reverse"})
        return run, verdicts

    def check_link(self, name, link):
        for time in range(TIMES):
            with self.subTest(time=time + 1):
                run, verdicts = self.verdicts(name)
                for verdict in verdicts:
                    text = run.output
                    self.assertEqual(verdict["kind"], "link", text)
                    self.assertEqual(verdict["segment"], link, text)
                    self.assertGreater(verdict["confidence"], 0.95, text)

    def test_wlan(self):
        self.check_link("lab-home.yaml", "wlan")

    def test_wan(self):
        self.check_link("lab-slow-wan.yaml", "wan")

    def test_forwarding(self):
        for time in range(TIMES):
            with self.subTest(time=time + 1):
                run, verdicts = self.verdicts("lab-forwarding.yaml")
                for verdict in verdicts:
                    self.assertEqual(verdict["kind"], "forwarding", run.output)
                    self.assertEqual(verdict["hosts"], ["router"], run.output)
                    # its queue's drops are what confirms it
                    self.assertEqual(verdict["grade"], "confirmed", run.output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
