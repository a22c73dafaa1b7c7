"""What an emulated machine boots from: a Debian image for aarch64, and a disk with all that is carried in.

Both are kept outside the tree and made anew only when what they are made of has changed. The mirror is the one of this
machine's own apt, wheels come by this machine's own pip; inside, nothing is fetched.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from companion.lab.bench.install import LIST_SOURCES, PARTS, debian_among
from companion.lab.machine.emulator import PORT_NAME, Disks

SOURCE = Path(__file__).resolve().parents[3]
FORMER = "3a9083151b1c65afcfbd0ac52c9303d6f1123063"
"""Version 0.1.0, from which this one is an upgrade."""
FORMER_DATA = SOURCE / "tests" / "service" / "released" / "0.1.0.zip"
PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
GLIBC = (17, 24, 26, 27, 28, 31, 34, 35, 36)
"""Of manylinux tags that Debian 12 (glibc 2.36) and later accept."""
DISK_MIB, CARRIED_MIB = 4096, 768
BUILD_S = 6 * 3600.0
"""How long Debian may take to be unpacked: every script of its packages runs in an emulator, too."""
CARRIED = "/carried"
NOW = (*PARTS, "Makefile", ":!companion/lab")
"""What of this checkout is carried in: all that an installation needs."""
SYSTEM = (
    *("linux-image-arm64", "initramfs-tools", "zstd", "systemd", "systemd-sysv", "dbus", "udev", "kmod", "procps"),
    *("passwd", "e2fsprogs", "netbase"),
    *("iproute2", "sudo", "make", "ca-certificates"),
)
"""Of Debian, beside what install.sh wants."""
FIRST = {
    # All drivers of a kernel, each looked at by emulated programs, would take most of an hour.
    "etc/initramfs-tools/conf.d/drivers": "MODULES=list\n",
    "usr/share/initramfs-tools/modules.d/disk": "virtio_pci\nvirtio_mmio\nvirtio_blk\next4\n",
}
"""What lies there before the kernel is installed, which makes its initial file system."""
FILES = {
    "etc/fstab": f"/dev/vda / ext4 errors=remount-ro 0 1\nLABEL=carried {CARRIED} ext4 nofail 0 0\n",
    "etc/hostname": "igloo\n",
    "etc/hosts": "127.0.0.1\tlocalhost\n127.0.1.1\tigloo\n",
    "etc/apt/sources.list": "",
    "etc/machine-id": "uninitialized\n",
    "etc/systemd/network/house.network": "[Match]\nName=eth0\n[Network]\nDHCP=ipv4\n",
    # Of the machine's own units, not of ours: an emulator on a busy PC is slower than any board.
    "etc/systemd/system.conf.d/slow.conf": "[Manager]\nDefaultTimeoutStartSec=4h\nDefaultDeviceTimeoutSec=4h\n",
    "etc/systemd/system/machine-agent.service": (
        "[Unit]\nDescription=Runs what the host of this emulated machine asks for\n"
        f"RequiresMountsFor={CARRIED}\n"
        f"BindsTo=dev-virtio\\x2dports-{PORT_NAME}.device\nAfter=dev-virtio\\x2dports-{PORT_NAME}.device\n"
        "[Service]\nEnvironment=HOME=/root LANG=C.UTF-8\nExecStart=/usr/bin/python3 -u /carried/agent.py\n"
        "KillMode=process\n[Install]\nWantedBy=multi-user.target\n"
    ),
}
"""What is written into the image, by path."""


class BuildError(OSError):
    """An image could not be made."""


def packages_of(script: str) -> list[str]:
    """Return the packages that install.sh must have; what it merely wants is Raspberry Pi OS's."""
    found = re.search(r"^PACKAGES=\(([^)]+)\)", script, re.MULTILINE)
    if found is None:
        raise BuildError("install.sh names no packages.")
    return found[1].split()


def head() -> str:
    """Return the commit that is carried in: what is committed, not what merely lies in the checkout."""
    return run(["git", "-C", str(SOURCE), "rev-parse", "HEAD"]).strip()


