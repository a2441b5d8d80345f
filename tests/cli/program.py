"""Running orch without any host: what every test of the command line needs.

The environment names the program: ORCH=/path/of/orch (meson sets it).
"""
import os
import pathlib
import pty
import subprocess
import unicodedata
import unittest

ORCH = os.environ["ORCH"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
TOPOLOGIES = SOURCE / "topologies"
PUBLISHED = SOURCE / "reports" / "examples" / "published-home-router.json"
SECONDS = 60


def environment(**changes):
    """A locale and a terminal of our own; None takes a variable away."""
    result = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm")
    result.pop("NO_COLOR", None)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def orch(*arguments, stdout=subprocess.PIPE, **changes):
    return subprocess.run([ORCH, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, encoding="utf-8", timeout=SECONDS,
                          env=environment(**changes))


def orch_on_terminal(*arguments, **changes):
    """What orch prints when its output is a terminal."""
    own, its = pty.openpty()
    with subprocess.Popen([ORCH, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=its,
                          stderr=subprocess.DEVNULL, env=environment(**changes)) as process:
        os.close(its)
        text = b""
        while True:
            try:
                piece = os.read(own, 65536)
            except OSError:  # the other side is closed
                piece = b""
            if not piece:
                break
            text += piece
        os.close(own)
        process.wait(SECONDS)
    return text.decode("utf-8").replace("\r\n", "\n")


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class CommandTest(unittest.TestCase):
    maxDiff = None

    def assert_fits(self, text, width=80):
        for line in text.splitlines():
            self.assertLessEqual(columns(line), width, line)
            self.assertEqual(line, line.rstrip())

    def assert_refused(self, arguments, message, status=4):
        """Nothing on stdout, this first line on stderr, this status."""
        done = orch(*arguments)
        self.assertEqual(done.stderr.splitlines()[:1], [message], done.stderr)
        self.assertEqual((done.returncode, done.stdout), (status, ""))
        return done
