"""Commands with a deadline and a log, and what a suite found out."""

import os
import re
import signal
import subprocess
from dataclasses import dataclass, field


@dataclass
class Outcome:
    """What one suite found: cases by result, and the text that explains the failed ones."""

    passed: int = 0
    failed: int = 0
    details: list = field(default_factory=list)

    def check(self, holds, detail):
        """Counts one case; detail explains it when it does not hold."""
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            self.details.append(detail)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.details += other.details


def tail(path, lines=400):
    try:
        with open(path, errors="replace") as log:
            return "".join(log.readlines()[-lines:]).rstrip()
    except OSError as error:
        return str(error)


def end_group(process):
    """Asks the process group to end, so that it can take down what it made; then ends it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            continue


def run(argv, log, seconds, env=None):
    """Runs argv with its output in the file log. Returns its status (127 when there is no such
    program), or None past the deadline."""
    os.makedirs(os.path.dirname(log), exist_ok=True)
    with open(log, "wb") as output:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )
        except OSError as error:
            output.write(f"{error}\n".encode())
            return 127
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            end_group(process)
            return None
        except BaseException:
            end_group(process)
            raise


def explain(argv, log, status, seconds):
    """The detail of a command that failed: what it was, how it ended, and the lines of its log that
    name an error, as compilers do, or else its last words."""
    ended = f"did not end within {seconds} s" if status is None else f"ended with status {status}"
    said = tail(log)
    said = said[max(said.find("FAILED:"), 0) :]  # where ninja's other jobs end
    errors = [line for line in said.splitlines() if re.search(r":\d+: (fatal )?error: ", line)]
    return f"{' '.join(argv)}\n{ended}; from {log}:\n" + "\n".join(errors or said.splitlines()[-40:])
