"""The emulated testbed itself, judged by plain sockets and the kernel's word, without orch run."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import harness
from harness import namespaces, orch, topology_path, write_topology
from traffic import Lab, process_start

STATE = pathlib.Path("/run/orch/lab")
FRAME_SHARE = 1448 / 1514  # TCP payload of a full Ethernet frame, timestamps on

PAIR = """
orch: 1
name: {name}
lab: {{}}
hosts:
  pc1: {pc1}
  pc2: {{}}
links:
  - {{name: only, a: "pc1:eth0", b: "pc2:eth0"{link}}}
"""

ROUTED = """
orch: 1
name: {name}
lab: {{}}
hosts:
  pc1: {{}}
  router: {{lab: {router}}}
  pc2: {{}}
links:
  - {{name: wan, a: "pc1:eth0", b: "router:eth0"{wan}}}
  - {{name: lan, a: "router:eth1", b: "pc2:eth0"{lan}}}
path: [pc1, router, pc2]
"""

BURN = """
import time
start, used = time.monotonic(), time.process_time()
while time.monotonic() < start + 1:
    pass
print(time.process_time() - used)
"""

BIG = """
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
try:
    sender.sendto(bytes(int(sys.argv[2]) - 28), (sys.argv[1], 9))
    print("sent")
except OSError as failure:
    print(failure.errno)
"""


def cgroups():
    found = set()
    for folder, below, _ in os.walk("/sys/fs/cgroup"):
        found.update(os.path.join(folder, name) for name in below if name.startswith("orch-"))
    return found


def surroundings():
    """Everything outside of a lab that could show that it was there."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout
    return {"namespaces": namespaces("t"), "links": [line.split(":")[1] for line in
                                                  links.splitlines()],
            "cgroups": cgroups(), "state": os.path.exists("/run/orch")}


class LabCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="orch-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text, **values):
        return write_topology(self.folder, name + ".yaml", text.format(name=name, **values))

    def pair(self, name, link="", pc1="{}"):
        return Lab(self.write(name, PAIR, link=link, pc1=pc1))

    def routed(self, name, router="{}", wan="", lan=""):
        return Lab(self.write(name, ROUTED, router=router, wan=wan, lan=lan))

    def up(self, lab):
        self.addCleanup(lab.down)
        return lab.up()


