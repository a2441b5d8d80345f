"""A shaped link's goodput is its rate less the headers: what shows that orch counts right."""
import statistics
import tempfile
import unittest

from harness import run_topology, write_topology

HEADERS = 14 + 20 + 32  # Ethernet as tbf counts it, IPv4, TCP with timestamps
TOLERANCE = 0.03

ONE_LINK = """
orch: 1
name: shaped
lab: {{}}
hosts:
  pc1: {{}}
  pc2: {{}}
links:
  - {{name: only, a: "pc1:eth0", b: "pc2:eth0", rate: {rate}{more}}}
path: [pc1, pc2]
tests:
  - tcp: {{duration: 1s, congestion: {congestion}}}
"""


class Shaping(unittest.TestCase):
    def check(self, rate, more, wanted, mtu=1500, congestion="cubic"):
        with tempfile.TemporaryDirectory(prefix="orch-test-") as folder:
            path = write_topology(folder, "shaped.yaml", ONE_LINK.format(
                rate=rate, more=more, congestion=congestion))
            run = run_topology(path, "--trials", "3")
        self.assertEqual(run.status, 0, run.errors)
        self.assertEqual([t["error"] for t in run.data["trials"] if not t["ok"]], [])
        share = (mtu - 52) / (mtu - 52 + HEADERS)
        for direction, nominal in wanted.items():
            rates = [t["throughput_bps"] for t in run.trials(direction=direction)]
            self.assertEqual(len(rates), 3)
            read = statistics.median(rates) / (nominal * share)
            self.assertLess(abs(read - 1), TOLERANCE, f"{direction}: {rates}")
            for trial in run.trials(direction=direction):
                self.assertEqual(trial["path_proof"], "proved", trial["proof"])

    def test_both_directions(self):
        for rate in (10, 100):
            with self.subTest(rate=rate):
                self.check(f"{rate}Mbit", "", {"forward": rate * 1e6, "reverse": rate * 1e6})

    def test_reno(self):
        self.check("100Mbit", "", {"forward": 100e6, "reverse": 100e6}, congestion="reno")

    def test_rates_differ_by_direction(self):
        self.check("50Mbit", ", lab: {rate_reverse: 20Mbit}", {"forward": 50e6, "reverse": 20e6})

    def test_small_mtu(self):
        self.check("50Mbit", ", lab: {mtu: 1000}", {"forward": 50e6, "reverse": 50e6}, mtu=1000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
