"""Firmware images: built twice and compared, described in a manifest beside them.

The images are built by ``firmware/Makefile`` (one description of the build, for people and for us) with Debian's
``gcc-avr``. Whoever builds the same source with the same compiler gets the same bytes: every build is made a second
time in another folder, and an image that differs is refused.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from companion.flasher import uf2
from companion.flasher.errors import FirmwareError

__all__ = [
    "BAUDS",
    "PREBUILT",
    "SOURCE",
    "FirmwareError",
    "Image",
    "build",
    "find",
    "hex_bytes",
    "keep",
    "known",
    "prebuilt",
]

SOURCE = Path(__file__).resolve().parents[2] / "firmware"
"""The firmware's source in a checkout; a wheel does not carry it."""

PREBUILT = Path(__file__).with_name("prebuilt")
"""The images that come with the package, so that nobody needs a compiler; a test builds them again and compares."""

BAUDS = (250_000, 500_000, 1_000_000)
"""The line's rates; 500,000 is the protocol's default."""

FLASH_LIMIT = 30_720
"""Bytes of an ATmega328P that are free beside the largest boot loader in use (2 KiB)."""

RAM_LIMIT = 1_536
"""Bytes of static memory that leave the stack a quarter of the 2 KiB."""

PICO_LIMIT = 61_440
"""Bytes that program and variables of a Pico may take, of the 64 KiB that its linker script knows."""

MANIFEST = "images.json"
TOOLS = {
    "make": "make",
    "avr-gcc": "gcc-avr",
    "avr-objcopy": "binutils-avr",
    "avr-size": "binutils-avr",
    "arm-none-eabi-gcc": "gcc-arm-none-eabi",
    "arm-none-eabi-objcopy": "binutils-arm-none-eabi",
    "arm-none-eabi-size": "binutils-arm-none-eabi",
}


@dataclass(frozen=True, slots=True)
class Image:
    """One image for one chip.

    ``file`` is the name of the Intel HEX file (of a Pico: the UF2 file) in the build folder and ``sha256`` its digest;
    ``clock_hz`` and ``baud`` are compiled in. ``flash`` and ``ram`` are bytes (``ram`` without the stack; a Pico's
    program runs in it). ``compiler`` made it.
    """

    name: str
    chip: str
    clock_hz: int
    baud: int
    flash: int
    ram: int
    sha256: str
    file: str
    compiler: str


def build(baud: int = 500_000, *, source: Path | None = None) -> list[Image]:
    """Build the images for all boards, prove that a second build gives the same bytes, and return them.

    :raises FirmwareError: the source or a tool is missing, the build fails, two builds differ, or an image is too big
    """
    source = source or SOURCE
    if not (source / "Makefile").is_file():
        raise FirmwareError("The firmware's source is not here; build it in a checkout of the project.")
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            raise FirmwareError(f"{tool} is missing; on Debian it comes with the package {package}.")
    folder = source / "build"
    folder.mkdir(exist_ok=True)
    # Two copies of the source in folders of different names, so that a path that crept into an image shows. What
    # is finished then replaces the old file in one step: a bench that is loading it sees the one or the other.
    with tempfile.TemporaryDirectory(prefix="igloo-") as elsewhere:
        first = _make(source, Path(elsewhere) / "one", baud)
        second = _make(source, Path(elsewhere) / "quite" / "another", baud)
        for one, other in zip(first, second, strict=True):
            if one.read_bytes() != other.read_bytes():
                raise FirmwareError(f"Two builds of {one.name} differ, so it cannot be trusted.")
        images = [_describe(path, baud) for path in first if path.suffix in {".hex", ".uf2"}]
        for path in first:
            draft = folder / (path.name + ".new")
            shutil.copyfile(path, draft)
            draft.replace(folder / path.name)
    _remember(folder, images)
    return images


def known(*, source: Path | None = None) -> list[Image]:
    """Return the images built so far, in the order of their names; an empty list where none were.

    :raises FirmwareError: the manifest or an image is damaged, or an image is not the one that was built
    """
    return _checked((source or SOURCE) / "build", "is not the file that was built; build it again.")


def prebuilt() -> list[Image]:
    """Return the images that come with the package.

    :raises FirmwareError: one of them is missing or damaged
    """
    return _checked(PREBUILT, "of this installation is damaged; install the companion again.")


def _checked(folder: Path, otherwise: str) -> list[Image]:
    images = _recall(folder)
    for image in images:
        path = folder / image.file
        if not path.is_file() or _digest(path) != image.sha256:
            raise FirmwareError(f"{image.file} {otherwise}")
    return images


def keep(images: Iterable[Image], *, source: Path | None = None) -> None:
    """Put images that were just built into the package (for a release)."""
    PREBUILT.mkdir(exist_ok=True)
    images = list(images)
    for image in images:
        shutil.copyfile((source or SOURCE) / "build" / image.file, PREBUILT / image.file)
    _remember(PREBUILT, images)


