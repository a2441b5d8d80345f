"""The places where every tool is measured. A place is a class with a row in PLACES."""
import dataclasses
import os
import re

from . import processes
from .hosts import NamespaceHost

PREFIX = "orchbench"


@dataclasses.dataclass(frozen=True)
class Case:
    """Who sends to whom. role: `path` (forwarded), `to` or `from` the router, `local`."""

    role: str
    sender: object
    receiver: object


@dataclasses.dataclass(frozen=True)
class Placement:
    """On which CPUs the two ends run; None leaves it to the scheduler."""

    name: str
    sender_cpu: object
    receiver_cpu: object


def local_placements():
    """unpinned, one CPU, two CPUs: of those that this process may use."""
    cpus = sorted(os.sched_getaffinity(0))
    placements = [Placement("unpinned", None, None), Placement("one", cpus[0], cpus[0])]
    if len(cpus) > 1:
        placements.append(Placement("two", cpus[0], cpus[1]))
    return placements


def namespace_name(part):
    return f"{PREFIX}-{os.getpid()}-{part}"


def ip(*arguments):
    return processes.run(["ip", *arguments])


def ip_in(namespace, *arguments):
    return processes.run(["ip", "-n", namespace, *arguments])


def remove_left_over():
    """Removes the namespaces of benches that were killed: their owner's id is in the name."""
    for name in re.findall(rf"^({PREFIX}-\d+-\w+)", ip("netns", "list"), re.M):
        if not os.path.exists(f"/proc/{name.split('-')[1]}"):
            ip("netns", "delete", name)


class NamespacePlace:
    """Namespaces that live as long as the place."""

    def __init__(self):
        self.namespaces = []

    def add_namespace(self, part):
        name = namespace_name(part)
        self.namespaces.append(name)
        ip("netns", "add", name)
        ip_in(name, "link", "set", "lo", "up")
        return name

    def stop(self):
        for name in self.namespaces:
            try:
                ip("netns", "delete", name)
            except processes.Failure:
                pass  # it was never made
        self.namespaces = []


class Loopback(NamespacePlace):
    """One end beside the other; a namespace of its own keeps its counters apart."""

    title = "loopback"
    tests = ("tcp", "udp")

    def start(self):
        namespace = self.add_namespace("lo")
        # getaddrinfo, as netperf calls it, knows no IPv4 where nothing but lo has an address.
        ip_in(namespace, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1")
        ip_in(namespace, "address", "add", "10.211.0.1/24", "dev", "eth0")
        for device in ("eth0", "eth1"):
            ip_in(namespace, "link", "set", device, "up")
        host = NamespaceHost(namespace, "127.0.0.1", "lo")
        self.cases = [Case("local", host, host)]
        self.placements = local_placements()


class Routed(NamespacePlace):
    """pc1 - router - pc2 over veth pairs, unshaped, with every offload the kernel gives them."""

    title = "routed veth path"
    tests = ("tcp",)

    def start(self):
        pc1, router, pc2 = (self.add_namespace(part) for part in ("pc1", "router", "pc2"))
        for number, end in ((1, pc1), (2, pc2)):
            ip("link", "add", "eth0", "netns", end, "type", "veth", "peer", "name",
               f"eth{number}", "netns", router)
            for namespace, device, host in ((end, "eth0", 2), (router, f"eth{number}", 1)):
                ip_in(namespace, "address", "add", f"10.211.{number}.{host}/24", "dev", device)
                ip_in(namespace, "link", "set", device, "up")
            ip_in(end, "route", "add", "default", "via", f"10.211.{number}.1")
        processes.run(["ip", "netns", "exec", router, "sh", "-c",
                       "echo 1 >/proc/sys/net/ipv4/ip_forward"])
        self.cases = [Case("path", NamespaceHost(pc1, "10.211.1.2", "pc1"),
                           NamespaceHost(pc2, "10.211.2.2", "pc2"))]
        self.placements = local_placements()


PLACES = {"routed": Routed, "loopback": Loopback}
