"""One trial: a tool between two hosts of a place, with its figures and its costs."""
import dataclasses
import itertools
import time

from . import processes
from .machine import Meter

GRACE_SECONDS = 10
# Below the kernel's ephemeral range, and each used once: a port of the trial before may be in
# TIME_WAIT still.
ports = itertools.count(21000)


@dataclasses.dataclass(frozen=True)
class Settings:
    """What all tools are asked for alike."""

    seconds: int
    congestion: str
    size: int  # bytes of a UDP datagram's payload
    block_kb: int  # that a peer writes at once; their own defaults differ


class Trial:
    """What a tool's driver works with: starting commands, and when to count."""

    def __init__(self, case, placement, settings):
        self.sender, self.receiver = case.sender, case.receiver
        self.placement, self.settings = placement, settings
        hosts = [case.sender] if case.sender is case.receiver else [case.sender, case.receiver]
        self.meter = Meter(hosts)
        self.started = []
        self.costs = None

    def port(self):
        return next(ports)

    def start_receiver(self, argv, keep_input=False):
        return self.start(self.receiver, argv, self.placement.receiver_cpu, keep_input)

    def start_sender(self, argv, keep_input=False):
        return self.start(self.sender, argv, self.placement.sender_cpu, keep_input)

    def start(self, host, argv, cpu, keep_input):
        process = host.start(argv, cpu, keep_input)
        self.started.append((host, process))
        return process

    def deadline(self):
        return time.monotonic() + self.settings.seconds + GRACE_SECONDS

    def sessions(self):
        """Of all processes that work for this trial."""
        return (self.sender.sessions | self.receiver.sessions |
                {process.child.pid for _, process in self.started})

    def begin(self):
        """From here on costs count: the servers stand."""
        self.meter.begin(self.sessions())

    def end(self):
        self.costs = self.meter.end(self.sessions())

    def finish(self):
        for host, process in reversed(self.started):
            host.end(process)


def run_client(trial, argv, protocol="tcp", port=0, server=None):
    """The usual course: the server listens, a client runs and ends. Returns its output."""
    processes.await_port(trial.receiver, port, server, protocol=protocol)
    trial.begin()
    client = trial.start_sender(argv)
    output = client.finish(trial.deadline())
    trial.end()
    return output


def run_trial(tool, case, placement, settings):
    """A dictionary of the trial's figures, or of the error it ended with."""
    trial = Trial(case, placement, settings)
    try:
        figures = tool.drive(trial)
        if not figures["bytes"] or figures["rate_bps"] <= 0:
            raise processes.Failure("the receiver counted no byte")
        return {"ok": True, "error": None, **figures, **trial.costs}
    except processes.Failure as failure:
        return {"ok": False, "error": str(failure)}
    finally:
        trial.finish()
