"""Where a command runs: in a network namespace of this machine, or on a machine of its own."""
import itertools
import os
import re
import shlex
import shutil

from . import processes


class NamespaceHost:
    """A network namespace. It shares CPUs, files and processes with this machine."""

    own_cpu = False
    nice = 0  # of all commands; below 0 where others load the machine

    def __init__(self, namespace, address, name, sessions=()):
        """sessions: of processes that work for this host besides the tools, as an emulator does."""
        self.namespace, self.address, self.name = namespace, address, name
        self.sessions = set(sessions)
        self.entered = ["ip", "netns", "exec", namespace]

    def start(self, argv, cpu=None, keep_input=False):
        """Starts a command, on one CPU when cpu is its number."""
        pinned = ["taskset", "-c", str(cpu)] if cpu is not None else []
        return processes.Process([*self.entered, *self.niced(), *pinned, *argv], keep_input)

    def niced(self):
        """Where the kernel groups sessions, a process's own priority counts within its session
        only: the group's must be set too."""
        if not self.nice:
            return []
        group = f"echo {self.nice} 2>/dev/null >/proc/self/autogroup"
        return ["sh", "-c", f'({group}) 2>/dev/null; exec nice -n {self.nice} "$@"', "sh"]

    def read_files(self, paths):
        """The texts of files one after the other; those that are not there are left out."""
        return processes.run([*self.entered, "sh", "-c", 'cat "$@" 2>/dev/null; true', "sh",
                              *paths])

    def has(self, program):
        return shutil.which(program) is not None

    def put(self, path):
        """The file's path on the host, which has it afterwards."""
        return os.path.abspath(path)

    def end(self, process):
        process.end()


class ShellHost:
    """A machine that is reached by an argv that takes a shell command, as `ssh ... HOST` does.

    It has CPUs of its own (own_cpu) and no taskset. A tool that it lacks is brought there with its
    libraries, if it runs programs of this machine's kind.
    """

    own_cpu = True
    numbers = itertools.count(1)

    def __init__(self, shell, address, name, folder="/tmp"):
        self.shell, self.address, self.name = shell, address, name
        self.sessions = set()
        self.folder = f"{folder}/bench-{os.getpid()}"
        self.running = {}  # process: file that holds its id there
        self.brought = {}  # program: the argv that starts it there, or None

    def say(self, command, seconds=10, text=None):
        return processes.run([*self.shell, command], seconds, text)

    def start(self, argv, cpu=None, keep_input=False):
        # A client that is killed leaves its command running: that is ended by its own id.
        note = f"{self.folder}/{next(self.numbers)}.pid"
        program = self.brought.get(argv[0]) or [argv[0]]
        command = (f"mkdir -p {self.folder}; echo $$ >{note}; "
                   f"exec {shlex.join([*program, *argv[1:]])}")
        process = processes.Process([*self.shell, command], keep_input)
        self.running[process] = note
        return process

    def read_files(self, paths):
        return self.say(f"cat {shlex.join(paths)} 2>/dev/null; true")

    def has(self, program):
        if program not in self.brought:
            there = self.say(f"command -v {shlex.quote(program)} || true").strip()
            self.brought[program] = [program] if there else self.bring(program)
        return self.brought[program] is not None

    def bring(self, program):
        """Copies a program and what it is linked with; None when that cannot work."""
        path = shutil.which(program)
        if not path or self.say("uname -m").strip() != os.uname().machine:
            return None
        try:
            linked = re.findall(r"(/\S+) \(0x", processes.run(["ldd", path]))
        except processes.Failure:
            return None
        loader = [file for file in linked if os.path.basename(file).startswith("ld-linux")]
        there = {file: self.put(file) for file in [path, *linked]}
        return [there[loader[0]], "--library-path", self.folder, there[path]] if loader else None

    def put(self, path):
        there = f"{self.folder}/{os.path.basename(path)}"
        if path not in self.brought:
            with open(path, "rb") as file:
                self.say(f"mkdir -p {self.folder} && cat >{there} && chmod 700 {there}", 60,
                         file.read())
            self.brought[path] = [there]
        return there

    def end(self, process):
        note = self.running.pop(process, None)
        if note and process in processes.Process.alive:
            try:
                self.say(f"kill -9 $(cat {note}) 2>/dev/null; rm -f {note}")
            except processes.Failure:
                pass  # the machine is gone, and the command with it
        process.end()
