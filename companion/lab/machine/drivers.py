"""Kernel modules that Debian's kernels for aarch64 are without, built on this host from Debian's own sources.

Headers, sources and the kernel's build programs are those of the image's very kernel, fetched by apt into a folder of
their own; this host's packages stay as they are. The compiler is this host's for aarch64.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import zlib
from pathlib import Path

from companion.lab.bench.install import LIST_SOURCES, debian_among
from companion.lab.machine.channel import CommandChannel
from companion.lab.machine.image import BuildError, run

COMPILER = "aarch64-linux-gnu-gcc"
BUILD_S = 3600.0
PIECE = 60_000
"""So many characters fit into one argument of a program inside."""
SOURCES = ("drivers/gpio/gpio-sim.c", "drivers/gpio/gpiolib.h", "kernel/irq/irq_sim.c")
"""Of the kernel: simulated pins, and the interrupts that they need."""
PINS = "obj-m := gpio-sim.o\ngpio-sim-objs := pins.o irq_sim.o\n"
# The kernel itself has what turns a number into its interrupt; modules have this.
UNEXPORTED, EXPORTED = "handle_simple_irq(irq_to_desc(irqnum))", "generic_handle_irq(irqnum)"


def apt_options(suite: str, folder: Path, mirror: str) -> dict[str, str]:
    """Return the environment of an apt of its own, for packages of aarch64 and of this host; its files are made."""
    for name in ("lists/partial", "archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(f"deb {mirror} {suite} main\n", encoding="utf-8")
    own = run(["dpkg", "--print-architecture"]).strip()
    told = [
        'APT::Architecture "arm64";',
        f'APT::Architectures {{ "arm64"; "{own}"; }};',
        f'Dir::State::lists "{folder}/lists";',
        f'Dir::State::status "{folder}/status";',
        f'Dir::Cache::archives "{folder}/archives";',
        'Dir::Cache::pkgcache "";',
        'Dir::Cache::srcpkgcache "";',
        f'Dir::Etc::sourcelist "{folder}/sources.list";',
        'Dir::Etc::sourceparts "-";',
        'APT::Sandbox::User "root";',
    ]
    (folder / "apt.conf").write_text("\n".join(told) + "\n", encoding="utf-8")
    return os.environ | {"APT_CONFIG": str(folder / "apt.conf")}


def wanted(shown: str, own: str) -> tuple[str, list[str]]:
    """Return the version of a kernel's headers, and what else must be fetched, from what apt-cache shows of them.

    ``own``: this host's architecture, of which the build programs are.

    :raises BuildError: when it shows no headers.
    """
    version = re.search(r"^Version: (\S+)$", shown, re.MULTILINE)
    depends = re.search(r"^Depends: (.*)$", shown, re.MULTILINE)
    if version is None or depends is None:
        raise BuildError("The image's kernel is no longer in the archive: sudo make machine MACHINE_ARGS=--again")
    names = re.findall(r"(linux-headers-\S+-common\S*|linux-kbuild-\S+)", depends[1])
    return version[1], [f"{name}:{own}" if "kbuild" in name else name for name in names]


def drivers(suite: str, folder: Path, kernel: str) -> dict[str, Path]:
    """Return v4l2loopback and gpio-sim for a kernel (``uname -r``), as modules; built where they are not there yet.

    :raises BuildError: when a package cannot be had, or a module is not built.
    """
    made = {name: folder / f"{name}-{kernel}.ko" for name in ("v4l2loopback", "gpio-sim")}
    if all(path.exists() for path in made.values()):
        return made
    folder.mkdir(parents=True, exist_ok=True)
    environment = apt_options(suite, folder, debian_among(run(list(LIST_SOURCES))))
    _do(["apt-get", "update", "-q"], folder, environment)
    headers = f"linux-headers-{kernel}"
    version, others = wanted(_do(["apt-cache", "show", headers], folder, environment), _own())
    sources = _do(["apt-cache", "search", "--names-only", r"^linux-source-[0-9.]+$"], folder, environment).split()[0]
    names = [headers, *others, sources]
    unpacked = folder / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    packages = folder / "packages"
    packages.mkdir(exist_ok=True)
    _do(["apt-get", "download", "-q", *(f"{n}={version}" for n in names), "v4l2loopback-dkms"], packages, environment)
    for package in packages.glob("*.deb"):
        run(["dpkg", "-x", str(package), str(unpacked)], 600)
        package.unlink()
    tree = unpacked / "usr" / "src"
    place = tree / headers / "Makefile"
    place.write_text(place.read_text(encoding="utf-8").replace("/usr/src/", f"{tree}/"), encoding="utf-8")
    camera, pins = folder / "camera", folder / "pins"
    for work in (camera, pins):
        shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(next(tree.glob("v4l2loopback-*")), camera)
    (camera / "Makefile").unlink()
    (camera / "Kbuild").write_text("obj-m := v4l2loopback.o\n", encoding="utf-8")
    pins.mkdir()
    name = sources
    members = [f"{name}/{one}" for one in SOURCES]
    run(["tar", "-C", str(unpacked), "-xf", str(tree / f"{name}.tar.xz"), *members], 1800)
    for member in members:
        shutil.copy(unpacked / member, pins)
    (pins / "gpio-sim.c").rename(pins / "pins.c")
    interrupts = pins / "irq_sim.c"
    interrupts.write_text(interrupts.read_text(encoding="utf-8").replace(UNEXPORTED, EXPORTED), encoding="utf-8")
    (pins / "Kbuild").write_text(PINS, encoding="utf-8")
    for work, name in ((camera, "v4l2loopback"), (pins, "gpio-sim")):
        command = ["make", "-C", str(tree / headers), f"M={work}", "CROSS_COMPILE=aarch64-linux-gnu-", f"CC={COMPILER}"]
        run([*command, "modules"], BUILD_S)
        run(["aarch64-linux-gnu-strip", "-g", str(work / f"{name}.ko")])
        shutil.copy(work / f"{name}.ko", made[name])
        shutil.rmtree(work)
    shutil.rmtree(unpacked)
    return made


def put(channel: CommandChannel, data: bytes, place: str) -> None:
    """Write a file inside."""
    packed = base64.b64encode(zlib.compress(data)).decode("ascii")
    channel.check(f"mkdir -p $(dirname {place}); : > {place}.packed")
    for at in range(0, len(packed), PIECE):
        channel.check(f"printf %s '{packed[at : at + PIECE]}' >> {place}.packed")
    unpack = "import base64, sys, zlib; sys.stdout.buffer.write(zlib.decompress(base64.b64decode(sys.stdin.read())))"
    channel.check(f"python3 -c '{unpack}' < {place}.packed > {place} && rm {place}.packed")


def _own() -> str:
    return run(["dpkg", "--print-architecture"]).strip()


def _do(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    if done.returncode:
        raise BuildError(f"{' '.join(command[:2])}: {(done.stderr.strip() or 'no word').splitlines()[-1]}")
    return done.stdout
