"""`companion bench small`: the service on a small machine, as far as a PC can be made one: a tenth of a core, 400 MB.

A Raspberry Pi Zero 2 W has four cores that are each some ten times slower than a PC's, and 512 MB, of which the system
keeps a fifth. Here everything, also the simulated igloo, gets a tenth of *one* core: less than a Zero 2 W has. What
a card, a WLAN and heat do is not in it. Needs root and control groups.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from companion.lab.phone import Phone
from companion.lab.rows import Row, row
from companion.lab.soak.camera import FaultyCamera
from companion.lab.soak.play import Player, ServedCompanion
from companion.ports import DeviceError

GROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
SHARE = 0.1
MEMORY_MB = 400
PHONES = 4
PHOTO_PIXELS = (4000, 3000)


def rows(seconds: float) -> Iterable[Row]:
    """Yield start, memory, processor time, answers, a photo and losses: as this machine is, and as a small one."""
    for where, share in (("PC", 0.0), (f"{SHARE:.0%} of a core, {MEMORY_MB} MB", SHARE)):
        try:
            with limited(share) if share else contextlib.nullcontext():
                yield from _measured(where, seconds)
        except TimeoutError:
            yield row(where, "given up", note="an answer took too long: this machine is busy with other work")
        except OSError as error:
            yield row(where, "not run", note=f"needs root and control groups: {error.strerror or error}")


@contextlib.contextmanager
def limited(share: float, memory_mb: int = MEMORY_MB) -> Iterator[None]:
    """Start what is started in here with a share of one core and so much memory.

    :raises OSError: where that may not be asked of the kernel.
    """
    old = (GROUPS / "cpu").is_dir()
    folders = [GROUPS / part / f"companion-small-{os.getpid()}" for part in (("cpu", "memory") if old else ("",))]
    quota = round(share * PERIOD_US)
    if not old:
        (GROUPS / "cgroup.subtree_control").write_text("+cpu +memory")
    for folder in folders:
        folder.mkdir()
    try:
        if old:
            (folders[0] / "cpu.cfs_quota_us").write_text(str(quota))
            (folders[1] / "memory.limit_in_bytes").write_text(f"{memory_mb}M")
        else:
            (folders[0] / "cpu.max").write_text(f"{quota} {PERIOD_US}")
            (folders[0] / "memory.max").write_text(f"{memory_mb}M")
        with _started_in(folders):
            yield
    finally:
        for folder in folders:
            _removed(folder)


@contextlib.contextmanager
def _started_in(folders: list[Path]) -> Iterator[None]:
    """Let children be born in these groups; who measures lives outside of them."""
    global _groups  # noqa: PLW0603 - the process has one place in the tree of groups
    _groups = folders
    try:
        yield
    finally:
        _groups = []


_groups: list[Path] = []


def _house(data: Path, *arguments: str) -> ServedCompanion:
    before = Path("/proc/self/cgroup").read_text(encoding="ascii")
    for folder in _groups:
        (folder / "cgroup.procs").write_text(str(os.getpid()))
    try:
        return ServedCompanion(data, *arguments)
    finally:
        for folder in _groups:
            controller = folder.parent.name if folder.parent != GROUPS else ""
            place = re.search(rf"^\d+:[^:]*\b{controller}\b[^:]*:(/.*)$", before, re.MULTILINE) if controller else None
            home = folder.parent / (place[1].lstrip("/") if place is not None else "")
            (home / "cgroup.procs").write_text(str(os.getpid()))


def _removed(folder: Path) -> None:
    for _ in range(50):
        try:
            folder.rmdir()
        except OSError:
            time.sleep(0.1)
        else:
            return


def _measured(where: str, seconds: float) -> Iterable[Row]:
    camera = FaultyCamera()
    try:
        with tempfile.TemporaryDirectory(prefix="companion-small-") as name:
            for what, more in (("", ()), (", camera", ("--camera", f"http://127.0.0.1:{camera.port}/"))):
                began = time.monotonic()
                house = _house(Path(name) / f"data{what.strip(', ')}", "--simulate", *more)
                try:
                    Phone(house.host.port).ask("GET", "/")
                    first = time.monotonic() - began
                    yield row(f"{where}{what}: first page", f"{first:.1f}", "s", "≤ 2 s here")
                    yield from _run(f"{where}{what}", house, seconds, "≤ 280 MB" if more else "≤ 120 MB")
                finally:
                    house.close()
    finally:
        camera.close()


def _run(where: str, house: ServedCompanion, seconds: float, aim: str) -> Iterable[Row]:
    for phone in [Phone(house.host.port) for _ in range(PHONES)]:
        phone.listen()
    _heard(house)
    pid, player, waits = house.process.pid, Player(17), []
    cpu, began, written = _cpu_s(pid), time.monotonic(), _written_kb(pid)
    lost = _igloo(house)["counts"]["lost"]
    while (passed := time.monotonic() - began) < seconds:
        sent = time.monotonic()
        player.step(house)
        waits.append(time.monotonic() - sent)
        time.sleep(max(0.0, 2.0 - (time.monotonic() - sent)))
    note = "one simulated igloo, its own cost included; four phones; a move every two seconds"
    yield row(f"{where}: memory", f"{_memory_mb(pid):.0f}", "MB", aim, "with the process that decodes pictures")
    yield row(f"{where}: share of a PC's core", f"{100 * (_cpu_s(pid) - cpu) / passed:.1f}", "%", "", note)
    yield row(
        f"{where}: a move",
        f"{statistics.median(waits):.2f}",
        "s",
        "",
        f"worst {max(waits):.2f} s, the question of what is legal included",
    )
    per_move = (_written_kb(pid) - written) / max(1, len(waits))
    yield row(f"{where}: written to the card", f"{600 * per_move / 1024:.1f}", "MB an hour", "", "of 600 moves")
    yield row(
        f"{where}: samples lost", _igloo(house)["counts"]["lost"] - lost, "", "0", f"in {passed:.0f} s at 3200 Hz"
    )
    photo, began = _photo(), time.monotonic()
    status = house.host.send("/api/photo", photo, "image/jpeg")[0]
    megapixels = PHOTO_PIXELS[0] * PHOTO_PIXELS[1] / 1e6
    taken = f"{time.monotonic() - began:.1f}" if status == 200 else f"refused ({status})"
    yield row(f"{where}: a photo of {megapixels:.0f} megapixels", taken, "s", "", f"then {_memory_mb(pid):.0f} MB")


def _photo() -> bytes:
    import cv2
    import numpy as np

    small = np.random.default_rng(8).integers(0, 255, (PHOTO_PIXELS[1] // 40, PHOTO_PIXELS[0] // 40, 3), np.uint8)
    image = cv2.resize(small, PHOTO_PIXELS, interpolation=cv2.INTER_CUBIC)
    return cv2.imencode(".jpg", image)[1].tobytes()


def _igloo(house: ServedCompanion) -> dict[str, dict[str, int]]:
    for device in json.loads(house.host.ask("GET", "/api/health")[1])["devices"]:
        if device["device"] == "igloo" and device.get("rate_hz"):
            return dict(device)
    raise DeviceError("The simulated igloo was not heard.")


def _heard(house: ServedCompanion) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(DeviceError):
            _igloo(house)
            return
        time.sleep(0.5)
    _igloo(house)


def _family(pid: int) -> list[int]:
    """Return a process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    found = [pid, *map(int, children)]
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(child) for child in (task / "children").read_text(encoding="ascii").split()]
    return sorted(set(found))


def _memory_mb(pid: int) -> float:
    """Return the memory of a process and its children; what they share is counted once."""
    total = 0
    for one in _family(pid):
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii")
            total += int(re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)[1])  # type: ignore[index]
    return total / 1024


def _cpu_s(pid: int) -> float:
    total = 0
    for one in _family(pid):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def _written_kb(pid: int) -> float:
    text = Path(f"/proc/{pid}/io").read_text(encoding="ascii")
    return int(re.search(r"^write_bytes: (\d+)", text, re.MULTILINE)[1]) / 1024  # type: ignore[index]
