"""Finding and ending processes that an earlier command started."""
import os
import pathlib
import select
import signal
import time

END_SECONDS = 5


def start_time(pid):
    """Field 22 of /proc/PID/stat, which tells a process from a later one of the same number."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def with_arguments(*wanted):
    """Pids of the processes that have these arguments, one after the other."""
    needle = b"\0" + b"\0".join(word.encode() for word in wanted) + b"\0"
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and needle in pathlib.Path("/proc", name, "cmdline").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found


def end_processes(pids, first=signal.SIGTERM):
    """Ends them and returns when they have ended; SIGKILL for those that take too long."""
    handles = []
    for pid in pids:
        try:
            handles.append(os.pidfd_open(pid))
        except ProcessLookupError:
            continue
    for number in dict.fromkeys((first, signal.SIGKILL)):
        for handle in handles:
            try:
                signal.pidfd_send_signal(handle, number)
            except ProcessLookupError:
                continue
        deadline = time.monotonic() + END_SECONDS
        waiting = list(handles)
        while waiting and time.monotonic() < deadline:
            for ended in select.select(waiting, [], [], deadline - time.monotonic())[0]:
                waiting.remove(ended)
        if not waiting:
            break
    for handle in handles:
        os.close(handle)
