"""The state folder: what is up, who owns it, and the files of this one machine.

`state.json` is written before anything is made, so that whatever was made is found again after a
command was killed half-way.
"""
import contextlib
import fcntl
import json
import os
import pathlib

from failure import Failure
from processes import start_time

DEFAULT_PARENT = pathlib.Path("/run/orch-vm")
# In the order of their removal: as long as anything is there, the record is, too.
FILES = ("qemu.pid", "initramfs", "console.log", "qemu.log", "key", "key.pub", "host_key",
         "known_hosts", "topology.yaml", "state.json.new", "state.json")
KEYS = {"namespaces", "owner", "firmware", "complete"}


class State:
    def __init__(self, label, folder=None):
        self.label = label
        self.folder = pathlib.Path(folder).absolute() if folder else DEFAULT_PARENT / label
        self.file = self.folder / "state.json"
        self.pidfile = self.folder / "qemu.pid"
        self.image = self.folder / "initramfs"
        self.console = self.folder / "console.log"
        self.log = self.folder / "qemu.log"
        self.key = self.folder / "key"
        self.host_key = self.folder / "host_key"
        self.known_hosts = self.folder / "known_hosts"
        self.topology = self.folder / "topology.yaml"

    def read(self):
        """What was recorded; None when nothing is there."""
        try:
            record = json.loads(self.file.read_text())
        except FileNotFoundError:
            return None
        except ValueError:
            record = None
        if not isinstance(record, dict) or set(record) != KEYS:
            raise Failure(f"{self.file}: not a state file; remove it by hand")
        return record

    def write(self, **record):
        fresh = self.folder / "state.json.new"
        fresh.write_text(json.dumps(record) + "\n")
        fresh.replace(self.file)

    @contextlib.contextmanager
    def locked(self, make=False):
        """One command at a time; without `make`, yields False when there is no folder."""
        while True:
            if make:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                yield False
                return
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # the one before may have removed the folder in between
                if self.folder.exists() and os.path.samestat(os.fstat(descriptor),
                                                             os.stat(self.folder)):
                    yield True
                    return
            except BlockingIOError:
                raise Failure(f"{self.folder}: another 'vm' command is at work on it") from None
            finally:
                os.close(descriptor)

    def refuse_strangers(self):
        """The folder may have been named by hand: nobody's files are overwritten or removed."""
        found = set(os.listdir(self.folder)) - {"state.json.new"}
        if found:
            raise Failure(f"{self.folder}: holds {sorted(found)[0]}, which is not ours; "
                          "--state needs a new or an empty folder")

    def forget_beginning(self):
        """A record that was never put in place, by a command killed while it wrote it."""
        (self.folder / "state.json.new").unlink(missing_ok=True)

    def clear(self):
        for name in FILES:
            (self.folder / name).unlink(missing_ok=True)

    def remove_folder(self):
        """When it is empty, which it is not while something is up or somebody's files are in it."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()
        if self.folder.parent == DEFAULT_PARENT:
            with contextlib.suppress(OSError):
                DEFAULT_PARENT.rmdir()


def owner_of(pid):
    started = start_time(pid)
    if started is None:
        raise Failure(f"--owner {pid}: there is no such process")
    return {"pid": pid, "start": started}


def owner_is_gone(record):
    owner = record.get("owner")
    return bool(owner) and start_time(owner["pid"]) != owner["start"]
