"""The emulated router as a host of orch: an own kernel, an own CPU, dropbear without sftp."""
import contextlib
import io
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import unittest

import command
import image
import kernel
import machine
import network
import processes
import state
from failure import Failure
from harness import orch, run_topology, uploads, wait_for

VM = str(pathlib.Path(__file__).resolve().parent / "vm")
LABEL = "vmtest"
FIRMWARE = "orch-vm (A) 7.1"
ROUNDS = 2
FRAME_SHARE = 1448 / 1514  # TCP payload of a full Ethernet frame, timestamps on

SHAPE = """
/sbin/tc qdisc replace dev eth1 root tbf rate 20mbit burst 16k latency 100ms
/sbin/tc qdisc replace dev eth0 root netem delay 30ms
"""
UNSHAPE = "for port in eth0 eth1; do /sbin/tc qdisc del dev $port root; done"

QDISCS = ("netem delay 1ms", "tbf rate 10mbit burst 16k latency 50ms", "fq_codel", "cake",
          "htb default 10", "fq", "prio")
RULES = """nft -f - <<END
table inet t {
  chain f {
    type filter hook forward priority 0
    ct state established counter
    limit rate 100 kbytes/second meta priority set 1:20
  }
  chain p {
    type nat hook postrouting priority 100
    oifname eth0 masquerade
  }
}
END
nft list ruleset && nft delete table inet t
"""


