"""The Pico's image in rp2040js, the simulated ADXL345 in a process beside it; what was sent, and what was counted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import playwright

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "firmware" / "bench" / "rp2040"
VENDOR = ROOT / "tests" / "firmware" / "vendor" / "rp2040js-1.4.1.tgz"
NODE = Path(playwright.__file__).parent / "driver" / "node"
"""The development tools bring a Node.js along; a system's own would do as well."""


@dataclass
class Run:
    """``sent`` is the byte stream; ``chip`` and ``sensor`` are the counts of the two processes."""

    sent: bytes
    chip: dict[str, Any]
    sensor: dict[str, Any]


class Pico:
    """Prepared once in a folder; :meth:`run` may be called again and again."""

    def __init__(self, folder: Path, image: bytes) -> None:
        self.folder = folder
        with tarfile.open(VENDOR) as packed:
            # Bookworm's Python 3.11.2 knows no filters yet, and the archive is ours.
            packed.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            packed.extractall(folder / "unpacked")  # noqa: S202
        (folder / "node_modules").mkdir()
        shutil.move(folder / "unpacked" / "package", folder / "node_modules" / "rp2040js")
        (folder / "package.json").write_text("{}")
        (folder / "image.bin").write_bytes(image)
        for name in ("core", "avr", "rp2040", "bench"):
            shutil.copytree(ROOT / "firmware" / name, folder / name, ignore=shutil.ignore_patterns("build"))
        shutil.copy(ROOT / "firmware" / "Makefile", folder)
        subprocess.run(["make", "--silent", "bench/build/sensor"], cwd=folder, check=True, timeout=120)

    def run(self, seconds: float, *, rate_error: float = 0.0, **told: Any) -> Run:
        """Run so many simulated seconds; ``told`` are the options of run.mjs."""
        to_sensor, from_sensor = os.pipe(), os.pipe()
        with (
            subprocess.Popen(
                [str(self.folder / "bench" / "build" / "sensor"), str(rate_error)],
                stdin=to_sensor[0],
                stdout=from_sensor[1],
                stderr=subprocess.PIPE,
            ) as sensor,
            subprocess.Popen(
                [
                    *(str(NODE), str(BENCH / "run.mjs"), "image.bin", str(seconds)),
                    *(str(to_sensor[1]), str(from_sensor[0]), json.dumps(told)),
                ],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(to_sensor[1], from_sensor[0]),
            ) as chip,
        ):
            for end in (*to_sensor, *from_sensor):
                os.close(end)
            sent, said = chip.communicate(timeout=200)
            _, counted = sensor.communicate(timeout=30)
        assert chip.returncode == 0, said.decode()
        return Run(sent, json.loads(said.splitlines()[-1]), json.loads(counted))
