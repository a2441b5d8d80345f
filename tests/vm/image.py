"""The router's whole system as one initramfs: busybox, dropbear, tc, nft and kernel modules.

The archive is written here, entry by entry (cpio "newc", Documentation/driver-api/early-userspace/
buffer-format.rst), so that no tree of files, no device node and no cpio program is needed.
"""
import os
import pathlib
import re
import shutil
import stat

from failure import Failure
from kernel import run

# Where each goes. tc and nft are the real ones: busybox has no nft and a tc without most qdiscs.
PROGRAMS = {"dropbear": "usr/sbin/dropbear", "tc": "sbin/tc", "nft": "usr/sbin/nft"}

RC = """#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /tmp
hostname router
modprobe -a virtio_pci virtio_net
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
{addresses}
[ ! -e /etc/rc.local ] || sh /etc/rc.local
"""

INITTAB = """::sysinit:/etc/rc
::respawn:/usr/sbin/dropbear -F -E -s -r /etc/dropbear/host_key
"""

SSH_PORT = 22


class Archive:
    """A cpio archive in the making; paths are relative to its root."""

    def __init__(self):
        self.data = bytearray()
        self.names = set()

    def add(self, path, mode, content=b""):
        if path in self.names:
            return
        folder = os.path.dirname(path)
        if folder:
            self.folder(folder)
        self.names.add(path)
        self._entry(path, mode, content)

    def _entry(self, path, mode, content):
        name = path.encode() + b"\0"
        fields = (len(self.names), mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
        self.data += b"070701" + b"".join(b"%08X" % field for field in fields) + name
        self.data += bytes(-len(self.data) % 4) + content
        self.data += bytes(-len(self.data) % 4)

    def folder(self, path, permissions=0o755):
        self.add(path, stat.S_IFDIR | permissions)

    def file(self, path, content, permissions=0o644):
        self.add(path, stat.S_IFREG | permissions, content)

    def text(self, path, text, permissions=0o644):
        self.file(path, text.encode(), permissions)

    def copy(self, path, source, permissions=0o644):
        self.file(path, pathlib.Path(source).read_bytes(), permissions)

    def link(self, path, target):
        self.add(path, stat.S_IFLNK | 0o777, target.encode())

    def finish(self):
        self._entry("TRAILER!!!", 0, b"")
        return bytes(self.data)


def find_program(name):
    found = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not found:
        raise Failure(f"'{name}' is missing: run scripts/deps test")
    return found


def ldd_words(program):
    try:
        return run("ldd", program)
    except Failure as failure:  # what ldd does for a static program
        return str(failure)


def libraries(program):
    """Path in the archive -> file, of the libraries that a program loads, the loader included."""
    found = re.findall(r"(?:=> )?(/\S+) \(0x", ldd_words(program))
    return {path.lstrip("/"): path for path in found}


def add_program(archive, name, path):
    program = find_program(name)
    archive.copy(path, program, 0o755)
    for library, source in libraries(program).items():
        archive.copy(library, source, 0o755)


def add_programs(archive, more):
    busybox = find_program("busybox")
    if "not a dynamic executable" not in ldd_words(busybox):
        raise Failure("busybox is not the static one: install busybox-static")
    archive.copy("bin/busybox", busybox, 0o755)
    for name, path in PROGRAMS.items():
        add_program(archive, name, path)
    for name in more:
        add_program(archive, name, f"usr/bin/{name}")
    for path in run(busybox, "--list-full").split():
        archive.link(path, "/bin/busybox")
    archive.link("init", "/bin/busybox")


def add_accounts(archive, authorized):
    archive.text("etc/passwd", "root:*:0:0:root:/root:/bin/sh\n")
    archive.text("etc/group", "root:x:0:\n")
    archive.text("etc/shells", "/bin/sh\n")
    archive.folder("root", 0o700)
    archive.folder("root/.ssh", 0o700)
    archive.text("root/.ssh/authorized_keys", authorized, 0o600)


def add_modules(archive, kernel):
    for folder, _, names in sorted(os.walk(kernel.modules)):
        for name in sorted(names):
            source = os.path.join(folder, name)
            archive.copy(os.path.relpath(source, kernel.modules), source)


def set_addresses(addresses):
    """Shell lines. Nobody else is on these links: finding duplicates would only cost a second."""
    lines = []
    for device, several in addresses.items():
        lines.append(f"echo 0 >/proc/sys/net/ipv6/conf/{device}/accept_dad")
        lines += [f"ip address add {address} dev {device}" for address in several]
        lines.append(f"ip link set {device} up")
    return "\n".join(lines)


def build(kernel, addresses, firmware, authorized, host_key, rc_local=None, programs=()):
    """The archive's bytes. addresses: {interface: [address/prefix]}; host_key: dropbear's file;
    rc_local: shell commands that end the boot, what makes one build differ from another;
    programs: names of programs of this machine that the router has as well."""
    archive = Archive()
    for folder in ("dev", "proc", "sys", "run", "var/run", "var/tmp", "var/log"):
        archive.folder(folder)
    archive.folder("tmp", 0o1777)
    add_programs(archive, programs)
    add_modules(archive, kernel)
    add_accounts(archive, authorized)
    archive.text("etc/rc", RC.format(addresses=set_addresses(addresses)), 0o755)
    archive.text("etc/inittab", INITTAB)
    archive.text("etc/os-release", f'ID=orch-vm\nPRETTY_NAME="{firmware}"\n')
    archive.file("etc/dropbear/host_key", host_key, 0o600)
    if rc_local is not None:
        archive.text("etc/rc.local", rc_local)
    return archive.finish()
