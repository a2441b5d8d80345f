"""What goes wrong in the field: each fault has an answer, and nothing is lost or left behind."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness import (agents, alive, namespaces, orch, orch_as_nobody, run_topology, start_run,
                     topology_path, uploads, wait_for, write_topology)

HOME = topology_path("lab-home.yaml")
PART_POLL = 60


def finished_trials(part):
    """Whole trial lines of a .part file (the first line is its header)."""
    if not os.path.exists(part):
        return 0
    return max(0, pathlib.Path(part).read_text().count("\n") - 1)


def in_host(lab, host, *command):
    return subprocess.run(["ip", "netns", "exec", f"orch-{lab}-{host}", *command],
                          capture_output=True, text=True)


def received_bytes(lab, host, interface):
    """0 while there is no such host."""
    return int(in_host(lab, host, "cat", f"/sys/class/net/{interface}/statistics/rx_bytes").stdout
               or 0)


def set_link(lab, host, interface, state):
    done = in_host(lab, host, "ip", "link", "set", interface, state)
    assert done.returncode == 0, done.stderr


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="orch-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.file = os.path.join(self.folder, "run.json")
        self.uploads_before = uploads()

    def start(self, *arguments, env=None):
        """A run of lab-home in the background that does not outlive its test."""
        run = start_run(HOME, *arguments, "-o", self.file, env=env)
        self.addCleanup(lambda: (run.kill(), run.communicate()))
        return run

    def wait_for_trials(self, count):
        """Waits for finished trials and returns the agents' pids."""
        wait_for(lambda: finished_trials(self.file + ".part") >= count, PART_POLL, "trials")
        pids = agents("lab-home")
        self.assertEqual(len(pids), 3)
        return pids

    def assert_nothing_left(self, pids):
        wait_for(lambda: not alive(pids), 5, "agents are gone")
        # what a test beside this one uploads is gone at once
        new = uploads() - self.uploads_before
        wait_for(lambda: not any(os.path.exists(file) for file in new), 5, "uploads are gone")

    def test_interrupt_keeps_what_is_finished(self):
        run = self.start("--trials", "50", "--duration", "0.3s")
        pids = self.wait_for_trials(3)
        run.send_signal(signal.SIGINT)
        output, errors = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 130, errors)
        data = json.loads(pathlib.Path(self.file).read_text())
        self.assertGreaterEqual(len(data["trials"]), 3)
        self.assertFalse(data["complete"])
        self.assertFalse(os.path.exists(self.file + ".part"))
        self.assertIn("wlan", output)
        self.assert_nothing_left(pids)
        self.assertEqual(namespaces("lab-home"), [])

    def test_interrupt_while_the_lab_is_built(self):
        known = pathlib.Path(__file__).with_name("interrupted.supp")
        run = self.start("--trials", "1", env={"LSAN_OPTIONS": f"suppressions={known}"})
        wait_for(lambda: namespaces("lab-home"), 10, "the first namespace")
        run.send_signal(signal.SIGINT)
        errors = run.communicate(timeout=20)[1]
        self.assertEqual(run.returncode, 130, errors)
        self.assertEqual(namespaces("lab-home"), [])
        self.assertEqual(os.listdir(self.folder), [])

    def test_link_dies_during_a_trial(self):
        """A stall at the end is a failed trial, not a low rate; the next trial is measured."""
        run = self.start("--trials", "2", "--duration", "2s", "--segment", "wlan",
                         "--direction", "forward")
        wait_for(lambda: received_bytes("lab-home", "pc2", "wlan0") > 200_000, PART_POLL,
                 "the first trial's bytes")
        set_link("lab-home", "router", "wlan0", "down")
        wait_for(lambda: finished_trials(self.file + ".part") == 1, 20, "the first trial's end")
        set_link("lab-home", "router", "wlan0", "up")
        output, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, errors + output)
        dead, alive_again = json.loads(pathlib.Path(self.file).read_text())["trials"]
        self.assertFalse(dead["ok"])
        self.assertIsNone(dead["throughput_bps"])
        self.assertRegex(dead["error"], r"pc2: .*no byte came in the last \d+ ms")
        self.assertTrue(alive_again["ok"], alive_again["error"])

    def test_bad_options_fail_their_own_trials(self):
        """Behind NAT there is one way to connect; what a test asks for must not read as a route."""
        text = pathlib.Path(HOME).read_text().replace(
            "  - tcp: {duration: 1s}\n", "  - tcp: {duration: 0.2s}\n"
            "  - tcp: {duration: 0.2s, name: odd, congestion: nonsense}\n")
        self.assertIn("nonsense", text)
        run = run_topology(write_topology(self.folder, "odd.yaml", text), "--trials", "1")
        self.assertEqual(run.status, 5, run.errors)
        self.assertTrue(all(t["ok"] for t in run.trials(test="tcp")), run.output)
        for trial in run.trials(test="odd"):
            self.assertFalse(trial["ok"])
            self.assertIn("congestion", trial["error"])

    def test_port_is_taken(self):
        text = pathlib.Path(HOME).read_text().replace("{duration: 1s}",
                                                      "{duration: 0.2s, ports: 5999}")
        path = write_topology(self.folder, "ports.yaml", text)
        self.assertEqual(orch("lab", "up", path).returncode, 0)
        self.addCleanup(orch, "lab", "down", path)
        owner = subprocess.Popen(["ip", "netns", "exec", "orch-lab-home-pc1", sys.executable, "-c",
                                  "import socket\ns = socket.create_server(('', 5999))\n"
                                  "print(flush=True)\ns.accept()"], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (owner.kill(), owner.communicate()))
        owner.stdout.readline()
        run = run_topology(path, "--trials", "1")
        # wan can listen on the router instead; the path cannot, as pc1 is behind its NAT.
        self.assertEqual(run.status, 5, run.errors)
        self.assertTrue(all(t["ok"] for t in run.trials(segment="wan")), run.output)
        for trial in run.trials(segment="path"):
            self.assertIn("in use", trial["error"])

    def test_disk_fills_during_the_run(self):
        full = os.path.join(self.folder, "full")
        os.mkdir(full)
        # The room asked for in advance and a few trials more.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80k", "none", full], check=True)
        self.addCleanup(subprocess.run, ["umount", full], check=True)
        file = os.path.join(full, "run.json")
        done = orch("run", HOME, "--trials", "20", "--duration", "0.2s", "-o", file)
        self.assertEqual(done.returncode, 4)
        self.assertIn("No space left", done.stderr)
        self.assertIn(f"{file}: cannot be written; the trials are in the .part file", done.stderr)
        self.assertEqual(os.listdir(full), ["run.json.part"])
        # What was measured is shown now, and can be shown again.
        self.assertIn("wlan", done.stdout)
        self.assertEqual(orch("report", file + ".part").stdout, done.stdout)

    def test_bare_environment(self):
        """As cron starts it: no PATH, and the first files get the numbers of closed streams."""
        done = subprocess.run(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', os.environ["ORCH"], "run",
                               HOME, "--trials", "1", "--duration", "0.2s", "-o", self.file],
                              env={}, timeout=60)
        # The table had nowhere to go.
        self.assertEqual(done.returncode, 4)
        self.assertEqual(len(json.loads(pathlib.Path(self.file).read_text())["trials"]), 6)
        self.assertEqual(os.listdir(self.folder), ["run.json"])

    def test_sigkill_leaves_nothing_and_is_reclaimed(self):
        run = self.start("--trials", "50", "--duration", "0.3s")
        pids = self.wait_for_trials(2)
        run.kill()
        run.communicate()
        self.assert_nothing_left(pids)
        # the .part is a run of its own, and the lab is reclaimed by the next run
        report = orch("report", self.file + ".part")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("wlan", report.stdout)
        again = run_topology(HOME, "--trials", "1", "--duration", "0.3s")
        self.assertEqual(again.status, 0, again.errors)
        self.assertEqual(namespaces("lab-home"), [])

    def test_agent_dies_during_a_trial(self):
        run = self.start("--trials", "4", "--duration", "0.5s")
        # a round and a bit: every series has a valid trial
        pids = self.wait_for_trials(7)
        names = {pid: pathlib.Path(f"/proc/{pid}/net/dev").read_text() for pid in pids}
        router = [pid for pid, devices in names.items() if "br-lan" in devices]
        self.assertEqual(len(router), 1)
        os.kill(router[0], signal.SIGKILL)
        output, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, errors + output)
        data = json.loads(pathlib.Path(self.file).read_text())
        failed = [t for t in data["trials"] if not t["ok"]]
        self.assertTrue(failed)
        for trial in failed:
            self.assertIn("router", trial["error"])
            self.assertIn(trial["segment"], ("wan", "wlan"))
        # the path does not end on the router: it is measured to the end
        path = [t for t in data["trials"] if t["segment"] == "path"]
        self.assertEqual(len(path), 8)
        self.assertTrue(all(t["ok"] for t in path), [t["error"] for t in path])
        # nor do its probes need it; those of the links are told as missing
        for load in path[-1]["latency_under_load"]:
            answered = load["segment"] == "path"
            self.assertEqual((load["idle"] is None, load["loaded"] is None),
                             (not answered, not answered), load)
        self.assert_nothing_left(pids)

    def test_read_only_folder(self):
        done = orch("run", HOME, "--trials", "1", "-o", "/proc/run.json")
        self.assertEqual(done.returncode, 4)
        self.assertIn("/proc/run.json", done.stderr)
        self.assertEqual(namespaces("lab-home"), [])

    def test_full_folder(self):
        full = os.path.join(self.folder, "full")
        os.mkdir(full)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", full], check=True)
        self.addCleanup(subprocess.run, ["umount", full], check=True)
        pathlib.Path(full, "filler").write_bytes(b"x" * 4096)
        done = orch("run", HOME, "--trials", "1", "-o", os.path.join(full, "run.json"))
        self.assertEqual(done.returncode, 4)
        self.assertIn("No space left", done.stderr)
        self.assertEqual(os.listdir(full), ["filler"])
        self.assertEqual(namespaces("lab-home"), [])

    def test_without_root(self):
        home = shutil.copy(HOME, self.folder)
        output = "/dev/shm/orch-test-noroot.json"
        done = orch_as_nobody(self.folder, "run", home, "--trials", "1", "-o", output)
        self.assertEqual(done.returncode, 4)
        self.assertIn("root", done.stderr)
        self.assertFalse(os.path.exists(output))

    def test_hosts_out_of_reach(self):
        text = """orch: 1
name: unreachable
hosts:
  a: {ssh: {host: 127.0.0.1, port: 1}}
  b: {ssh: no-such-host.invalid}
links:
  - {name: wire, a: "a:eth0", b: "b:eth0"}
"""
        path = write_topology(self.folder, "unreachable.yaml", text)
        begun = time.monotonic()
        done = orch("run", path, "-o", self.file)
        self.assertLess(time.monotonic() - begun, 20)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^orch: a: .*refused")
        self.assertRegex(done.stderr, r"(?m)^orch: b: .*no-such-host\.invalid")
        self.assertFalse(os.path.exists(self.file))
        self.assertFalse(os.path.exists(self.file + ".part"))


