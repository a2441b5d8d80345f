"""Round trips: of latency tests, and under load, where the queue must be found at the slow link."""
import tempfile
import unittest

from harness import run_topology, write_topology

TOPOLOGY = """
orch: 1
name: test-latency
lab: {{}}
hosts:
  pc1: {{}}
  router: {{}}
  pc2: {{}}
links:
  - {{name: near, a: "pc1:eth0", b: "router:eth0", rate: {near}}}
  - {{name: far, a: "router:eth1", b: "pc2:eth0", rate: {far}}}
path: [pc1, router, pc2]
tests:
{tests}
"""
GROWTH_US = 2000  # as in docs/verdicts.md


def loads(trial):
    return {load["segment"]: load for load in trial["latency_under_load"]}


def growth(load):
    return load["loaded"]["p50_us"] - load["idle"]["p50_us"]


class Latency(unittest.TestCase):
    def run_lab(self, tests, *arguments, near="100Mbit", far="20Mbit"):
        with tempfile.TemporaryDirectory(prefix="orch-test-") as folder:
            path = write_topology(folder, "latency.yaml", TOPOLOGY.format(
                near=near, far=far, tests="".join(f"  - {test}\n" for test in tests)))
            run = run_topology(path, *arguments)
        self.assertIsNotNone(run.data, run.errors)
        self.assertEqual([t["error"] for t in run.data["trials"] if not t["ok"]], [])
        return run

    def check_queue(self, slow, fast, **rates):
        """The slow link's round trips grow in both directions, and not the fast one's."""
        run = self.run_lab(["tcp: {duration: 700ms}"], "--trials", "6", **rates)
        self.assertEqual(run.status, 0, run.errors)
        for trial in run.trials(segment=slow) + run.trials(segment=fast):
            self.assertNotIn("latency_under_load", trial)
        for direction in ("forward", "reverse"):
            grew = {slow: 0, fast: 0}
            trials = run.trials(segment="path", direction=direction)
            self.assertEqual(len(trials), 6)
            for trial in trials:
                found = loads(trial)
                self.assertEqual(set(found), {slow, fast, "path"})
                for load in found.values():
                    self.assertGreaterEqual(load["idle"]["count"], 5)
                    self.assertGreaterEqual(load["loaded"]["count"], 20)
                # Through the same queue: end to end takes no less than the slow link.
                self.assertGreater(growth(found["path"]), growth(found[slow]) / 2)
                for link in grew:
                    grew[link] += growth(found[link]) >= GROWTH_US
            self.assertGreaterEqual(grew[slow], 5, f"{direction}: {grew}")
            self.assertLessEqual(grew[fast], 1, f"{direction}: {grew}")
        for verdict in run.data["verdicts"]:
            self.assertEqual((verdict["kind"], verdict["segment"]), ("link", slow), verdict)
            self.assertIn(f"the queue stands at {slow}", " ".join(verdict["reasons"]))
            self.assertEqual(verdict["grade"], "confirmed", verdict)
        self.assertIn("latency under load of the whole path, in ms", run.output)

    def test_queue_at_the_far_link(self):
        self.check_queue("far", "near")

    def test_queue_at_the_near_link(self):
        self.check_queue("near", "far", near="20Mbit", far="100Mbit")

    def test_switched_off(self):
        run = self.run_lab(["tcp: {duration: 300ms, probes: false}"], "--trials", "1",
                           "--direction", "forward")
        for trial in run.data["trials"]:
            self.assertNotIn("latency_under_load", trial)

    def test_segment_alone(self):
        """What the plan leaves out is not probed: no listener was settled there."""
        run = self.run_lab(["tcp: {duration: 500ms}"], "--trials", "1", "--segment", "path")
        self.assertEqual(len(run.data["trials"]), 2)
        for trial in run.data["trials"]:
            self.assertEqual(set(loads(trial)), {"path"})

    def test_transports(self):
        run = self.run_lab(
            ["latency: {name: ping, duration: 400ms}",
             "latency: {name: stream, transport: tcp, size: 200, duration: 400ms}",
             "latency: {name: syn, transport: connect, duration: 400ms, direction: forward}"],
            "--trials", "2")
        self.assertEqual(run.status, 0, run.errors)
        self.assertEqual(len(run.data["trials"]), 2 * 3 * (2 + 2 + 1))
        for trial in run.data["trials"]:
            latency = trial["latency"]
            self.assertGreater(latency["count"], 0)
            self.assertGreater(latency["rate_per_second"], 0)
            times = [latency[key] for key in ("min_us", "p50_us", "p90_us", "p99_us",
                                              "p999_us", "max_us")]
            self.assertEqual(times, sorted(times))
            self.assertNotIn("latency_under_load", trial)
            self.assertEqual(trial["path_proof"], "proved", trial["proof"])
            self.assertNotIn("flags", trial)
        rows = run.data["summary"]
        self.assertEqual({(row["metric"], row["unit"]) for row in rows}, {("latency", "us")})
        self.assertEqual([row["n"] for row in rows], [2] * 15)
        self.assertEqual(run.data["verdicts"], [])
        self.assertIn("syn by native, time to connect in ms", run.output)
        self.assertIn("connects/s", run.output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
