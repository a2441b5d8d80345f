"""Where a command runs: in a network namespace of this machine, or on a machine of its own."""
import itertools
import os
import shlex
import shutil

from . import processes


class NamespaceHost:
    """A network namespace. It shares CPUs, files and processes with this machine."""

    own_cpu = False
    nice = 0  # of all commands; below 0 where others load the machine

    def __init__(self, namespace, address, name):
        self.namespace, self.address, self.name = namespace, address, name
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

    It has CPUs of its own (own_cpu), no taskset, and tools only where somebody put them.
    """

    own_cpu = True
    numbers = itertools.count(1)

    def __init__(self, shell, address, name, folder="/tmp"):
        self.shell, self.address, self.name, self.folder = shell, address, name, folder
        self.running = {}
        self.files = {}

    def start(self, argv, cpu=None, keep_input=False):
        # A client that is killed leaves its command running: that is ended by its own id.
        note = f"{self.folder}/bench-{os.getpid()}-{next(self.numbers)}.pid"
        command = f"echo $$ >{note}; exec {shlex.join(argv)}"
        process = processes.Process([*self.shell, command], keep_input)
        self.running[process] = note
        return process

    def read_files(self, paths):
        return processes.run([*self.shell, f"cat {shlex.join(paths)} 2>/dev/null; true"])

    def has(self, program):
        found = f"command -v {shlex.quote(program)} >/dev/null && echo yes; true"
        return "yes" in processes.run([*self.shell, found])

    def put(self, path):
        if path not in self.files:
            there = f"{self.folder}/bench-{os.getpid()}-{os.path.basename(path)}"
            with open(path, "rb") as file:
                processes.run([*self.shell, f"cat >{there} && chmod 700 {there}"], 60,
                              file.read())
            self.files[path] = there
        return self.files[path]

    def end(self, process):
        note = self.running.pop(process, None)
        if note and process in processes.Process.alive:
            try:
                processes.run([*self.shell, f"kill -9 $(cat {note}) 2>/dev/null; rm -f {note}"])
            except processes.Failure:
                pass  # the machine is gone, and the command with it
        process.end()