def vm(*words, **options):
    return subprocess.run([VM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=180, **options)


def on(host, *words):
    done = vm("exec", "--name", LABEL, host, "--", *words)
    if done.returncode != 0:
        raise AssertionError(f"{host}: {words}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def offloads(features):
    """Whether a port takes and gives large TCP segments (VIRTIO_NET_F_GUEST_TSO4 and
    VIRTIO_NET_F_HOST_TSO4, bits 7 and 11 of the features agreed upon)."""
    return features[7] + features[11]


def surroundings():
    """Everything that could show that an emulated router was there."""
    taps = pathlib.Path("/sys/class/net").glob("*/tun_flags")
    return {"namespaces": [name for name in network.space_names(LABEL) if network.exists(name)],
            "taps outside": sorted(tap.parent.name for tap in taps),
            "machines": machine.pids(state.State(LABEL)),
            "state": state.State(LABEL).folder.exists()}


def up(*words):
    """Brings it up for this process; returns what it printed."""
    done = vm("up", "--name", LABEL, "--owner", str(os.getpid()), *words)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    print(done.stdout.splitlines()[0], file=sys.stderr)
    return done.stdout


class Home(unittest.TestCase):
    """One router, booted once."""

    @classmethod
    def setUpClass(cls):
        cls.before = surroundings()
        cls.addClassCleanup(vm, "down", "--name", LABEL)
        cls.topology = up("--firmware", FIRMWARE).splitlines()[1]
        cls.uploads = uploads()
        cls.run_file = run_topology(cls.topology, "--trials", str(ROUNDS), "--duration", "1s")

    @classmethod
    def tearDownClass(cls):
        done = vm("down", "--name", LABEL)
        assert done.returncode == 0, done.stderr
        after = surroundings()
        assert after == cls.before, f"left behind: {after}, before: {cls.before}"

    def test_every_trial_is_whole_and_proved(self):
        self.assertEqual(self.run_file.status, 0, self.run_file.errors)
        trials = self.run_file.data["trials"]
        self.assertEqual(len(trials), ROUNDS * 3 * 2)
        self.assertEqual([t["error"] for t in trials if not t["ok"]], [])
        self.assertEqual({t["path_proof"] for t in trials}, {"proved"})

    def test_router_is_a_machine_of_its_own(self):
        hosts = self.run_file.data["hosts"]
        self.assertEqual(hosts["router"]["firmware"], FIRMWARE)
        self.assertEqual(hosts["router"]["cpus"], 1)
        self.assertEqual(hosts["router"]["kernel"], on("router", "uname", "-r").strip())
        self.assertNotEqual(hosts["router"]["kernel"], os.uname().release)
        self.assertEqual(hosts["router"]["boot_id"],
                         on("router", "cat", "/proc/sys/kernel/random/boot_id").strip())
        self.assertEqual(hosts["pc1"]["boot_id"], hosts["pc2"]["boot_id"])
        self.assertNotEqual(hosts["pc1"]["boot_id"], hosts["router"]["boot_id"])
        self.assertIn("pc1 and pc2 share one machine", self.run_file.output)

    def test_router_has_its_own_cpu_in_evidence(self):
        for trial in self.run_file.data["trials"]:
            hosts = trial["hosts"]
            self.assertEqual(len(hosts["router"]["cores"]), 1)
            self.assertEqual(len(hosts["pc1"]["cores"]), os.cpu_count())
            core = hosts["router"]["cores"][0]
            parts = sum(core[part] for part in ("user", "system", "irq", "softirq", "steal"))
            self.assertAlmostEqual(core["busy"], parts, places=6)
        # forwarding happens in soft interrupts
        forwarded = self.run_file.trials(segment="path")
        for trial in forwarded:
            self.assertGreater(trial["hosts"]["router"]["protocol"]["ForwDatagrams"], 100)
        cores = [trial["hosts"]["router"]["cores"][0] for trial in forwarded]
        self.assertGreater(sum(core["softirq"] for core in cores), 0)
        # an end of a test works for its sockets, too
        ends = [trial["hosts"]["router"]["cores"][0] for segment in ("wan", "lan")
                for trial in self.run_file.trials(segment=segment)]
        self.assertGreater(statistics.median(core["system"] for core in ends), 0.02)

    def test_figures(self):
        # What ends on the router beside what it forwards; the bench judges, this only shows.
        def median(towards):
            rates = [trial["throughput_bps"] for trial in self.run_file.data["trials"]
                     if towards(trial)]
            self.assertGreater(min(rates), 1e6)
            return statistics.median(rates)
        to = median(lambda t: t["receiver"] == "router")
        source = median(lambda t: t["sender"] == "router")
        forwarded = median(lambda t: t["segment"] == "path")
        print(f"towards the router {to / 1e6:.0f}, from it {source / 1e6:.0f}, forwarded "
              f"{forwarded / 1e6:.0f} Mbit/s: {to / forwarded:.2f} and {source / forwarded:.2f} "
              "of it", file=sys.stderr)

    def test_uploaded_without_sftp_and_gone(self):
        self.assertEqual(on("router", "sh", "-c", "find / -xdev -name '*sftp*' | head"), "")
        self.assertEqual(on("router", "find", "/", "-xdev", "-name", ".orch-agent*"), "")
        self.assertNotIn("orch-agent", on("router", "ps"))
        self.assertEqual(uploads(), self.uploads)

    def test_strict_host_key(self):
        known = state.State(LABEL).known_hosts
        right = known.read_text()
        self.addCleanup(known.write_text, right)
        with tempfile.TemporaryDirectory(prefix="orch-test-") as folder:
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/key"],
                           check=True)
            other = pathlib.Path(folder, "key.pub").read_text().split()[:2]
        known.write_text(f"{right.split()[0]} {' '.join(other)}\n")
        run = run_topology(self.topology, "--trials", "1", "--duration", "1s")
        self.assertEqual(run.status, 5)
        self.assertIn("router", run.errors)
        self.assertRegex(run.errors, "host key")

    def test_modules(self):
        script = "".join(f"/sbin/tc qdisc add dev eth1 root {qdisc}; /sbin/tc qdisc show dev eth1; "
                         "/sbin/tc qdisc del dev eth1 root\n" for qdisc in QDISCS)
        shown = on("router", "sh", "-ec", script + RULES)
        for qdisc in QDISCS:
            self.assertRegex(shown, rf"qdisc {qdisc.split()[0]} \w+: root")
        for part in ("meta priority set 1:20", "masquerade", "ct state established"):
            self.assertIn(part, shown)

    def test_shaping_is_measured(self):
        on("router", "sh", "-ec", SHAPE)
        self.addCleanup(on, "router", "sh", "-ec", UNSHAPE)
        run = run_topology(self.topology, "--trials", "3", "--duration", "2s", "--segment", "path",
                           "--direction", "forward")
        self.assertEqual(run.status, 0, run.errors)
        trials = run.trials(ok=True)
        self.assertEqual(len(trials), 3)
        shares = [trial["throughput_bps"] / (20e6 * FRAME_SHARE) for trial in trials]
        # Nothing makes a trial read more than the shaper lets through; an emulated CPU that waits
        # for a real one makes it read less: the best round is the one that shows the shaper.
        self.assertLess(max(shares), 1.02, shares)
        self.assertGreater(max(shares), 0.95, shares)
        for trial in trials:
            self.assertGreater(trial["min_rtt_us"], 30e3)
        self.assertLess(min(trial["min_rtt_us"] for trial in trials), 60e3)

    def test_offloads_are_on(self):
        self.assertEqual(offloads(on("router", "cat", "/sys/class/net/eth0/device/features")), "11")

    def test_second_up_is_refused(self):
        done = vm("up", "--name", LABEL)
        self.assertEqual(done.returncode, 4)
        self.assertIn(f"is up already for process {os.getpid()}", done.stderr)
        done = vm("status", "--name", LABEL)
        self.assertEqual((done.returncode, "firmware " + FIRMWARE in done.stdout), (0, True))


class Life(unittest.TestCase):
    def setUp(self):
        self.before = surroundings()
        self.addCleanup(vm, "down", "--name", LABEL)

    def kill_when(self, reached):
        """Starts an `up` and kills it as soon as reached(surroundings) is true."""
        builder = subprocess.Popen([VM, "up", "--name", LABEL], stdout=subprocess.DEVNULL)
        wait_for(lambda: reached(surroundings()), 60, "what the up is killed at")
        builder.kill()
        self.assertEqual(builder.wait(), -signal.SIGKILL)

    def test_killed_up_is_reclaimed(self):
        self.kill_when(lambda now: now["machines"])
        done = vm("status", "--name", LABEL)
        self.assertEqual(done.returncode, 1)
        self.assertIn("left over", done.stdout)
        first, = surroundings()["machines"]
        with tempfile.NamedTemporaryFile("w", suffix=".rc") as rc:
            rc.write("echo slower >/etc/build\n/sbin/tc qdisc add dev eth1 root netem delay 5ms\n")
            rc.flush()
            owner = subprocess.Popen(["sleep", "60"])
            self.addCleanup(owner.wait)
            self.addCleanup(owner.kill)
            done = vm("up", "--name", LABEL, "--firmware", "orch-vm (B) 7.2", "--rc", rc.name,
                      "--owner", str(owner.pid), "--program", "getconf", "--offloads", "off")
        self.assertEqual(done.returncode, 0, done.stderr)
        print(done.stdout.splitlines()[0], file=sys.stderr)
        self.assertIsNone(processes.start_time(first))
        shown = on("router", "sh", "-ec", "cat /etc/os-release /etc/build; getconf PAGESIZE; "
                   "/sbin/tc qdisc show dev eth1; cat /sys/class/net/eth0/device/features")
        for part in ('PRETTY_NAME="orch-vm (B) 7.2"', "\nslower\n4096\n", "qdisc netem"):
            self.assertIn(part, shown)
        self.assertEqual(offloads(shown.splitlines()[-1]), "00")
        self.assertEqual(vm("status", "--name", LABEL).returncode, 0)
        owner.kill()
        owner.wait()
        self.assertEqual(vm("status", "--name", LABEL).returncode, 1)
        self.assertEqual(vm("down", "--name", LABEL).returncode, 0)
        self.assertEqual(surroundings(), self.before)

    def test_killed_up_is_taken_down(self):
        for number, reached in enumerate((lambda now: now["state"],
                                          lambda now: now["namespaces"],
                                          lambda now: len(now["namespaces"]) == 2,
                                          lambda now: now["machines"])):
            with self.subTest(stage=number):
                self.kill_when(reached)
                self.assertEqual(vm("down", "--name", LABEL).returncode, 0)
                self.assertEqual(surroundings(), self.before)
        self.assertEqual(vm("down", "--name", LABEL).returncode, 0)  # once more is no error
        self.assertEqual(vm("status", "--name", LABEL).returncode, 1)

    def test_wait_is_bounded(self):
        done = vm("up", "--name", LABEL, "--boot-seconds", "0.3")
        self.assertEqual(done.returncode, 4)
        self.assertIn("did not answer within 0.3 s", done.stderr)
        self.assertEqual(surroundings(), self.before)

    def test_program_that_is_missing(self):
        done = vm("up", "--name", LABEL, "--program", "no-such-program")
        self.assertEqual(done.returncode, 4)
        self.assertIn("'no-such-program' is missing", done.stderr)
        self.assertEqual(surroundings(), self.before)

    def test_interrupted_up_cleans_up(self):
        builder = subprocess.Popen([VM, "up", "--name", LABEL], stdout=subprocess.DEVNULL)
        wait_for(lambda: surroundings()["machines"], 60, "qemu runs")
        builder.terminate()
        self.assertEqual(builder.wait(timeout=30), 128 + signal.SIGTERM)
        self.assertEqual(surroundings(), self.before)

    def test_namespace_of_another_is_left_alone(self):
        space = network.space_names(LABEL)[1]
        subprocess.run(["ip", "netns", "add", space], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", space])
        done = vm("up", "--name", LABEL)
        self.assertEqual(done.returncode, 4)
        self.assertIn(space, done.stderr)
        self.assertTrue(network.exists(space))


class BadInput(unittest.TestCase):
    def refused(self, *words, status, **options):
        done = vm(*words, **options)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr

    def test_arguments(self):
        for words in (["up", "--firmware", 'a"b'], ["up", "--name", "a/b"], ["up", "--name", ""],
                      ["up", "--boot-seconds", "0"], ["up", "--boot-seconds", "soon"], ["exec"],
                      ["exec", "pc3", "true"], ["exec", "router"], ["sideways"], [],
                      ["up", "--rc", "/nowhere"], ["up", "--owner", "me"],
                      ["up", "--program", "../sh"], ["up", "--offloads", "half"]):
            with self.subTest(words=words), contextlib.redirect_stderr(io.StringIO()) as said:
                with self.assertRaises(SystemExit) as ended:
                    command.parse(words)
                self.assertEqual(ended.exception.code, 2)
                self.assertRegex(said.getvalue(), "vm.*: error: .")

    def test_usage_error_through_the_program(self):
        self.assertIn("invalid choice", self.refused("sideways", status=2))

    def test_owner_that_is_gone(self):
        child = subprocess.Popen(["true"])
        child.wait()
        self.assertIn("no such process", self.refused("up", "--name", LABEL, "--owner",
                                                      str(child.pid), status=4))

    def test_exec_while_down(self):
        self.assertIn("is down", self.refused("exec", "--name", LABEL, "pc1", "true", status=4))

    def test_folder_of_another(self):
        with tempfile.TemporaryDirectory(prefix="orch-test-") as folder:
            precious = pathlib.Path(folder, "known_hosts")
            precious.write_text("mine\n")
            said = self.refused("up", "--name", LABEL, "--state", folder, status=4)
            self.assertIn("holds known_hosts", said)
            self.assertEqual(vm("down", "--name", LABEL, "--state", folder).returncode, 0)
            self.assertEqual(precious.read_text(), "mine\n")
            pathlib.Path(folder, "state.json").write_text("[1]\n")
            for verb in ("up", "down", "status"):
                self.assertIn("not a state file", self.refused(verb, "--state", folder, status=4))

    def test_without_root(self):
        # imports first: nobody may be kept from reading this folder
        code = ("import os, sys; sys.path.insert(0, sys.argv[1]); import command; "
                "os.setgroups([]); os.setgid(65534); os.setuid(65534); "
                "sys.exit(command.main(['status']))")
        done = subprocess.run([sys.executable, "-c", code, str(pathlib.Path(VM).parent)],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("root is needed", done.stderr)


class Cache(unittest.TestCase):
    """With apt programs that fail: the cache is used, and a failed download leaves nothing."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="orch-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("apt-cache", "echo '  Depends: linux-image-0'"),
                           ("apt-get", "[ $2 != download ] || echo half "
                                       ">linux-image-0_0_amd64.deb\n"
                                       "echo 'E: no route' >&2; exit 100")):
            (self.folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.folder / name).chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}")

    def test_second_run_downloads_nothing(self):
        kernel.fetch()
        done = vm("fetch", env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("in the cache", done.stdout)

    def test_failed_download(self):
        cache = self.folder / "cache"
        for _ in range(2):  # the half package of the first is not taken for one
            done = vm("fetch", env=dict(self.environment, ORCH_VM_CACHE=str(cache)))
            self.assertEqual(done.returncode, 4)
            self.assertIn("E: no route", done.stderr)
            self.assertEqual(os.listdir(cache), [])

    def test_package_that_is_none(self):
        cache = self.folder / "cache"
        cache.mkdir()
        (cache / "linux-image-0_0_amd64.deb").write_text("half\n")
        done = vm("fetch", env=dict(self.environment, ORCH_VM_CACHE=str(cache)))
        self.assertEqual(done.returncode, 4)
        self.assertIn("dpkg-deb", done.stderr)
        self.assertIn(f"Remove {cache}/linux-image-0_0_amd64.deb", done.stderr)

    def test_modules_come_with_what_they_need(self):
        parts, _ = kernel.fetch()
        base = next((parts.modules / "lib/modules").iterdir())
        names = {kernel.module_name(file) for file in kernel.closure(base, ["nft_masq"])}
        self.assertLessEqual({"nft_masq", "nf_tables", "nf_nat", "nf_conntrack", "libcrc32c"},
                             names)
        with self.assertRaisesRegex(Failure, "no module no_such"):
            kernel.closure(base, ["nft_masq", "no_such"])

    def test_image_that_is_none(self):
        for packed in (bytes(1024), bytes(0x1F1) + b"\1" + bytes(4096)):
            with self.assertRaises(Failure):
                kernel.unpack_image(packed)


class Archive(unittest.TestCase):
    def test_cpio_reads_it(self):
        archive = image.Archive()
        archive.text("etc/rc", "12345", 0o755)
        archive.folder("root/.ssh", 0o700)
        archive.link("init", "/bin/busybox")
        archive.file("empty", b"")
        with tempfile.TemporaryDirectory(prefix="orch-test-") as folder:
            subprocess.run(["busybox", "cpio", "-i", "-d"], input=archive.finish(), cwd=folder,
                           check=True, capture_output=True)
            root = pathlib.Path(folder)
            self.assertEqual((root / "etc/rc").read_text(), "12345")
            self.assertEqual((root / "etc/rc").stat().st_mode & 0o777, 0o755)
            self.assertEqual((root / "root/.ssh").stat().st_mode & 0o777, 0o700)
            self.assertEqual(os.readlink(root / "init"), "/bin/busybox")
            self.assertEqual((root / "empty").stat().st_size, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
