"""The places where every tool is measured. A place is a class with a row in PLACES."""
import dataclasses
import os
import pathlib
import re
import signal
import sys

from . import processes
from .hosts import NamespaceHost, ShellHost

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


def is_alive(pid):
    """A process that nobody has waited for yet is none any more."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def remove_left_over():
    """Removes what benches that were killed left: their own id is in the namespaces' names."""
    for name in re.findall(rf"^({PREFIX}-\d+-\w+)", ip("netns", "list"), re.M):
        if is_alive(name.split("-")[1]):
            continue
        for pid in ip("netns", "pids", name).split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
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


class EmulatedRouter:
    """pc1 - router - pc2, the router a machine of its own with a slow CPU (tests/vm).

    The tools end on it in both directions, and it forwards. Its one CPU is the emulator's thread,
    so the ends are not pinned.
    """

    title = "emulated router"
    tests = ("tcp",)
    placements = [Placement("unpinned", None, None)]
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../vm/vm")
    boot_seconds = 180
    addresses = {"pc1": "10.77.1.2", "router": "10.77.1.1", "pc2": "10.77.2.2"}

    def __init__(self):
        # One name for all benches: `vm up` then takes down what a killed one left.
        self.label = PREFIX
        self.state = f"/run/orch-vm/{self.label}"
        self.socket = pathlib.Path(self.state, "ssh")
        self.up = False

    def start(self):
        if not os.path.exists(self.program):
            raise processes.Failure("there is no tests/vm/vm")
        processes.run([self.program, "up", "--name", self.label, "--owner", str(os.getpid())],
                      self.boot_seconds)
        self.up = True
        with open(f"{self.state}/qemu.pid", encoding="ascii") as file:
            emulator = int(file.read())
        self.set_priority(emulator)
        pc1, pc2 = (NamespaceHost(f"orch-{self.label}-{name}", self.addresses[name], name,
                                  [os.getsid(emulator)]) for name in ("pc1", "pc2"))
        router = ShellHost(self.connect(pc1), self.addresses["router"], "router")
        self.cases = [Case("path", pc1, pc2), Case("to", pc1, router), Case("from", router, pc1)]

    def set_priority(self, emulator):
        """The emulator's threads run for the tools: at their priority."""
        if not NamespaceHost.nice:
            return
        for thread in os.listdir(f"/proc/{emulator}/task"):
            os.setpriority(os.PRIO_PROCESS, int(thread), NamespaceHost.nice)
        try:
            with open(f"/proc/{emulator}/autogroup", "w", encoding="ascii") as file:
                file.write(str(NamespaceHost.nice))
        except OSError:
            pass  # this kernel does not group sessions

    def connect(self, pc1):
        """Logs in once; commands then run without a handshake, slow on such a CPU, each."""
        settings = ["-F", "none", "-T", "-i", f"{self.state}/key", "-S", str(self.socket)]
        for setting in ("BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes",
                        f"UserKnownHostsFile={self.state}/known_hosts", "LogLevel=ERROR"):
            settings += ["-o", setting]
        target = f"root@{self.addresses['router']}"
        master = pc1.start(["ssh", *settings, "-M", "-N", target])
        processes.await_file(self.socket, master)
        return ["ssh", *settings, target]

    def stop(self):
        if self.up:
            self.up = False
            self.socket.unlink(missing_ok=True)
            try:
                processes.run([self.program, "down", "--name", self.label], 30)
            except processes.Failure as failure:
                print(f"{self.title}: {failure}", file=sys.stderr)


PLACES = {"routed": Routed, "loopback": Loopback, "router": EmulatedRouter}