class Life(LabCase):
    def test_down_leaves_nothing(self):
        before = surroundings()
        lab = self.pair("t-life", pc1="{lab: {cpu: 50%}}").up()
        self.assertEqual(len(namespaces("t")), len(before["namespaces"]) + 2)
        self.assertEqual(orch("lab", "status", lab.path).returncode, 0)
        sleeper = lab.start("pc1", "import time; print(flush=True); time.sleep(60)")
        sleeper.stdout.readline()
        lab.down()
        self.assertEqual(sleeper.wait(timeout=5), -9)
        sleeper.stdout.close()
        self.assertEqual(surroundings(), before)
        lab.down()  # once more is no error
        self.assertEqual(orch("lab", "status", lab.path).returncode, 1)
        self.assertEqual(surroundings(), before)

    def test_thirty_two_hosts(self):
        hosts = [f"h{i}" for i in range(32)]
        text = "orch: 1\nname: t-long\nlab: {}\nhosts:\n"
        text += "".join(f"  {host}: {{}}\n" for host in hosts) + "links:\n"
        text += "".join(f'  - {{name: l{i}, a: "h{i}:right", b: "h{i + 1}:left"}}\n'
                        for i in range(31))
        lab = Lab(write_topology(self.folder, "t-long.yaml", text))
        self.addCleanup(lab.down)
        start = time.monotonic()
        lab.up()
        took = time.monotonic() - start
        print(f"32 hosts up in {took:.3f} s", file=sys.stderr)
        self.assertLess(took, 3)
        self.assertEqual(lab.reach("h0", lab.address("h31", "left")), "reached")

    def test_failure_takes_everything_down(self):
        before = surroundings()
        # a device of MTU 600 takes no IPv6, so the address that is asked for cannot be set
        path = write_topology(self.folder, "t-broken.yaml", PAIR.format(
            name="t-broken", pc1="{lab: {cpu: 50%}}", link=", lab: {mtu: 600}").replace(
                "pc1:eth0", "pc1:eth0@fd00:7::1"))
        done = orch("lab", "up", path)
        self.assertEqual(done.returncode, 4)
        self.assertIn("'ip' failed", done.stderr)
        self.assertEqual(surroundings(), before)

    def test_killed_half_way_is_taken_up_again(self):
        lab = self.routed("t-killed", wan=", rate: 50Mbit")
        self.addCleanup(lab.down)
        interrupted = 0
        for delay in (0.002, 0.004, 0.008, 0.012, 0.016, 0.02, 0.03, 0.04):
            builder = subprocess.Popen([harness.ORCH, "lab", "up", lab.path],
                                       stdout=subprocess.DEVNULL)
            try:
                builder.wait(timeout=delay)
            except subprocess.TimeoutExpired:
                interrupted += 1
                builder.kill()
                builder.wait()
            lab.up()
            self.assertEqual(lab.reach("pc1", lab.address("pc2", "eth0")), "reached")
            lab.down()
        self.assertGreater(interrupted, 0)

    def set_owner(self, name, pid, start):
        state = STATE / name / "state"
        lines = [f"owner {pid} {start}" if line.startswith("owner ") else line
                 for line in state.read_text().splitlines()]
        state.write_text("\n".join(lines) + "\n")

    def test_dead_owner_is_reclaimed_and_living_one_is_not(self):
        lab = self.up(self.pair("t-owner"))
        first = os.stat("/run/netns/orch-t-owner-pc1").st_ino
        self.set_owner("t-owner", os.getpid(), process_start(os.getpid()))
        for command in ("up", "down"):
            done = orch("lab", command, lab.path)
            self.assertEqual(done.returncode, 4)
            self.assertIn(str(os.getpid()), done.stderr)
        # the same number, another process
        self.set_owner("t-owner", os.getpid(), process_start(os.getpid()) + 1)
        self.assertIn("left over", orch("lab", "status", lab.path).stdout)
        lab.up()
        self.assertNotEqual(os.stat("/run/netns/orch-t-owner-pc1").st_ino, first)

    def test_two_at_once(self):
        lab = self.pair("t-twice")
        self.addCleanup(lab.down)
        builders = [subprocess.Popen([harness.ORCH, "lab", "up", lab.path],
                                     stdout=subprocess.DEVNULL) for _ in range(4)]
        self.assertEqual([builder.wait(timeout=20) for builder in builders], [0, 0, 0, 0])
        self.assertEqual(lab.reach("pc1", lab.address("pc2", "eth0")), "reached")

    def test_another_topology_of_the_same_name(self):
        self.up(self.pair("t-same"))
        other = write_topology(self.folder, "other.yaml", PAIR.format(
            name="t-same", pc1="{}", link=", lab: {mtu: 1400}"))
        done = orch("lab", "up", other)
        self.assertEqual(done.returncode, 4)
        self.assertIn("orch lab down", done.stderr)

    def test_namespace_of_another_is_left_alone(self):
        lab = self.pair("t-taken")
        subprocess.run(["ip", "netns", "add", "orch-t-taken-pc2"], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", "orch-t-taken-pc2"])
        done = orch("lab", "up", lab.path)
        self.assertEqual(done.returncode, 4)
        self.assertIn("orch-t-taken-pc2", done.stderr)
        self.assertEqual(namespaces("t"), ["orch-t-taken-pc2"])

    def test_without_root(self):
        path = self.pair("t-user").path
        done = harness.orch_as_nobody(self.folder, "lab", "up", path)
        self.assertEqual(done.returncode, 4)
        self.assertIn("the lab needs root: run with sudo", done.stderr)

    def test_exec(self):
        lab = self.up(self.pair("t-exec"))
        done = orch("lab", "exec", lab.path, "pc1", "--", "sh", "-c", "echo out; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, "out\n"))
        done = orch("lab", "exec", lab.path, "pc9", "true")
        self.assertEqual(done.returncode, 4)
        self.assertIn("pc9", done.stderr)
        done = orch("lab", "exec", self.pair("t-not-up").path, "pc1", "true")
        self.assertEqual(done.returncode, 4)
        self.assertIn("orch lab up", done.stderr)


class Network(LabCase):
    def test_routes_and_nat(self):
        lab = self.up(self.routed("t-nat", router="{nat: true, bridge: [eth1]}"))
        self.assertEqual(lab.addresses("router", "eth1"), [])
        for address in lab.addresses("pc1", "eth0"):
            self.assertEqual(lab.reach("pc2", address), "reached")
        for address in lab.addresses("pc2", "eth0"):
            self.assertEqual(lab.reach("pc1", address), "ENETUNREACH")
        # pc1 sees the router, not pc2
        code = ("import socket; s = socket.create_server(('', 7)); print(flush=True); "
                "s.settimeout(10); print(s.accept()[1][0])")
        listener = lab.start("pc1", code)
        listener.stdout.readline()
        lab.python("pc2", "import socket, sys; socket.create_connection((sys.argv[1], 7))",
                   lab.address("pc1", "eth0"))
        self.assertEqual(listener.communicate(timeout=20)[0].strip(),
                         lab.address("router", "eth0"))

    def test_without_nat_both_ways(self):
        lab = self.up(self.routed("t-routes"))
        for host, peer in (("pc1", "pc2"), ("pc2", "pc1")):
            addresses = lab.addresses(peer, "eth0")
            self.assertEqual(len(addresses), 2 if os.path.exists("/proc/sys/net/ipv6") else 1)
            for address in addresses:
                self.assertEqual(lab.reach(host, address), "reached")

    def test_mtu(self):
        lab = self.up(self.pair("t-mtu", link=", lab: {mtu: 1400}"))
        address = lab.address("pc2", "eth0")
        self.assertEqual(lab.python("pc1", BIG, address, 1400), "sent")
        self.assertEqual(lab.python("pc1", BIG, address, 1401), "90")  # EMSGSIZE
        shown = json.loads(lab.run("pc2", "ip", "-j", "link", "show", "dev", "eth0"))
        self.assertEqual(shown[0]["mtu"], 1400)

    def test_small_mtu_has_no_ipv6(self):
        lab = self.up(self.pair("t-small", link=", lab: {mtu: 600}"))
        self.assertEqual(len(lab.addresses("pc1", "eth0")), 1)
        self.assertEqual(lab.reach("pc1", lab.address("pc2", "eth0")), "reached")

    def test_loss(self):
        lab = self.up(self.pair("t-loss", link=", lab: {loss: 5%}"))
        sent = 20000
        for sender, receiver in (("pc1", "pc2"), ("pc2", "pc1")):
            arrived = lab.datagrams(sender, receiver, lab.address(receiver, "eth0"), sent)
            # a binomial count's standard deviation is .15 % here: five of them
            self.assertAlmostEqual(100 * (1 - arrived / sent), 5, delta=0.77)

    def test_cpu_quota(self):
        lab = self.up(self.pair("t-cpu", pc1="{lab: {cpu: 20%}}"))
        used = float(lab.python("pc1", BURN))
        self.assertLess(used, 0.24)
        self.assertGreater(used, 0.1)
        self.assertGreater(float(lab.python("pc2", BURN)), 0.3)


class Rates(LabCase):
    def check(self, rate, nominal, tolerance=0.03):
        wanted = nominal * FRAME_SHARE
        self.assertLess(abs(rate / wanted - 1), tolerance, f"{rate / 1e6:.2f} Mbit/s")

    def test_rate_in_both_directions(self):
        lab = self.up(self.pair("t-rate", link=", rate: 100Mbit, lab: {rate_reverse: 20Mbit}"))
        self.check(lab.goodput("pc1", "pc2", lab.address("pc2", "eth0")), 100e6)
        self.check(lab.goodput("pc2", "pc1", lab.address("pc1", "eth0")), 20e6)

    def test_forward_limit(self):
        lab = self.up(self.routed("t-limit", router="{forward_limit: 40Mbit}",
                                  wan=", rate: 100Mbit"))
        for sender, receiver, device in (("pc1", "pc2", "eth1"), ("pc2", "pc1", "eth0")):
            self.check(lab.goodput(sender, receiver, lab.address(receiver, "eth0")), 40e6)
            shown = lab.run("router", "tc", "-s", "class", "show", "dev", device, "classid",
                            "1:20")
            self.assertGreater(int(re.search(r"dropped (\d+)", shown)[1]), 0, shown)
        # what begins at the router is not slowed, and the link's rate holds
        self.check(lab.goodput("router", "pc1", lab.address("pc1", "eth0")), 100e6)
        self.assertGreater(lab.goodput("router", "pc2", lab.address("pc2", "eth0")), 200e6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
