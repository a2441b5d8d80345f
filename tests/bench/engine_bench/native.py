"""The native engine: two agents over pipes, asked as docs/wire.md says."""
import os
import secrets
import time

from .processes import Failure

SETUP_MS = 5000
STALL_MS = 5000
GREETING_SECONDS = 10
# Unlimited (docs/wire.md): the fastest that the sender can.
UDP_RATE = 0


def agent_path():
    """The agent of this build: ORCH_AGENT, or where `ninja -C build` puts it."""
    here = os.path.dirname(os.path.abspath(__file__))
    standard = os.path.join(here, "../../../build/agent/orch-agent-x86_64")
    return os.path.abspath(os.environ.get("ORCH_AGENT") or standard)


class Agent:
    """A started agent, its records taken one by one."""

    def __init__(self, process):
        self.process = process
        self.taken = 0  # bytes of the output that were parsed
        self.await_record(time.monotonic() + GREETING_SECONDS, 0, "hello")

    def ask(self, line):
        try:
            os.write(self.process.child.stdin.fileno(), (line + "\n").encode())
        except BrokenPipeError:
            raise Failure("the agent is gone") from None

    def next_record(self, deadline):
        """(id, type, {key: value}) of the next line that is a record."""
        while True:
            line, found, _ = self.process.text[self.taken:].partition(b"\n")
            if not found:
                if not self.process.read_some(deadline):
                    raise Failure("the agent ended: " + self.process.output()[-200:].strip())
                continue
            self.taken += len(line) + 1
            words = line.decode(errors="replace").split()
            if len(words) >= 2 and words[0].isdigit():
                fields = dict(word.split("=", 1) for word in words[2:] if "=" in word)
                return int(words[0]), words[1], fields

    def await_record(self, deadline, number, kind):
        """The fields of the next record of that id and type; an error record is a Failure."""
        while True:
            got, word, fields = self.next_record(deadline)
            if got != number:
                continue
            if word == kind:
                return fields
            if word in ("error", "unknown"):
                message = fields.get("message", word).replace("%20", " ").replace("%3D", "=")
                if fields.get("code") == "bad" and message.startswith("test="):
                    message = f"not there yet ({message})"
                raise Failure(message)


def start_agents(trial):
    path = agent_path()
    if not os.path.exists(path):
        raise Failure(f"no agent at {path}: build it with 'ninja -C build', or set ORCH_AGENT")
    receiver = trial.start_receiver([trial.receiver.put(path)], keep_input=True)
    sender = trial.start_sender([trial.sender.put(path)], keep_input=True)
    return Agent(receiver), Agent(sender)


def drive(trial, test):
    """Asks for one trial of one stream; the receiver listens."""
    receiver, sender = start_agents(trial)
    settings = trial.settings
    keys = (f"token={secrets.token_hex(16)} family=4 streams=1 omit_ms=0 interval_ms=0 "
            f"duration_ms={settings.seconds * 1000} setup_ms={SETUP_MS} stall_ms={STALL_MS} {test}")
    receiver.ask(f"1 listen role=receive address={trial.receiver.address} port=0 port_last=0 "
                 + keys)
    listening = receiver.await_record(trial.deadline(), 1, "listening")
    trial.begin()
    sender.ask(f"1 connect role=send address={trial.sender.address} to={trial.receiver.address} "
               f"to_port={listening['port']} {keys}")
    received = receiver.await_record(trial.deadline(), 1, "ok")
    sent = sender.await_record(trial.deadline(), 1, "ok")
    trial.end()
    size, window = int(received["bytes"]), int(received["window_us"])
    return {"bytes": size, "rate_bps": size * 8e6 / window if window else 0,
            "seconds": window / 1e6, "methods": f"{sent.get('method')} {received.get('method')}",
            "retransmits": int(sent["retransmits"]) if "retransmits" in sent else None,
            "lost": int(received["lost"]) if "lost" in received else None}


def drive_tcp(trial):
    return drive(trial, f"test=tcp congestion={trial.settings.congestion}")


def drive_udp(trial):
    return drive(trial, f"test=udp size={trial.settings.size} rate={UDP_RATE}")