def product() -> str:
    """Return a digest of what of the commit is carried in: a change of the lab, of tests or of papers is none of it."""
    listed = run(["git", "-C", str(SOURCE), "ls-tree", "-r", "HEAD", "--", *PARTS, "Makefile"])
    return _key([line for line in listed.splitlines() if "\tcompanion/lab/" not in line])


def packages() -> list[str]:
    """Return what of Debian is in an image."""
    return [*SYSTEM, *packages_of((SOURCE / "install.sh").read_text(encoding="utf-8"))]


def recipe(suite: str) -> str:
    """Return a digest of what an image is made of."""
    return _key([suite, *packages(), str(DISK_MIB), *(f"{path}\n{text}" for path, text in (FIRST | FILES).items())])


def image(suite: str, folder: Path) -> tuple[Path, Path, Path]:
    """Return kernel, initial file system and disk of a suite; they are made where they are not there yet."""
    made = folder / "vmlinuz", folder / "initrd", folder / "disk.raw"
    key = recipe(suite)
    if _is_made(folder / "image.json", key, made):
        return made
    if os.geteuid() != 0:
        raise BuildError("Making an image needs root: sudo make machine")
    root = folder / "root"
    clear(root)
    folder.mkdir(parents=True, exist_ok=True)
    emulated_programs()
    mirror = debian_among(run(list(LIST_SOURCES)))
    command = ["mmdebstrap", "--arch=arm64", "--variant=apt", "--mode=root", "--format=directory", "--quiet"]
    command += ['--aptopt=Apt::Install-Recommends "false"', f"--include={','.join(packages())}"]
    first = folder / "first"
    clear(first)
    _write(first, FIRST)
    command.append(f'--essential-hook=cp -r {shlex.quote(str(first))}/. "$1"')
    command += [suite, str(root), f"deb {mirror} {suite} main"]
    try:
        run(command, BUILD_S)
        _finish(root, made)
    except BaseException:
        clear(root)
        raise
    (folder / "image.json").write_text(json.dumps({"key": key}), encoding="utf-8")
    return made


def mounted_below(folder: Path, mounts: str) -> list[str]:
    """Return what is mounted in a folder or at it, the innermost first; ``mounts`` is the text of mountinfo."""
    places = [
        re.sub(r"\\([0-7]{3})", lambda sign: chr(int(sign[1], 8)), line.split()[4]) for line in mounts.splitlines()
    ]
    found = [place for place in places if Path(place) == folder or folder in Path(place).parents]
    return sorted(found, key=len, reverse=True)


def clear(folder: Path) -> None:
    """Take a folder away, and nothing that is mounted in it.

    A build that was killed leaves this machine's own /dev/shm mounted in there: it is unmounted first.

    :raises BuildError: when something cannot be unmounted; then nothing is taken away.
    """
    folder = folder.resolve()
    for place in mounted_below(folder, Path("/proc/self/mountinfo").read_text(encoding="utf-8")):
        run(["umount", place])
    if folder.exists():
        run(["rm", "-rf", "--one-file-system", str(folder)], 1800)


def _finish(root: Path, made: tuple[Path, Path, Path]) -> None:
    """Write our files into a system, take its kernel out, and make a disk of it; the folder is gone afterwards."""
    _write(root, FILES)
    for others in (root / "etc/apt/sources.list.d").glob("*"):
        others.unlink()
    (root / CARRIED.lstrip("/")).mkdir(exist_ok=True)
    run(["systemctl", f"--root={root}", "enable", "--quiet", "machine-agent.service", "systemd-networkd.service"])
    for name, place in (("vmlinuz", made[0]), ("initrd.img", made[1])):
        shutil.copy(root / name, place)
    disk(made[2], root, DISK_MIB, "root")
    clear(root)


