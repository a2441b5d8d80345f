"""vm up|down|status|exec|fetch: arguments, order of the steps, messages and exit statuses."""
import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import image
import kernel
import machine
import network
import state as states
from failure import Failure
from kernel import run

TOPOLOGY = """# The emulated router between two namespaces, written by `vm up`; gone with `vm down`.
orch: 1
name: {label}-home
hosts:
  pc1: {{exec: [ip, netns, exec, {pc1}]}}
  router:
    ssh:
      host: {address}
      user: root
      identity: {state.key}
      known_hosts: {state.known_hosts}
      host_keys: strict
      proxy_command: {proxy}
    dut: true
  pc2: {{exec: [ip, netns, exec, {pc2}]}}
links:
  - {{name: wan, a: "pc1:eth0", b: "router:eth0"}}
  - {{name: lan, a: "router:eth1", b: "pc2:eth0"}}
path: [pc1, router, pc2]
trials: 3
tests:
  - tcp: {{duration: 3s}}
"""


def proxy_words(state):
    return network.inside(network.space_name(state.label, "pc1"), "busybox", "nc",
                          network.CABLES[0].router(), str(image.SSH_PORT))


def make_keys(state):
    """A key to log in with and the host's own, which is thus known before the first login."""
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "orch-vm", "-f", str(state.key))
    shown = run("dropbearkey", "-t", "ed25519", "-f", str(state.host_key))
    public = next(line for line in shown.splitlines() if line.startswith("ssh-ed25519 "))
    state.known_hosts.write_text(
        f"{network.CABLES[0].router()} {' '.join(public.split()[:2])}\n")


def write_files(state, parts, arguments, rc_local):
    make_keys(state)
    addresses = {cable.port: cable.at(1) for cable in network.CABLES}
    state.image.write_bytes(image.build(
        parts, addresses, arguments.firmware, (state.folder / "key.pub").read_text(),
        state.host_key.read_bytes(), rc_local, arguments.program))
    state.topology.write_text(TOPOLOGY.format(
        label=state.label, state=state, address=network.CABLES[0].router(),
        pc1=network.space_name(state.label, "pc1"), pc2=network.space_name(state.label, "pc2"),
        proxy=shlex.join(proxy_words(state))))


def take_down(state, record):
    machine.end(state)
    for space in record["namespaces"]:
        network.remove(space)
    state.clear()


def reclaim(state):
    """Takes down what a killed command or owner left; refuses what is in use."""
    record = state.read()
    if record is None:
        state.refuse_strangers()
        return
    if record["complete"] and machine.pids(state) and not states.owner_is_gone(record):
        owner = record["owner"]
        whose = f" for process {owner['pid']}" if owner else ""
        raise Failure(f"{state.label}: is up already{whose}; end it with 'vm down' first")
    take_down(state, record)


def refuse_namespaces(state):
    for space in network.space_names(state.label):
        if network.exists(space):
            raise Failure(f"namespace {space} is there, and {state.folder} does not know it: "
                          "take --name, or remove it with 'ip netns delete'")


def boot(state, parts, arguments, rc_local):
    """Seconds until its SSH server answered."""
    write_files(state, parts, arguments, rc_local)
    taps = []
    try:
        for cable in network.CABLES:
            taps.append(network.make(state.label, cable))
        process = machine.start(state, parts, taps, arguments.offloads == "on")
    finally:
        for tap in taps:
            os.close(tap)
    return machine.wait_until_up(state, process, network.space_name(state.label, "pc1"),
                                 arguments.boot_seconds)


def up(state, arguments):
    began = time.monotonic()
    rc_local = arguments.rc.read() if arguments.rc else None
    owner = states.owner_of(arguments.owner) if arguments.owner else None
    parts, _ = kernel.fetch()
    with state.locked(make=True):
        try:
            reclaim(state)
            refuse_namespaces(state)
        except Failure:
            state.remove_folder()
            raise
        record = {"namespaces": network.space_names(state.label), "owner": owner,
                  "firmware": arguments.firmware}
        state.write(complete=False, **record)
        try:
            booted = boot(state, parts, arguments, rc_local)
        except BaseException:
            take_down(state, record)
            state.remove_folder()
            raise
        state.write(complete=True, **record)
    print(f"{state.label}: up in {time.monotonic() - began:.1f} s, {booted:.1f} s of it booting\n"
          f"{state.topology}")
    return 0


