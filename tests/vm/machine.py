"""The emulated machine: starting it, waiting until its SSH server answers, ending it."""
import pathlib
import socket
import subprocess
import time

import network
from failure import Failure
from image import SSH_PORT, find_program
from processes import end_processes, with_arguments

MEMORY_MB = 192
CPU = "qemu64,+rdrand"  # a source of randomness: dropbear waits seconds for any other
# panic=-1 and -no-reboot: a kernel that cannot go on ends qemu, which is seen at once
KERNEL_WORDS = "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off rdinit=/init"
ATTEMPT_SECONDS = 0.25  # a guest that is not there yet answers nothing at all
CONSOLE_LINES = 15
# Without them every frame of 1514 bytes costs the emulated CPU its share, as on a router whose
# ports segment nothing; with them TCP crosses in pieces of up to 64 kB.
OFFLOADS = ("csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ecn", "guest_ufo",
            "host_tso4", "host_tso6", "host_ecn", "host_ufo", "mrg_rxbuf")
BANNER = b"SSH-2.0-dropbear"


def command(state, kernel, taps, offloads):
    """Always TCG: the emulated CPU is the slow one that is wanted, and guests have been seen to
    hang with a /dev/kvm that is there but not whole."""
    argv = [find_program("qemu-system-x86_64"), "-machine", "q35", "-accel", "tcg", "-cpu", CPU,
            "-smp", "1", "-m", str(MEMORY_MB), "-nodefaults", "-no-user-config", "-display", "none",
            "-no-reboot", "-serial", f"file:{state.console}", "-kernel", str(kernel.image),
            "-initrd", str(state.image), "-append", KERNEL_WORDS, "-pidfile", str(state.pidfile)]
    switches = "" if offloads else "".join(f",{name}=off" for name in OFFLOADS)
    for number, (cable, tap) in enumerate(zip(network.CABLES, taps)):
        # no option ROM: nothing boots from the network
        argv += ["-netdev", f"tap,id=n{number},fd={tap}", "-device",
                 f"virtio-net-pci,netdev=n{number},mac={cable.port_mac},addr={number + 3},romfile="
                 + switches]
    return argv


def start(state, kernel, taps, offloads):
    with open(state.log, "wb") as log:
        return subprocess.Popen(command(state, kernel, taps, offloads), cwd=state.folder,
                                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=taps,
                                start_new_session=True)


def pids(state):
    return with_arguments("-pidfile", str(state.pidfile))


def end(state):
    end_processes(pids(state))


def answers(space, address):
    """Whether an SSH server greets there, asked once."""
    try:
        with network.Visit(space):
            connection = socket.socket()
        with connection:
            connection.settimeout(ATTEMPT_SECONDS)
            connection.connect((address, SSH_PORT))
            connection.settimeout(10)  # connected: it is only slow
            return connection.recv(64).startswith(BANNER)
    except OSError:
        return False


def last_words(path):
    path = pathlib.Path(path)
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return "".join(f"\n    {line.rstrip()}" for line in lines[-CONSOLE_LINES:])


def wait_until_up(state, process, space, seconds):
    """Seconds that it took; fails at the deadline, or at once when the machine ends."""
    start_of_wait = time.monotonic()
    address = network.CABLES[0].router()
    while not answers(space, address):
        status = process.poll()
        if status is not None:
            raise Failure(f"the emulated router ended with status {status}:"
                          + last_words(state.log) + last_words(state.console))
        if time.monotonic() - start_of_wait > seconds:
            raise Failure(f"the emulated router's SSH did not answer within {seconds:g} s; "
                          f"its console:{last_words(state.console)}")
    return time.monotonic() - start_of_wait
