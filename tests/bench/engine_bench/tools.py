"""The tools, a row each."""
import collections

from . import native, peers

# sender, receiver: the programs each end needs. sets_congestion: whether it can be told one.
Tool = collections.namedtuple(
    "Tool", "name test sender receiver sets_congestion drive", defaults=(True, None))

TOOLS = (
    Tool("native", "tcp", (), (), True, native.drive_tcp),
    Tool("iperf2", "tcp", ("iperf",), ("iperf",), True, peers.drive_iperf2),
    Tool("iperf3", "tcp", ("iperf3",), ("iperf3",), True, peers.drive_iperf3_tcp),
    Tool("iperf3 -Z", "tcp", ("iperf3",), ("iperf3",), True, peers.drive_iperf3_zero_copy),
    Tool("nuttcp", "tcp", ("nuttcp",), ("nuttcp",), False, peers.drive_nuttcp),
    Tool("netperf", "tcp", ("netperf",), ("netserver",), True, peers.drive_netperf),
    Tool("native", "udp", (), (), True, native.drive_udp),
    Tool("iperf3", "udp", ("iperf3",), ("iperf3",), True, peers.drive_iperf3_udp),
)


def missing_program(tool, case):
    """What keeps the tool from a case, or None: `iperf3 on router`."""
    for host, programs in ((case.sender, tool.sender), (case.receiver, tool.receiver)):
        for program in programs:
            if not host.has(program):
                return f"no {program} on {host.name}"
    return None


def incomparable(tool, case, congestion):
    """Why the tool's rate says nothing beside the others', or None."""
    if tool.sets_congestion or tool.test != "tcp":
        return None
    used = case.sender.read_files(["/proc/sys/net/ipv4/tcp_congestion_control"]).strip()
    return None if used == congestion else f"cannot be told {congestion}, uses {used}"
