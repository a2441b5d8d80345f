"""Debian's kernel, unpacked and not installed: an image that boots quickly, and a few modules.

The cache folder keeps the package, so that another list of modules needs no second download:

    linux-image-VERSION_....deb
    KEY/vmlinux, KEY/modules/...      KEY stands for the package and the list of modules
"""
import contextlib
import fcntl
import hashlib
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

from failure import Failure

META_PACKAGE = "linux-image-amd64"
MODULES = (
    "virtio_pci", "virtio_net",
    "sch_netem", "sch_tbf", "sch_htb", "sch_fq_codel", "sch_cake", "sch_ingress", "sch_fq",
    "sch_prio", "cls_fw", "cls_u32", "cls_matchall", "act_mirred", "act_police", "ifb",
    # libcrc32c asks the crypto layer for its crc32c by an alias, which no dependency shows
    "nf_tables", "libcrc32c", "crc32c_generic", "crc32c_intel",
    "nft_ct", "nft_limit", "nft_quota", "nft_nat", "nft_masq", "nft_redir", "nft_chain_nat",
    "nft_reject_inet", "nft_log", "nf_log_syslog",
    "nft_flow_offload", "nf_flow_table", "nf_flow_table_inet",
    "bridge", "veth", "tcp_bbr",
)
LAYOUT = "2"  # of a folder of parts; another one makes them anew
# Offsets of the x86 boot protocol's setup header (Documentation/arch/x86/boot.rst).
SETUP_SECTORS, PAYLOAD_OFFSET = 0x1F1, 0x248
COMMAND_SECONDS = 300


class Kernel:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.image = self.folder / "vmlinux"
        self.modules = self.folder / "modules"  # holds lib/modules/VERSION


def run(*argv, **options):
    try:
        return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True,
                              timeout=COMMAND_SECONDS, env=dict(os.environ, LC_ALL="C"),
                              **options).stdout.decode()
    except FileNotFoundError:
        raise Failure(f"'{argv[0]}' is missing: run scripts/deps test") from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise Failure(f"'{' '.join(argv)}' failed: {lines[-1]}") from None
    except subprocess.TimeoutExpired:
        raise Failure(f"'{' '.join(argv)}' took over {COMMAND_SECONDS} s") from None


def cache_folder():
    return pathlib.Path(os.environ.get("ORCH_VM_CACHE", "/var/cache/orch-vm"))


@contextlib.contextmanager
def locked(folder):
    """Two at once would download twice; the kernel frees the lock of one that was killed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def package_in(cache):
    found = sorted(cache.glob("linux-image-*_amd64.deb"))
    return found[-1] if found else None


def download(cache):
    """Fetches the package under another name first: a half one is never taken for whole."""
    shown = run("apt-cache", "depends", META_PACKAGE).splitlines()
    names = [line.split()[1] for line in shown if line.strip().startswith("Depends: linux-image-")]
    if not names:
        raise Failure(f"apt knows no {META_PACKAGE}: run apt-get update on an amd64 Debian")
    with tempfile.TemporaryDirectory(prefix="download-", dir=cache) as folder:
        try:
            run("apt-get", "-q", "download", names[0], cwd=folder)
        except Failure:  # lists older than the mirror name a version that is gone
            run("apt-get", "-q", "update")
            run("apt-get", "-q", "download", names[0], cwd=folder)
        package = package_in(pathlib.Path(folder))
        if not package:
            raise Failure(f"apt-get download {names[0]} left no package")
        return package.rename(cache / package.name)


def unpack_image(packed):
    """vmlinux out of a bzImage: an emulated CPU takes seconds to do the same at every boot."""
    start = (packed[SETUP_SECTORS] + 1) * 512
    offset, length = struct.unpack_from("<II", packed, PAYLOAD_OFFSET)
    payload = packed[start + offset:start + offset + length]
    try:
        image = lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(payload)
    except lzma.LZMAError as error:
        raise Failure(f"the kernel's image is not packed with xz: {error}") from None
    if image[:4] != b"\x7fELF":
        raise Failure("the kernel's image holds no ELF file")
    return image


def module_name(path):
    return pathlib.Path(path).name.removesuffix(".ko").replace("-", "_")


def closure(base, wanted):
    """Files of the wanted modules and of all that they depend on, relative to base."""
    needs = {}
    for line in (base / "modules.dep").read_text().splitlines():
        file, _, others = line.partition(":")
        needs[module_name(file)] = [file, *others.split()]
    built_in = {module_name(line) for line in (base / "modules.builtin").read_text().splitlines()}
    missing = [name for name in wanted if name not in needs and name not in built_in]
    if missing:
        raise Failure(f"this kernel has no module {', '.join(missing)}")
    return sorted({file for name in wanted for file in needs.get(name, [])})


def write_parts(package, folder):
    """Unpacks the package and keeps the parts that are used."""
    with tempfile.TemporaryDirectory(prefix="unpack-", dir=folder.parent) as whole:
        try:
            run("dpkg-deb", "--extract", str(package), whole)
        except Failure as failure:
            raise Failure(f"{failure}\nRemove {package} to download it anew.") from None
        base = next(pathlib.Path(whole, "lib/modules").iterdir())
        run("busybox", "depmod", "-b", whole, base.name)
        kept = folder / "modules/lib/modules" / base.name
        kept.mkdir(parents=True)
        for file in closure(base, MODULES) + ["modules.builtin"]:
            (kept / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(base / file, kept / file)
        packed = pathlib.Path(whole, "boot", f"vmlinuz-{base.name}").read_bytes()
        (folder / "vmlinux").write_bytes(unpack_image(packed))
    # once more for what was kept: its aliases are how the kernel asks for a module
    run("busybox", "depmod", "-b", str(folder / "modules"), kept.name)


def parts_name(package):
    recipe = " ".join((package.name, LAYOUT, *MODULES))
    return hashlib.sha256(recipe.encode()).hexdigest()[:16]


def clean(cache, *kept):
    """What an interrupted or an earlier fetch left."""
    for path in cache.iterdir():
        if path in kept:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix == ".deb":
            path.unlink()


def fetch():
    """The kernel, from the cache when that holds it; (kernel, whether it was downloaded)."""
    cache = cache_folder()
    try:
        cache.mkdir(mode=0o755, parents=True, exist_ok=True)
        with locked(cache):
            package = package_in(cache)
            downloaded = not package
            package = package or download(cache)
            parts = cache / parts_name(package)
            if not parts.exists():
                clean(cache, package)
                fresh = pathlib.Path(tempfile.mkdtemp(prefix="new-", dir=cache))
                write_parts(package, fresh)
                fresh.rename(parts)
            return Kernel(parts), downloaded
    except OSError as error:
        raise Failure(f"{cache}: {error.strerror}; ORCH_VM_CACHE names another folder") from None
