"""Interfaces as they are on real boxes: for each topology in interfaces/ the trials must succeed and
their bytes must have gone by the interface and the addresses that the file names, by the word of
counters that a firewall kept meanwhile.
"""
import pathlib
import re
import subprocess
import unittest

from harness import run_topology
from traffic import Lab

FOLDER = pathlib.Path(__file__).resolve().parent / "interfaces"
TRIALS = ("--trials", "1", "--duration", "0.5s")

# Test connections are the only TCP in a lab: control comes by no network.
WATCH = """
table inet watch {
  counter every { }
  counter wanted { }
  chain arriving {
    type filter hook input priority -10;
    meta l4proto tcp counter name every
    %s saddr %s %s daddr %s meta l4proto tcp counter name wanted
  }
}
"""


def family_word(address):
    return "ip6" if ":" in address else "ip"


class Interfaces(unittest.TestCase):
    def up(self, name):
        lab = Lab(str(FOLDER / name))
        self.addCleanup(lab.down)
        return lab.up()

    def watch(self, lab, host, source, destination):
        """Counts at host what comes by TCP, and what of it is from source to destination."""
        word = family_word(source)
        subprocess.run(lab.argv(host, "nft", "-f", "-"), check=True, text=True,
                       input=WATCH % (word, source, word, destination))

    def assert_only_wanted(self, lab, host):
        counted = {name: int(lab.run(host, "nft", "list", "counter", "inet", "watch", name)
                             .split("bytes")[1].split()[0]) for name in ("every", "wanted")}
        self.assertGreater(counted["wanted"], 0)
        self.assertEqual(counted["wanted"], counted["every"])

    def measure(self, lab, segments, proofs=("proved",)):
        run = run_topology(lab.path, *TRIALS)
        self.assertEqual(run.status, 0, run.errors)
        trials = run.data["trials"]
        self.assertEqual([t["error"] for t in trials if not t["ok"]], [])
        self.assertEqual({(t["segment"], t["direction"]) for t in trials},
                         {(s, d) for s in segments for d in ("forward", "reverse")})
        for trial in trials:
            self.assertIn(trial["path_proof"], proofs, trial["proof"])
        return run

    def assert_carried(self, trial, interface):
        """The interface's own counters, whatever the proof says, in the trial's direction."""
        counters = trial["interfaces"][interface]
        key = "tx_bytes" if interface.split(":")[0] == trial["sender"] else "rx_bytes"
        self.assertGreater(counters[key], 0.9 * trial["total_bytes_received"], interface)

    def assert_idle(self, trial, interface):
        counters = trial["interfaces"].get(interface)
        if counters:
            self.assertLess(max(counters["tx_bytes"], counters["rx_bytes"]),
                            0.1 * trial["total_bytes_received"], interface)

    def test_bridge_member(self):
        lab = self.up("bridge-member.yaml")
        self.assertEqual(lab.addresses("router", "wlan0"), [])
        self.watch(lab, "router", lab.address("pc", "wlan0"), lab.address("router", "br-lan"))
        run = self.measure(lab, ["wlan", "lan", "path"], ("proved", "not_observable"))
        for trial in run.trials(segment="wlan"):
            self.assert_carried(trial, "router:wlan0")
            self.assert_carried(trial, "pc:wlan0")
            self.assert_idle(trial, "router:lan1")
        # the router bridges the path and does not end it
        for trial in run.trials(segment="path"):
            self.assert_carried(trial, "pc:wlan0")
            self.assert_carried(trial, "nas:eth0")

    def test_alias(self):
        lab = self.up("alias.yaml")
        shown = lab.run("pc", "ip", "-o", "-4", "address", "show", "label", "eth0:1")
        alias = re.search(r"inet ([0-9.]+)/", shown)[1]
        self.assertIn(alias, lab.addresses("pc", "eth0"))
        self.assertNotEqual(alias, lab.address("pc", "eth0"))
        self.watch(lab, "router", alias, lab.address("router", "eth0"))
        self.measure(lab, ["alias"])
        self.assert_only_wanted(lab, "router")

    def test_default_route_goes_elsewhere(self):
        lab = self.up("default-route.yaml")
        lab.run("pc", "ip", "route", "add", "default", "via", lab.address("office", "eth0"))
        run = self.measure(lab, ["near", "far", "path"])
        for trial in run.trials(segment="path"):
            self.assert_carried(trial, "pc:eth0")
            self.assert_idle(trial, "pc:eth1")

    def test_no_route_by_the_tested_interface(self):
        lab = self.up("default-route.yaml")
        lab.run("pc", "ip", "route", "add", "default", "via", lab.address("office", "eth0"))
        network = lab.address("far", "eth0").rsplit(".", 1)[0] + ".0/24"
        lab.run("pc", "ip", "route", "delete", network)
        run = run_topology(lab.path, *TRIALS)
        self.assertEqual(run.status, 4, run.errors)
        self.assertIsNone(run.data)
        # the command that it prints mends it
        command = re.search(r"ip (?:-[46] )?route (?:add|replace) .*", run.errors)
        self.assertIsNotNone(command, run.errors)
        lab.run("pc", *command[0].strip("`'\" .").split())
        run = self.measure(lab, ["near", "far", "path"])
        for trial in run.trials(segment="path"):
            self.assert_carried(trial, "pc:eth0")
            self.assert_idle(trial, "pc:eth1")

    def test_several_addresses(self):
        lab = self.up("several-addresses.yaml")
        for address in ("10.50.0.8/24", "10.51.0.7/24", "10.52.0.7/32"):
            lab.run("pc", "ip", "address", "add", address, "dev", "eth0")
            lab.run("router", "ip", "address", "add", address.replace(".7/", ".9/").replace(
                ".8/", ".10/"), "dev", "eth0")
        self.watch(lab, "router", "10.50.0.7", "10.50.0.2")
        self.measure(lab, ["chosen"])
        self.assert_only_wanted(lab, "router")

    def test_two_interfaces_in_one_subnet(self):
        lab = self.up("one-subnet.yaml")
        self.watch(lab, "one", "10.60.0.1", "10.60.0.2")
        self.watch(lab, "two", "10.60.0.3", "10.60.0.4")
        run = self.measure(lab, ["first", "second"])
        for trial in run.trials(segment="second"):
            self.assert_carried(trial, "pc:eth1")
            self.assert_idle(trial, "pc:eth0")
        self.assert_only_wanted(lab, "one")
        self.assert_only_wanted(lab, "two")

    def test_ipv6_only(self):
        lab = self.up("ipv6-only.yaml")
        for host, interface in (("pc", "eth0"), ("router", "eth0"), ("router", "eth1"),
                                ("far", "eth0")):
            self.assertTrue(all(":" in a for a in lab.addresses(host, interface)))
        self.watch(lab, "far", "fd00:60::1", "fd00:61::2")
        run = self.measure(lab, ["near", "far", "path"])
        self.assertEqual(len(run.trials(segment="path")), 2)

    def test_every_topology_is_used(self):
        text = pathlib.Path(__file__).read_text()
        for path in FOLDER.glob("*.yaml"):
            self.assertIn(f'"{path.name}"', text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
