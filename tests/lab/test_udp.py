"""UDP over links whose rate, loss and hosts in the middle are known."""
import re
import statistics
import tempfile
import unittest

from harness import orch, run_topology, topology_path, write_topology

ETHERNET = 14  # of each frame, as tbf counts it
HEADERS = ETHERNET + 20 + 8

CHAIN = """
orch: 1
name: {name}
lab: {{}}
hosts:
  pc1: {{}}
  router: {{{router}}}
  pc2: {{}}
links:
  - {{name: wan, a: "pc1:eth0", b: "router:eth0", {wan}}}
  - {{name: lan, a: "router:eth1", b: "pc2:eth0", {lan}}}
path: [pc1, router, pc2]
tests:
  - udp: {{{test}}}
"""


class Udp(unittest.TestCase):
    def run_chain(self, name, test, *arguments, wan="rate: 100Mbit", lan="rate: 100Mbit",
                  router=""):
        with tempfile.TemporaryDirectory(prefix="orch-test-") as folder:
            path = write_topology(folder, f"{name}.yaml", CHAIN.format(
                name=name, test=test, wan=wan, lan=lan, router=router))
            run = run_topology(path, *arguments)
        self.assertEqual(run.status, 0, run.errors)
        self.assertEqual([t["error"] for t in run.data["trials"] if not t["ok"]], [])
        for trial in run.data["trials"]:
            self.assertEqual(trial["path_proof"], "proved", trial["proof"])
            self.assertNotIn("cross_traffic", trial.get("flags", []), trial["proof"])
        return run

    def test_carries_a_voice(self):
        run = self.run_chain("udp-voice", "rate: 20Mbit, size: 1024, duration: 500ms",
                             "--trials", "5")
        for direction in ("forward", "reverse"):
            for segment in ("wan", "lan", "path"):
                trials = run.trials(direction=direction, segment=segment)
                rate = statistics.median(t["throughput_bps"] for t in trials)
                self.assertLess(abs(rate / 20e6 - 1), 0.01, f"{segment} {direction}: {rate}")
                self.assertEqual([t["loss_percent"] for t in trials], [0] * 5)
                for trial in trials:
                    self.assertEqual(trial["udp"]["size"], 1024)
                    self.assertEqual(trial["udp"]["burst"], 1)
        self.assertEqual([v["kind"] for v in run.data["verdicts"]], ["carried"] * 2)
        self.assertIn("loss %", run.output)

    def test_loss_as_the_link_counts_it(self):
        """The receiving end's own firewall counts what the link let through."""
        text = CHAIN.format(
            name="udp-loss", wan="rate: 100Mbit", lan="rate: 100Mbit, lab: {loss: 5%}",
            router="", test="rate: 20Mbit, size: 1024, duration: 4s, direction: forward")
        rules = ("table netdev udp_loss { chain passed { type filter hook ingress device eth0 "
                 "priority 10; meta l4proto udp counter; }; }")
        with tempfile.TemporaryDirectory(prefix="orch-test-") as folder:
            path = write_topology(folder, "udp-loss.yaml", text)
            self.assertEqual(orch("lab", "up", path).returncode, 0)
            try:
                done = orch("lab", "exec", path, "pc2", "nft", rules)
                self.assertEqual(done.returncode, 0, done.stderr)
                run = run_topology(path, "--trials", "1", "--segment", "lan")
                self.assertEqual(run.status, 0, run.errors)
                listed = orch("lab", "exec", path, "pc2", "nft", "list", "ruleset").stdout
            finally:
                orch("lab", "down", path)
        passed = int(re.search(r"counter packets (\d+)", listed).group(1))
        trial, = run.data["trials"]
        counted = 100 * (1 - passed / trial["udp"]["sent_packets"])
        self.assertLess(abs(counted - 5), 1)
        self.assertLess(abs(trial["loss_percent"] - counted), 1)
        self.assertEqual(trial["udp"]["socket_drops"], 0)

    def test_a_link_that_is_too_slow(self):
        run = self.run_chain("udp-slow", "rate: 20Mbit, size: 1024, duration: 1s",
                             "--trials", "5", lan="rate: 10Mbit")
        carried = 10e6 * 1024 / (1024 + HEADERS)
        for verdict in run.data["verdicts"]:
            self.assertEqual(verdict["kind"], "loss", verdict)
            # Into the slow link from its own host a socket waits instead of losing: only what
            # comes through the router is dropped in front of it.
            self.assertIn(verdict["segment"], ("lan", "path"))
        for trial in run.trials(segment="path", direction="forward"):
            self.assertLess(abs(trial["throughput_bps"] / carried - 1), 0.03)
            wanted = 100 * (1 - carried / 20e6)
            self.assertLess(abs(trial["loss_percent"] - wanted), 3)

    def test_search_finds_the_rate(self):
        run = self.run_chain("udp-search", "rate: search, duration: 2s", "--trials", "1",
                             wan="rate: 50Mbit")
        for segment, rate in (("wan", 50e6), ("lan", 100e6), ("path", 50e6)):
            for trial in run.trials(segment=segment):
                share = trial["throughput_bps"] / (rate * 1472 / (1472 + HEADERS))
                self.assertLess(abs(share - 1), 0.03, trial["probes"])
                self.assertLessEqual(trial["loss_percent"], 0.1)
                self.assertTrue(2 <= len(trial["probes"]) <= 16)
                self.assertTrue(any(p["passed"] for p in trial["probes"]))

    def test_through_a_router_that_hides(self):
        run = self.run_chain("udp-nat", "rate: 5Mbit, size: 500, duration: 1s", "--trials", "1",
                             router="lab: {nat: true}")
        for trial in run.trials(segment="path"):
            self.assertEqual(trial["loss_percent"], 0)
            self.assertLess(abs(trial["throughput_bps"] / 5e6 - 1), 0.02)
            self.assertEqual(trial["listener"], "pc1")
        self.assertEqual(len(run.trials(segment="path")), 2)

    def test_datagrams_beyond_the_mtu_fall_back(self):
        """A segment larger than the MTU is none that the kernel cuts: said in the run file."""
        run = self.run_chain("udp-large", "rate: 10Mbit, size: 4000, duration: 1s",
                             "--trials", "1", "--segment", "lan")
        for trial in run.data["trials"]:
            self.assertEqual(trial["connection"]["fallbacks"], ["gso"])
            self.assertEqual(trial["connection"]["send_method"], "sendmmsg")
            self.assertEqual(trial["loss_percent"], 0)

    def test_the_shipped_one(self):
        run = run_topology(topology_path("lab-udp.yaml"), "--trials", "1", "--segment", "path")
        self.assertEqual(run.status, 0, run.errors)
        for trial in run.trials(test="small"):
            # 64 bytes of payload in frames of 106.
            self.assertLess(trial["udp"]["packets_per_second"] * 106 * 8, 50e6 * 1.03)


if __name__ == "__main__":
    unittest.main(verbosity=2)
