"""What the bench of the engines reads, and what it makes of it; the tools themselves stay out."""
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))

from engine_bench import machine, peers, processes, results  # noqa: E402

NETSTAT = """TcpExt: SyncookiesSent TCPSACKReorder TCPDSACKRecv
TcpExt: 1 20 300
IpExt: InNoRoutes
IpExt: 7
Tcp: RtoAlgorithm MaxConn RetransSegs
Tcp: 1 -1 4000
"""

# Port 7001 = 1B59 listens; 7002 = 1B5A is connected.
TCP_TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 0100007F:1B59 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0
   1: 0100007F:1B5A 0100007F:1B59 01 00000000:00000000 00:00000000 00000000     0
"""


def trial(rate, cpu=1.0, other=0.0):
    return {"ok": True, "error": None, "rate_bps": rate, "bytes": rate / 8, "cpu_seconds": cpu,
            "other_cpu_seconds": other, "counters": {}}


def row(tool, *trials, place="loopback", role="local", comparable=True, test="tcp"):
    return results.Row(place, role, test, "one", tool, list(trials), "", comparable)


class Reading(unittest.TestCase):
    def test_protocol_counters_come_from_pairs_of_lines(self):
        self.assertEqual(machine.protocol_counters(NETSTAT),
                         {"TCPSACKReorder": 20, "TCPDSACKRecv": 300, "RetransSegs": 4000})

    def test_busy_time_leaves_out_idle_waiting_and_stolen_time(self):
        ticks = machine.TICKS
        before = machine.cpu_times("cpu  0 0 0 0 0 0 0 0 0 0\n")
        after = machine.cpu_times(
            "cpu  " + " ".join(str(ticks * n) for n in (1, 2, 4, 8, 16, 32, 64, 128)) + " 0 0\n")
        self.assertEqual(machine.busy_seconds(before, after), 1 + 2 + 4 + 32 + 64)

    def test_only_a_listening_port_counts(self):
        self.assertTrue(processes.is_bound(TCP_TABLE, 7001, processes.LISTENING))
        self.assertFalse(processes.is_bound(TCP_TABLE, 7002, processes.LISTENING))
        self.assertFalse(processes.is_bound("", 7001, processes.LISTENING))

    def test_json_of_iperf3_may_have_text_around_it(self):
        self.assertEqual(peers.read_json('warning\n{"end": {"a": 1}}\niperf Done.\n'),
                         {"end": {"a": 1}})

    def test_an_error_of_iperf3_is_one_although_its_status_is_0(self):
        for text in ('{"end": {}, "error": "unable to connect"}', '{"end": ', "", "refused"):
            with self.subTest(text), self.assertRaises(processes.Failure):
                peers.read_json(text)


class Commands(unittest.TestCase):
    def test_a_command_ends_at_its_deadline(self):
        process = processes.Process(["sleep", "60"])
        with self.assertRaises(processes.Failure):
            process.finish(time.monotonic() + .05)
        process.end()
        self.assertLess(process.child.returncode, 0)
        self.assertNotIn(process, processes.Process.alive)

    def test_what_a_failing_command_said_is_kept(self):
        with self.assertRaisesRegex(processes.Failure, "no such luck"):
            processes.run(["sh", "-c", "echo no such luck; exit 3"])


class Ratios(unittest.TestCase):
    def verdict(self, rows, forwarded=None):
        (key, group), = results.groups_of(rows)
        return results.verdicts_of(key, group, forwarded)

    def test_the_best_peer_counts_and_only_among_those_that_compare(self):
        verdict, = self.verdict([row("native", trial(26e9), trial(1e9), trial(90e9)),
                                 row("iperf2", trial(10e9)), row("netperf", trial(20e9)),
                                 row("nuttcp", trial(99e9), comparable=False)])
        self.assertEqual(verdict["beside"], "netperf")
        self.assertAlmostEqual(verdict["ratio"], 1.3)
        self.assertTrue(verdict["holds"])

    def test_a_loss_is_one(self):
        verdict, = self.verdict([row("native", trial(25.9e9)), row("iperf2", trial(20e9))])
        self.assertFalse(verdict["holds"])

    def test_without_a_native_trial_nothing_holds(self):
        failed = {"ok": False, "error": "x"}
        for rows in ([row("native", failed), row("iperf2", trial(1e9))],
                     [row("native", trial(1e9)), row("iperf2", failed)]):
            verdict, = self.verdict(rows)
            self.assertIsNone(verdict["ratio"])
            self.assertFalse(verdict["holds"])

    def test_foreign_processes_do_not_make_a_tool_costly(self):
        self.assertEqual(results.efficiency(trial(8e9, cpu=2.0, other=1.0)), 8e9)

    def test_iperf3_is_taken_at_its_better_flags(self):
        verdicts = self.verdict([
            row("native", trial(30e9), place="routed", role="path"),
            row("iperf3", trial(10e9), place="routed", role="path"),
            row("iperf3 -Z", trial(20e9), place="routed", role="path"),
            row("iperf2", trial(40e9), place="routed", role="path")])
        self.assertEqual([(v["beside"], v["ratio"], v["holds"]) for v in verdicts],
                         [("iperf2", .75, False), ("iperf3 -Z", 1.5, True)])

    def test_the_share_is_of_what_the_router_forwards_best(self):
        rows = [row("native", trial(5e9), place="router", role="path"),
                row("iperf2", trial(10e9), place="router", role="path"),
                row("native", trial(8.5e9), place="router", role="to")]
        forwarded = results.forwarded_rate(rows, "router", "tcp", "one")
        verdict, = self.verdict(rows[2:], forwarded)
        self.assertAlmostEqual(verdict["ratio"], .85)
        self.assertTrue(verdict["holds"])


if __name__ == "__main__":
    unittest.main()
