"""What a trial cost: CPU time of the whole machine, and the stack's own counters."""
import os

TICKS = os.sysconf("SC_CLK_TCK")
# /proc/stat's columns; guest time is inside user and nice.
BUSY = ("user", "nice", "system", "irq", "softirq")
COLUMNS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
# Evidence of segments out of order: what a sender that hops between CPUs causes.
PROTOCOL_FILES = ["/proc/net/netstat", "/proc/net/snmp"]
PROTOCOL_COUNTERS = ("RetransSegs", "TCPSACKReorder", "TCPDSACKRecv", "TCPFastRetrans",
                     "RcvbufErrors")
KERNEL_THREADS = 2


def cpu_times(text):
    """{column: seconds} of all cores together, from a text of /proc/stat."""
    numbers = text.split("\n", 1)[0].split()[1:]
    return {name: int(number) / TICKS for name, number in zip(COLUMNS, numbers)}


def busy_seconds(before, after):
    """CPU-seconds spent between two cpu_times(); steal is not this machine's work."""
    return sum(after[name] - before[name] for name in BUSY)


def protocol_counters(text):
    """{name: value} from the pairs of lines of /proc/net/netstat and snmp."""
    counters = {}
    lines = [line.split() for line in text.splitlines()]
    for names, values in zip(lines, lines[1:]):
        if names and values and names[0] == values[0] and values[1:2] != names[1:2]:
            for name, value in zip(names[1:], values[1:]):
                if name in PROTOCOL_COUNTERS and value.lstrip("-").isdigit():
                    counters[name] = counters.get(name, 0) + int(value)
    return counters


def stat_of(pid):
    """(parent, session, seconds of it and of its ended children), or None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), int(fields[3]), sum(map(int, fields[11:15])) / TICKS


def foreign_seconds(own):
    """CPU time so far of the processes that are not the bench's: what else loads the machine.

    own: the session ids of the trial's processes. Kernel threads work for everybody and are left
    out. A process that ends hands its time on to its parent, so only the sum means something.
    """
    total = 0.0
    for name in os.listdir("/proc"):
        stat = stat_of(name) if name.isdigit() else None
        if not stat or int(name) in (KERNEL_THREADS, os.getpid()):
            continue
        parent, session, seconds = stat
        if parent != KERNEL_THREADS and session not in own:
            total += seconds
    return total


class Meter:
    """Counts from begin() to end(): CPU of the machine, of a host with its own, and protocols."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.before = None

    def look(self):
        counters = {}
        for host in self.hosts:
            for name, value in protocol_counters(host.read_files(PROTOCOL_FILES)).items():
                counters[name] = counters.get(name, 0) + value
        own = {host.name: cpu_times(host.read_files(["/proc/stat"]))
               for host in self.hosts if host.own_cpu}
        return counters, own

    def begin(self, own_sessions):
        self.sessions = own_sessions
        self.before = self.look()
        self.foreign = foreign_seconds(own_sessions)
        with open("/proc/stat", encoding="ascii") as file:
            self.cpu = cpu_times(file.read())

    def end(self, own_sessions):
        with open("/proc/stat", encoding="ascii") as file:
            cpu = cpu_times(file.read())
        foreign = foreign_seconds(self.sessions | own_sessions)
        counters, own = self.look()
        return {
            "cpu_seconds": busy_seconds(self.cpu, cpu),
            "steal_seconds": cpu["steal"] - self.cpu["steal"],
            "other_cpu_seconds": max(foreign - self.foreign, 0.0),
            "counters": {name: counters[name] - self.before[0].get(name, 0) for name in counters},
            "host_cpu_seconds": {name: busy_seconds(self.before[1][name], times)
                                 for name, times in own.items()},
        }