def find(chip: str, clock_hz: int, baud: int) -> tuple[Image, Path]:
    """Return the image for a chip, its clock and the line's rate: one that was built here, else the package's own.

    :raises FirmwareError: there is none, or it is damaged
    """
    wanted = (chip, clock_hz, baud)
    for folder, images in ((SOURCE / "build", known()), (PREBUILT, prebuilt())):
        for image in images:
            if (image.chip, image.clock_hz, image.baud) == wanted:
                return image, folder / image.file
    raise FirmwareError(
        f"There is no image for {chip} at {clock_hz // 1_000_000} MHz and {baud} baud; "
        f"companion firmware build --baud {baud} makes it in a checkout."
    )


def hex_bytes(text: str) -> dict[int, int]:
    """Return the bytes of an Intel HEX file by address.

    :raises FirmwareError: a record is malformed, its checksum is wrong, or the end is missing
    """
    memory: dict[int, int] = {}
    base = 0
    for number, line in enumerate(text.split(), 1):
        try:
            record = bytes.fromhex(line.removeprefix(":"))
        except ValueError:
            record = b""
        if not line.startswith(":") or len(record) < 5 or len(record) != record[0] + 5 or sum(record) % 256:
            raise FirmwareError(f"Line {number} of the image is damaged.")
        address, kind, data = int.from_bytes(record[1:3], "big"), record[3], record[4:-1]
        if kind == 0:
            memory.update((base + address + i, byte) for i, byte in enumerate(data))
        elif kind == 1:
            return memory
        elif kind == 2:
            base = int.from_bytes(data, "big") * 16
        elif kind == 4:
            base = int.from_bytes(data, "big") << 16
    raise FirmwareError("The image has no end; it was cut off.")


def _run(command: Sequence[str], folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        last = (result.stderr.strip() or result.stdout.strip() or "no message").splitlines()[-1]
        raise FirmwareError(f"{command[0]} failed: {last}")
    return result.stdout


def _make(source: Path, folder: Path, baud: int) -> list[Path]:
    for part in ("core", "avr", "rp2040"):
        shutil.copytree(source / part, folder / part)
    shutil.copy(source / "Makefile", folder)
    _run(["make", "images", f"BAUD={baud}"], folder)
    for path in (folder / "build").glob("*.bin"):
        sealed = uf2.sealed(path.read_bytes())
        path.write_bytes(sealed)
        path.with_suffix(".uf2").write_bytes(uf2.pack(sealed))
    return sorted(path for path in (folder / "build").iterdir() if path.suffix in {".hex", ".elf", ".bin", ".uf2"})


def _describe(path: Path, baud: int) -> Image:
    _, chip, clock, _ = path.stem.split("-")
    elf = str(path.with_suffix(".elf"))
    if path.suffix == ".uf2":
        tool, most = "arm-none-eabi-", (PICO_LIMIT, PICO_LIMIT)
        flash = path.with_suffix(".bin").stat().st_size
        sizes = dict(
            line.split()[:2] for line in _run([f"{tool}size", "-A", elf], path.parent).splitlines()[2:] if line
        )
        ram = int(sizes[".program"]) + int(sizes[".bss"])
    else:
        tool, most = "avr-", (FLASH_LIMIT, RAM_LIMIT)
        flash = len(hex_bytes(path.read_text(encoding="ascii")))
        _, data, bss, *_ = _run([f"{tool}size", elf], path.parent).splitlines()[1].split()
        ram = int(data) + int(bss)
    if flash > most[0] or ram > most[1]:
        raise FirmwareError(f"{path.name} is too big: {flash} bytes of flash, {ram} of memory.")
    compiler = _run([f"{tool}gcc", "--version"], path.parent).splitlines()[0]
    return Image(
        name=path.stem,
        chip=chip,
        clock_hz=int(clock.removesuffix("mhz")) * 1_000_000,
        baud=baud,
        flash=flash,
        ram=ram,
        sha256=_digest(path),
        file=path.name,
        compiler=compiler,
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _remember(folder: Path, images: Iterable[Image]) -> None:
    try:
        old = {image.name: image for image in _recall(folder)}
    except FirmwareError:
        old = {}
    merged = old | {image.name: image for image in images}
    text = json.dumps([asdict(merged[name]) for name in sorted(merged)], indent=2)
    draft = folder / (MANIFEST + ".new")
    draft.write_text(text + "\n", encoding="utf-8")
    draft.replace(folder / MANIFEST)


def _recall(folder: Path) -> list[Image]:
    path = folder / MANIFEST
    if not path.is_file():
        return []
    try:
        return [Image(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError) as error:
        raise FirmwareError(f"{path.name} is damaged; build the images again.") from error
