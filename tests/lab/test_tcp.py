"""What the native TCP engine is asked for is what the path and the kernels show."""
import tempfile
import unittest

from harness import orch, run_topology, write_topology

HEADERS = 14 + 20 + 32  # Ethernet as tbf counts it, IPv4, TCP with timestamps
SHARE = 1448 / (1448 + HEADERS)
# Acknowledgements of the other direction's data take room: at most one for two segments.
ACKNOWLEDGED = HEADERS / (2 * (1448 + HEADERS))
TOLERANCE = 0.05

ONE_LINK = """
orch: 1
name: {name}
lab: {{}}
hosts:
  pc1: {{}}
  pc2: {{}}
links:
  - {{name: only, a: "pc1:eth0", b: "pc2:eth0"{link}}}
path: [pc1, pc2]
trials: 1
tests:
{tests}
"""


class Tcp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="test-tcp-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def topology(self, name, tests, link=""):
        lines = "".join(f"  - tcp: {{{test}}}\n" for test in tests)
        return write_topology(self.folder, f"{name}.yaml",
                              ONE_LINK.format(name=name, tests=lines, link=link))

    def run_tests(self, name, tests, link=""):
        run = run_topology(self.topology(name, tests, link))
        self.assertEqual(run.status, 0, run.errors)
        self.assertEqual([t["error"] for t in run.data["trials"] if not t["ok"]], [])
        return run

    def test_both_directions_at_once(self):
        forward, reverse = 40e6, 20e6
        run = self.run_tests(
            "test-tcp-bidir", ["duration: 5s, omit: 2s, congestion: reno, direction: bidir"],
            ", lab: {rate_forward: 40Mbit, rate_reverse: 20Mbit}")
        (trial,) = run.trials(direction="bidir")
        # Each way carries its data and the other way's acknowledgements.
        for key, own, other in (("forward_bps", forward, reverse),
                                ("reverse_bps", reverse, forward)):
            most = own * SHARE
            self.assertGreater(trial[key], (most - other * ACKNOWLEDGED) * (1 - TOLERANCE), key)
            self.assertLess(trial[key], most * (1 + TOLERANCE), key)
        self.assertEqual(trial["throughput_bps"], trial["forward_bps"] + trial["reverse_bps"])
        self.assertEqual(trial["path_proof"], "proved", trial["proof"])
        self.assertNotIn("flags", trial)
        for interface in ("pc1:eth0 sent", "pc1:eth0 received", "pc2:eth0 sent",
                          "pc2:eth0 received"):
            self.assertIn(interface, trial["proof"])
        for way in ("forward", "reverse"):
            self.assertEqual(trial["ways"][way]["connection"]["congestion"], "reno")
            inside = [i["bytes"] for i in trial["intervals"]
                      if i["direction"] == way and not i.get("omitted")]
            self.assertEqual(sum(inside), trial["ways"][way]["bytes"])
        (row,) = run.data["summary"]
        self.assertEqual((row["direction"], row["metric"]), ("bidir", "throughput"))
        self.assertRegex(run.output, r"only +pc1 <> pc2")

    def test_byte_counts(self):
        run = self.run_tests("test-tcp-bytes", [
            "bytes: 3000001, streams: 2", "name: at-once, bytes: 2000003, direction: bidir"])
        for trial in run.trials(test="tcp"):
            self.assertEqual(trial["bytes"], 3000001)
            self.assertEqual(trial["total_bytes_sent"], 3000001)
            self.assertEqual(trial["path_proof"], "proved", trial["proof"])
        (trial,) = run.trials(test="at-once")
        for way in ("forward", "reverse"):
            self.assertEqual(trial["ways"][way]["bytes"], 2000003)

    def test_options_take_effect(self):
        run = self.run_tests("test-tcp-options", [
            "duration: 500ms, window: 200000, mss: 1000, nodelay: true, streams: 4, dscp: 46, "
            "congestion: reno, pacing: 40Mbit, direction: forward"])
        (trial,) = run.data["trials"]
        connection = trial["connection"]
        # Linux grants twice what it is asked for: its own overhead's share.
        self.assertEqual(connection["send_buffer"], 400000)
        self.assertEqual(connection["receive_buffer"], 400000)
        self.assertEqual(connection["mss"], 1000 - 12)  # timestamps
        self.assertEqual(connection["congestion"], "reno")
        self.assertEqual(connection["dscp"], 46)
        self.assertEqual(connection["pacing_bps"], 40e6)
        self.assertTrue(connection["nodelay"])
        self.assertEqual(connection["send_method"], "splice")
        self.assertEqual(connection["receive_method"], "recv_trunc")
        self.assertNotIn("fallbacks", connection)
        # The kernel paces what leaves, headers included.
        self.assertLess(trial["throughput_bps"], 40e6 * 1.05)
        self.assertGreater(trial["throughput_bps"], 40e6 * 0.85)
        # Paced far below the link's rate, it is the receiver's window that limits nothing.
        for share in ("busy_share", "rwnd_limited_share", "sndbuf_limited_share"):
            self.assertGreaterEqual(trial["limits"][share], 0)
            self.assertLessEqual(trial["limits"][share], 1.1)

    def test_dscp_on_the_wire(self):
        path = self.topology("test-tcp-dscp",
                             ["duration: 300ms, dscp: 46, pacing: 10Mbit, direction: forward"])
        up = orch("lab", "up", path)
        self.assertEqual(up.returncode, 0, up.stderr)
        self.addCleanup(orch, "lab", "down", path)
        rules = ("add table ip seen; add chain ip seen in "
                 "{ type filter hook input priority 0; };"
                 "add rule ip seen in iif eth0 ip dscp ef counter")
        self.assertEqual(orch("lab", "exec", path, "pc2", "--", "nft", rules).returncode, 0)
        run = run_topology(path)
        self.assertEqual(run.status, 0, run.errors)
        (trial,) = run.data["trials"]
        shown = orch("lab", "exec", path, "pc2", "--", "nft", "list table ip seen").stdout
        counted = int(shown.split("bytes")[1].split()[0])
        self.assertGreaterEqual(counted, trial["total_bytes_received"])

    def test_unknown_congestion_control(self):
        path = self.topology("test-tcp-nonsense",
                             ["duration: 300ms, congestion: nonsense, direction: forward"])
        run = run_topology(path)
        self.assertEqual(run.status, 5)
        (trial,) = run.data["trials"]
        self.assertFalse(trial["ok"])
        with open("/proc/sys/net/ipv4/tcp_available_congestion_control",
                  encoding="utf-8") as names:
            reno = "reno" if "reno" in names.read() else ""
        self.assertIn('congestion control "nonsense" is not there; this host offers ',
                      trial["error"])
        self.assertIn(reno, trial["error"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
