"""The two PCs: namespaces whose eth0 is the tap that one of the router's ports is plugged into.

A tap is made inside its namespace and lives as long as the descriptor that qemu holds: there is no
bridge in between, and a router that ends takes its cables with it.
"""
import ctypes
import dataclasses
import fcntl
import os
import signal
import struct
import subprocess

from failure import Failure
from kernel import run
from processes import end_processes

TUNSETIFF, IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x400454CA, 0x0002, 0x1000, 0x4000
CLONE_NEWNET = 0x40000000


@dataclasses.dataclass(frozen=True)
class Cable:
    """One PC, the router's port that it is plugged into, and the two ends' addresses."""
    pc: str
    port: str
    pc_mac: str
    port_mac: str
    subnets: tuple  # (network's beginning, prefix length); the router is 1 in it, the PC is 2

    def at(self, number):
        return [f"{start}{number}/{length}" for start, length in self.subnets]

    def router(self):
        return self.at(1)[0].split("/")[0]


CABLES = (
    Cable("pc1", "eth0", "02:00:0a:4d:01:02", "02:00:0a:4d:01:01",
          (("10.77.1.", 24), ("fd00:77:1::", 64))),
    Cable("pc2", "eth1", "02:00:0a:4d:02:02", "02:00:0a:4d:02:01",
          (("10.77.2.", 24), ("fd00:77:2::", 64))),
)


def space_name(label, pc):
    return f"orch-{label}-{pc}"


def space_names(label):
    return [space_name(label, cable.pc) for cable in CABLES]


def exists(space):
    return os.path.exists(f"/run/netns/{space}")


def inside(space, *argv):
    return ["ip", "netns", "exec", space, *argv]


def enter(descriptor):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class Visit:
    """This process (of one thread) in another network namespace for the time of a `with`."""

    def __init__(self, space):
        self.space = space

    def __enter__(self):
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(f"/run/netns/{self.space}", os.O_RDONLY)
        try:
            enter(there)
        finally:
            os.close(there)

    def __exit__(self, *_):
        enter(self.home)
        os.close(self.home)


def open_tap(space, name):
    """A descriptor for qemu; with offload headers, as between any two virtual machines."""
    try:
        with Visit(space):
            descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            request = struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR)
            fcntl.ioctl(descriptor, TUNSETIFF, request)
            return descriptor
    except OSError as error:
        raise Failure(f"/dev/net/tun: cannot make a tap in {space}: {error.strerror}") from None


def make(label, cable):
    """Makes a PC and its cable; returns the tap's descriptor."""
    space = space_name(label, cable.pc)
    run("ip", "netns", "add", space)
    tap = open_tap(space, "eth0")
    settings = "".join(f"echo {value} >/proc/sys/net/{key}\n" for key, value in (
        ("ipv6/conf/eth0/accept_dad", 0),
        # ms between two questions who has an address: a router that boots is found at once
        ("ipv4/neigh/eth0/retrans_time_ms", 100)))
    run(*inside(space, "sh", "-ec", settings))
    lines = ["link set lo up", f"link set eth0 address {cable.pc_mac} up"]
    lines += [f"address add {address} dev eth0" for address in cable.at(2)]
    lines += [f"route add default via {address.split('/')[0]}" for address in cable.at(1)]
    for line in lines:
        run("ip", "-n", space, *line.split())
    return tap


def remove(space):
    """Ends what runs in it, then the namespace itself."""
    if not exists(space):
        return
    pids = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True).stdout
    end_processes([int(pid) for pid in pids.split()], signal.SIGKILL)
    run("ip", "netns", "delete", space)