def down(state, _):
    with state.locked() as there:
        record = state.read() if there else None
        if record is not None:
            take_down(state, record)
        if there:
            state.forget_beginning()
            state.remove_folder()
    return 0


def status(state, _):
    record = state.read()
    if record is None:
        print(f"{state.label}: down")
        return 1
    space = network.space_name(state.label, "pc1")
    if not record["complete"] or not machine.pids(state) or states.owner_is_gone(record):
        print(f"{state.label}: left over; 'vm up' or 'vm down' cleans up")
        return 1
    answers = machine.answers(space, network.CABLES[0].router())
    print(f"{state.label}: {'up' if answers else 'up, but its SSH does not answer'}, "
          f"firmware {record['firmware']}\n{state.topology}")
    return 0 if answers else 1


def execute(state, arguments):
    """Runs a command on the router or a PC; its status is ours."""
    if state.read() is None:
        raise Failure(f"{state.label}: is down; 'vm up' first")
    if arguments.host == "router":
        argv = ["ssh", "-F", "none", "-T", "-o", "BatchMode=yes", "-i", str(state.key),
                "-o", "IdentitiesOnly=yes", "-o", f"UserKnownHostsFile={state.known_hosts}",
                "-o", "StrictHostKeyChecking=yes", "-o", "LogLevel=ERROR",
                "-o", f"ProxyCommand={shlex.join(proxy_words(state))}",
                f"root@{network.CABLES[0].router()}", shlex.join(arguments.command)]
    else:
        argv = network.inside(network.space_name(state.label, arguments.host), *arguments.command)
    return subprocess.run(argv).returncode


def fetch(_state, _):
    parts, downloaded = kernel.fetch()
    print(f"{'downloaded' if downloaded else 'in the cache'}: {parts.folder}")
    return 0


def label(text):
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not 1 to 32 of a-z 0-9 -")
    return text


def firmware(text):
    if not re.fullmatch(r"[A-Za-z0-9 ._+:/()-]{1,120}", text):
        raise argparse.ArgumentTypeError("needs 1 to 120 letters, digits, blanks or ._+:/()-")
    return text


def seconds(text):
    value = float(text)
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and at most 3600")
    return value


def program(text):
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not the name of a program")
    return text


def add_up_options(parser):
    parser.add_argument("--firmware", type=firmware, default="orch-vm 1",
                        help="what the router says its firmware is")
    parser.add_argument("--rc", type=argparse.FileType(), metavar="FILE",
                        help="shell commands that end its boot (/sbin/tc, nft, sysctl, ...)")
    parser.add_argument("--program", type=program, action="append", default=[], metavar="NAME",
                        help="a program of this machine that the router has as well; repeatable")
    parser.add_argument("--offloads", choices=["on", "off"], default="on",
                        help="segmentation and checksums by its ports; default on")
    parser.add_argument("--owner", type=int, metavar="PID",
                        help="left over, for the next 'vm up', once this process has ended")
    parser.add_argument("--boot-seconds", type=seconds, default=120, metavar="S",
                        help="how long to wait for its SSH server; default 120")


def parse(words):
    parser = argparse.ArgumentParser(prog="vm", description=__doc__)
    parser.set_defaults(host=None)
    commands = parser.add_subparsers(dest="verb", required=True,
                                     metavar="up|down|status|exec|fetch")
    for name, function in (("up", up), ("down", down), ("status", status), ("exec", execute),
                           ("fetch", fetch)):
        one = commands.add_parser(name)
        one.set_defaults(function=function)
        one.add_argument("--name", type=label, default="vm",
                         help="its namespaces are orch-NAME-pc1 and orch-NAME-pc2")
        one.add_argument("--state", metavar="DIR", help="default /run/orch-vm/NAME")
        if name == "up":
            add_up_options(one)
        if name == "exec":
            one.add_argument("host", choices=["pc1", "router", "pc2"])
            one.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args(words)
    if arguments.verb == "exec":
        if arguments.command[:1] == ["--"]:
            arguments.command = arguments.command[1:]
        if not arguments.command:
            parser.error("exec needs a command: vm exec router -- tc qdisc")
    return arguments


def interrupt(number, _):
    sys.exit(128 + number)


def main(words):
    arguments = parse(words)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        if os.geteuid() != 0 and arguments.function is not fetch:
            raise Failure("root is needed for namespaces and taps: run with sudo")
        return arguments.function(states.State(arguments.name, arguments.state), arguments)
    except Failure as failure:
        print(f"vm: {failure}", file=sys.stderr)
        return 4
