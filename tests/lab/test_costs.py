"""What measuring costs: time beyond the trials, time to start, memory of agents and of orch.

Release build only (meson leaves it out of sanitizer builds). Whole-process times are upper bounds:
they hold everything that orch does.
"""
import json
import os
import pathlib
import re
import statistics
import tempfile
import time
import unittest

from harness import agents, orch, start_run, topology_path, wait_for
from traffic import Lab

HOME = topology_path("lab-home.yaml")


def peak_kb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1))


class LabCosts(unittest.TestCase):
    def test_three_hosts_up(self):
        """Median of five."""
        times = []
        for _ in range(5):
            lab = Lab(HOME)
            self.addCleanup(lab.down)
            begun = time.monotonic()
            lab.up()
            times.append(time.monotonic() - begun)
            lab.down()
        print(f"three hosts up: {statistics.median(times):.3f} s", flush=True)
        self.assertLess(statistics.median(times), 0.5)


class Costs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = orch("lab", "up", HOME)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        orch("lab", "down", HOME)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="orch-test-")
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "run.json")

    def run_once(self, *arguments):
        begun = time.monotonic()
        done = orch("run", HOME, "-o", self.file, *arguments)
        wall = time.monotonic() - begun
        self.assertEqual(done.returncode, 0, done.stderr)
        # a failed trial is a short one
        trials = json.loads(pathlib.Path(self.file).read_text())["trials"]
        self.assertEqual([t["error"] for t in trials if not t["ok"]], [])
        return wall

    def test_start(self):
        """Three hosts reached, agents uploaded and ready, one short trial: median of five."""
        times = [self.run_once("--trials", "1", "--duration", "100ms", "--segment", "wan",
                               "--direction", "forward") - 0.1 for _ in range(5)]
        print(f"start, ready and one trial's overhead: {statistics.median(times):.3f} s "
              f"({min(times):.3f} to {max(times):.3f})", flush=True)
        self.assertLess(statistics.median(times), 0.5)

    def test_beyond_measuring(self):
        """All of a run's time beyond its trials, start included, divided by its trials."""
        wall = self.run_once("--trials", "5", "--duration", "500ms")
        beyond = (wall - 30 * 0.5) / 30
        print(f"beyond measuring: {beyond:.3f} s a trial", flush=True)
        self.assertLess(beyond, 0.15)

    def test_memory(self):
        """Peak memory of every agent and of orch while trials run."""
        run = start_run(HOME, "--trials", "4", "--duration", "300ms", "-o", self.file)
        self.addCleanup(lambda: (run.kill(), run.communicate()))
        part = pathlib.Path(self.file + ".part")
        wait_for(lambda: part.exists() and part.read_text().count("\n") >= 13, 60, "two rounds")
        peaks = [peak_kb(pid) for pid in agents("lab-home")]
        own = peak_kb(run.pid)
        print(f"agents' peak memory: {max(peaks)} kB; orch: {own} kB", flush=True)
        self.assertEqual(len(peaks), 3)
        self.assertLess(max(peaks), 2000)
        self.assertLess(own, 32000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