class OtherTopology(unittest.TestCase):
    """A lab is kept, and another topology with plain exec transports says something wrong of it."""

    LAB = """orch: 1
name: other
lab: {}
hosts:
  pc1: {}
  router: {lab: {bridge: [lan1, wlan0]}}
  pc2: {}
links:
  - {name: lan, a: "pc1:eth0", b: "router:lan1"}
  - {name: wlan, a: "router:wlan0", b: "pc2:wlan0", lab: {rate: 20Mbit}}
path: [pc1, router, pc2]
tests:
  - tcp: {duration: 0.5s}
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="orch-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.lab = write_topology(folder.name, "lab.yaml", self.LAB)
        done = orch("lab", "up", self.lab)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(orch, "lab", "down", self.lab)

    def namespace(self, host):
        name = f"orch-other-{host}"
        self.assertIn(name, namespaces("other"))
        return name

    def topology(self, links):
        hosts = "\n".join(f"  {h}: {{exec: [ip, netns, exec, {self.namespace(h)}]}}"
                          for h in ("router", "pc2"))
        return write_topology(self.folder, "claims.yaml", f"""orch: 1
name: claims
hosts:
{hosts}
links:
{links}
tests:
  - tcp: {{duration: 0.5s}}
""")

    def test_bridge_member(self):
        run = run_topology(self.topology('  - {name: wlan, a: "router:wlan0", b: "pc2:wlan0"}'),
                           "--trials", "1")
        self.assertEqual(run.status, 0, run.errors)
        self.assertEqual({t["path_proof"] for t in run.data["trials"]}, {"proved"})

    def test_contradicted(self):
        """The file says lan1; the peer sits behind wlan0, whose counters show it."""
        run = run_topology(self.topology('  - {name: wlan, a: "router:lan1", b: "pc2:wlan0"}'),
                           "--trials", "1")
        self.assertEqual(run.status, 5, run.output + run.errors)
        for trial in run.data["trials"]:
            self.assertFalse(trial["ok"])
            self.assertEqual(trial["path_proof"], "contradicted")
            self.assertIn("router:wlan0", trial["error"])

    def test_no_such_interface(self):
        run = run_topology(self.topology('  - {name: wlan, a: "router:wlan9", b: "pc2:wlan0"}'),
                           "--trials", "1")
        self.assertEqual(run.status, 4, run.output)
        self.assertRegex(run.errors, r'claims\.yaml:7:\d+: .*router.*no interface "wlan9"')
        self.assertIn('did you mean "wlan0"', run.errors)
        self.assertIsNone(run.data)


if __name__ == "__main__":
    unittest.main(verbosity=2)
