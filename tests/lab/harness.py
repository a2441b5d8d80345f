"""Running orch in labs: what every lab test needs. Standard library only; needs root.

The environment names the program: ORCH=/path/of/orch (meson sets it).
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

ORCH = os.environ["ORCH"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
UPLOAD_FOLDERS = ["/tmp", "/var/tmp", "/run", "/dev/shm", "/root"]


def topology_path(name):
    return str(SOURCE / "topologies" / name)


def write_topology(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text(text)
    return str(path)


class Run:
    """A finished `orch run`: status, output, errors and, when there is one, the run file."""

    def __init__(self, status, output, errors, path):
        self.status, self.output, self.errors, self.path = status, output, errors, path
        self.data = None
        if os.path.exists(path):
            with open(path) as file:
                self.data = json.load(file)

    def trials(self, **wanted):
        return [t for t in self.data["trials"] if all(t[k] == v for k, v in wanted.items())]


def orch(*arguments, timeout=120, **options):
    return subprocess.run([ORCH, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=timeout, **options)


def orch_as_nobody(folder, *arguments):
    """As orch(), for a user without rights. The build's folder may be root's own, so a copy runs."""
    os.chmod(folder, 0o755)
    program = shutil.copy(ORCH, folder)
    return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program,
                           *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=30)


def run_topology(path, *arguments, timeout=300):
    with tempfile.TemporaryDirectory(prefix="orch-test-") as folder:
        file = os.path.join(folder, "run.json")
        done = orch("run", path, "-o", file, *arguments, timeout=timeout)
        return Run(done.returncode, done.stdout, done.stderr, file)


def start_run(path, *arguments, env=None):
    """A run in the background, in a session of its own; end it by its pid."""
    return subprocess.Popen([ORCH, "run", path, *arguments], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **(env or {})}, start_new_session=True)


def wait_for(condition, seconds, what):
    """Polls until condition() is true and returns its value; fails after a deadline."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def agents(lab):
    """Pids of the agents inside a lab's namespaces (they run under their uploaded file's name)."""
    inside = {os.stat(f"/run/netns/{name}").st_ino for name in namespaces(lab)}
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            link = os.readlink(f"/proc/{entry.name}/exe").removesuffix(" (deleted)")
            space = os.stat(f"/proc/{entry.name}/ns/net").st_ino
        except OSError:
            continue
        if space in inside and re.search(r"/\.?orch-agent-[^/]*$", link):
            found.append(int(entry.name))
    return found


def alive(pids):
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def uploads():
    """Files that bootstrap may have left."""
    return {os.path.join(folder, name) for folder in UPLOAD_FOLDERS if os.path.isdir(folder)
            for name in os.listdir(folder) if re.match(r"\.?orch-agent", name)}


def namespaces(lab):
    """Namespaces of a lab by its topology's name."""
    output = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    return [line.split()[0] for line in output.splitlines() if line.startswith(f"orch-{lab}-")]
