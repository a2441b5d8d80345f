"""Plain sockets inside a lab's hosts: what a test compares orch's word with."""
import json
import subprocess
import sys

import harness
from harness import orch

RECEIVE = '''
import json, socket, sys, time
address, omit, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
listener = socket.socket(family)
listener.bind((address, 0))
listener.listen()
listener.settimeout(10)
print(listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
connection.settimeout(10)
start = time.monotonic() + omit if connection.recv(65536) else 0
while time.monotonic() < start:
    connection.recv(65536)
start, count = time.monotonic(), 0
while time.monotonic() < start + seconds:
    count += len(connection.recv(65536))
print(count * 8 / (time.monotonic() - start), flush=True)
'''

SEND = '''
import socket, sys
address, port, congestion = sys.argv[1], int(sys.argv[2]), sys.argv[3]
family = socket.AF_INET6 if ":" in address else socket.AF_INET
connection = socket.socket(family)
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
connection.settimeout(10)
connection.connect((address, port))
try:
    while True:
        connection.send(bytes(65536))
except OSError:
    pass
'''

COUNT_DATAGRAMS = '''
import socket, sys
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
receiver.bind((sys.argv[1], 0))
receiver.settimeout(10)
print(receiver.getsockname()[1], flush=True)
count = 0
while True:
    data = receiver.recv(2048)
    if data == b"end":
        break
    count += 1
print(count, flush=True)
'''

SEND_DATAGRAMS = '''
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect((sys.argv[1], int(sys.argv[2])))
for i in range(int(sys.argv[3])):
    sender.send(bytes(100))
for i in range(100):
    try:
        sender.send(b"end")
    except ConnectionRefusedError:
        break
'''

# 0: something answered (a refusal, too); else the errno's name.
REACH = '''
import errno, socket, sys
address = sys.argv[1]
connection = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
connection.settimeout(3)
try:
    connection.connect((address, 9))
except ConnectionRefusedError:
    print("reached")
except TimeoutError:
    print("timeout")
except OSError as failure:
    print(errno.errorcode[failure.errno])
'''


class Lab:
    """An `orch lab` that is up between up() and down()."""

    def __init__(self, path):
        self.path = path

    def up(self):
        done = orch("lab", "up", self.path)
        assert done.returncode == 0, done.stderr
        return self

    def down(self):
        done = orch("lab", "down", self.path)
        assert done.returncode == 0, done.stderr

    def argv(self, host, *command):
        return [harness.ORCH, "lab", "exec", self.path, host, "--", *command]

    def run(self, host, *command):
        return subprocess.run(self.argv(host, *command), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=True).stdout

    def python(self, host, code, *arguments):
        return self.run(host, sys.executable, "-c", code, *map(str, arguments)).strip()

    def start(self, host, code, *arguments):
        return subprocess.Popen(self.argv(host, sys.executable, "-c", code, *map(str, arguments)),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def addresses(self, host, interface):
        """The global addresses of an interface, by the kernel's word."""
        shown = json.loads(self.run(host, "ip", "-j", "address", "show", "dev", interface))
        return [a["local"] for link in shown for a in link.get("addr_info", [])
                if a["scope"] == "global"]

    def address(self, host, interface):
        return next(a for a in self.addresses(host, interface) if ":" not in a)

    def reach(self, host, address):
        return self.python(host, REACH, address)

    def goodput(self, sender, receiver, address, seconds=1.0, congestion="cubic"):
        """bit/s of one TCP connection to the receiver's address, after 0.3 s of omitted time."""
        listener = self.start(receiver, RECEIVE, address, 0.3, seconds)
        port = int(listener.stdout.readline())
        source = self.start(sender, SEND, address, port, congestion)
        rate = float(listener.stdout.readline())
        for process in (listener, source):
            process.communicate(timeout=20)
        return rate

    def datagrams(self, sender, receiver, address, count):
        """How many of `count` datagrams arrive."""
        listener = self.start(receiver, COUNT_DATAGRAMS, address)
        port = int(listener.stdout.readline())
        self.python(sender, SEND_DATAGRAMS, address, port, count)
        arrived = int(listener.stdout.readline())
        listener.communicate(timeout=20)
        return arrived


def process_start(pid):
    """Field 22 of /proc/PID/stat, which tells a process from a later one of the same number."""
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[19])
