"""Commands with a deadline, each in a process group of its own, ended by its id."""
import os
import selectors
import signal
import subprocess
import time

POLL_SECONDS = 0.01
LISTENING = "0A"  # the state's number in /proc/net/tcp
UNCONNECTED = "07"  # the state of a bound UDP socket


class Failure(Exception):
    """A trial that gave no figure; the text says why."""


class Process:
    """A started command: its output is kept, its end awaited only until a deadline."""

    alive = []

    def __init__(self, argv, keep_input=False):
        self.argv = argv
        self.text = b""
        self.child = subprocess.Popen(
            argv, stdin=subprocess.PIPE if keep_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.child.stdout, selectors.EVENT_READ)
        Process.alive.append(self)

    def read_some(self, deadline):
        """Takes what is there. False at the end of output; Failure at the deadline."""
        left = deadline - time.monotonic()
        if left <= 0 or not self.selector.select(left):
            raise Failure(f"{os.path.basename(self.argv[0])} did not end in time")
        part = os.read(self.child.stdout.fileno(), 65536)
        self.text += part
        return bool(part)

    def finish(self, deadline):
        """Waits for the end of output and of the process. Returns the output."""
        while self.read_some(deadline):
            pass
        try:
            self.child.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise Failure(f"{os.path.basename(self.argv[0])} did not end in time") from None
        return self.text.decode(errors="replace")

    def end(self):
        """Kills what is left of the group. The output so far stays readable."""
        if self not in Process.alive:
            return
        Process.alive.remove(self)
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        self.selector.close()
        self.child.stdout.close()
        if self.child.stdin:
            self.child.stdin.close()

    def output(self):
        return self.text.decode(errors="replace")


def end_all():
    for process in list(Process.alive):
        process.end()


def run(argv, seconds=10, text=None):
    """Runs a short command; its output, or Failure with what it said."""
    try:
        done = subprocess.run(argv, input=text, stdin=None if text else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
                              check=False)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(argv)}: did not end in {seconds} s") from None
    output = done.stdout.decode(errors="replace")
    if done.returncode:
        raise Failure(f"{' '.join(argv)}: {output.strip() or done.returncode}")
    return output


def is_bound(table, port, state):
    """Whether a text of /proc/net/{tcp,udp}{,6} shows the local port in that state."""
    for line in table.splitlines():
        fields = line.split()
        if len(fields) > 3 and fields[1].endswith(f":{port:04X}") and fields[3] == state:
            return True
    return False


def await_file(path, process, seconds=20):
    """Waits until a started process has made the file."""
    deadline = time.monotonic() + seconds
    while not os.path.exists(path):
        if process.child.poll() is not None:
            raise Failure(process.finish(time.monotonic() + 1).strip() or "it ended")
        if time.monotonic() > deadline:
            raise Failure(f"no {path} after {seconds} s")
        time.sleep(POLL_SECONDS)


def await_port(host, port, server, seconds=5, protocol="tcp"):
    """Waits until the port listens. Never by connecting: that uses up a one-shot server."""
    deadline = time.monotonic() + seconds
    state = LISTENING if protocol == "tcp" else UNCONNECTED
    files = [f"/proc/net/{protocol}", f"/proc/net/{protocol}6"]
    while not is_bound(host.read_files(files), port, state):
        if server.child.poll() is not None:
            raise Failure("the server ended: " + server.finish(time.monotonic() + 1).strip())
        if time.monotonic() > deadline:
            raise Failure(f"no server listens on port {port} after {seconds} s")
        time.sleep(POLL_SECONDS)