def _write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def carried(suite: str, folder: Path) -> Path:
    """Return the disk with this checkout, the former version, data of then, wheels for both, and the agent."""
    made = folder / "carried.raw"
    agent = Path(__file__).with_name("agent.py")
    key = _key([suite, product(), FORMER, str(CARRIED_MIB), agent.read_text(encoding="utf-8")])
    if _is_made(folder / "carried.json", key, (made,)):
        return made
    inside = folder / "carried"
    clear(inside)
    inside.mkdir(parents=True)
    for name, what in (("now", ["HEAD", "--", *NOW]), ("then", [FORMER])):
        (inside / name).mkdir()
        tar = folder / f"{name}.tar"
        run(["git", "-C", str(SOURCE), "archive", "--output", str(tar), *what])
        run(["tar", "-C", str(inside / name), "-xf", str(tar)])
        tar.unlink()
        wheels(inside / name / "requirements.txt", PYTHONS[suite], folder / "wheels")
    shutil.copytree(folder / "wheels", inside / "wheels")
    with zipfile.ZipFile(FORMER_DATA) as archive:
        archive.extractall(inside / "data", [name for name in archive.namelist() if name.startswith("data/")])
    shutil.copy(agent, inside / "agent.py")
    disk(made, inside, CARRIED_MIB, "carried")
    clear(inside)
    (folder / "carried.json").write_text(json.dumps({"key": key}), encoding="utf-8")
    return made


def wheels(lock: Path, python: str, folder: Path) -> None:
    """Have pip fetch what a lock names, as wheels for aarch64; each file is checked against the lock's hashes."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--only-binary=:all:",
        "--no-deps",
        "--require-hashes",
    ]
    command += [f"--platform=manylinux_2_{minor}_aarch64" for minor in GLIBC]
    command += ["--platform=manylinux2014_aarch64", f"--python-version={python}", "--implementation=cp"]
    run([*command, "--requirement", str(lock), "--dest", str(folder)], 1800)


def disk(place: Path, content: Path, mib: int, label: str) -> None:
    """Make an ext4 with the files of a folder; nothing is mounted for it."""
    place.unlink(missing_ok=True)
    run(["mke2fs", "-q", "-t", "ext4", "-L", label, "-d", str(content), str(place), f"{mib}M"], 1800)


def disks(suite: str, cache: Path, name: str, *, afresh: bool) -> Disks:
    """Return what machine ``name`` boots from: a copy of the image of its own, new where it is to begin afresh."""
    kernel, initrd, base = image(suite, cache / suite)
    payload = carried(suite, cache / suite)
    own = cache / suite / name
    own.mkdir(parents=True, exist_ok=True)
    for source, copy in ((base, own / "disk.raw"), (payload, own / "carried.raw")):
        if afresh or not copy.exists():
            run(["cp", "--sparse=always", "--reflink=auto", str(source), str(copy)], 600)
    return Disks(kernel, initrd, own / "disk.raw", own / "carried.raw")


def emulated_programs() -> None:
    """See to it that this kernel runs programs for aarch64, as Debian's qemu-user-static describes it.

    :raises BuildError: when that description is missing or the kernel refuses it.
    """
    kinds = Path("/proc/sys/fs/binfmt_misc")
    if os.uname().machine == "aarch64" or (kinds / "qemu-aarch64").exists():
        return
    if not (kinds / "register").exists():
        run(["mount", "-t", "binfmt_misc", "binfmt_misc", str(kinds)])
    try:
        told = Path("/usr/lib/binfmt.d/qemu-aarch64.conf").read_text(encoding="utf-8")
        (kinds / "register").write_text(told, encoding="utf-8")
    except OSError as error:
        raise BuildError(f"This kernel does not take programs for aarch64: {error}") from error


def run(command: list[str], seconds: float = 300) -> str:
    """Run a command of this host and return what it printed.

    :raises BuildError: with its last line, when it fails or takes too long.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{command[0]}: {error}") from error
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        raise BuildError(f"{command[0]}: {words}")
    return done.stdout


def _key(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _is_made(note: Path, key: str, files: tuple[Path, ...]) -> bool:
    if not note.exists() or not all(path.exists() for path in files):
        return False
    return bool(json.loads(note.read_text(encoding="utf-8")).get("key") == key)
