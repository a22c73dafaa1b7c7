"""Labelled shakes that were recorded from the page: a folder for each sitting, a file for each shake.

A file is a recording of :mod:`companion.igloo.recordings` with its labels, so `companion shake train --from` and
`companion shake calibrate --from` take it; :meth:`Recordings.packed` gives a whole sitting as one such file.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import shutil
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from companion.calibrating.messages import TOO_MANY_SHAKES
from companion.calibrating.store import write_json
from companion.ports import BadDataError

if TYPE_CHECKING:
    from companion.ports import FloatArray

ABOUT = "about.json"
NAME = re.compile(r"[0-9a-f]{12}")
MOST_SHAKES = 240
"""So many shakes of four seconds are some 25 MB."""
MOST_SITTINGS = 200
SAME_RATE = 0.005
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ShakeLabel:
    """What is known of one shake: the beads, whose hand, and whether it kept to the beat."""

    count: int
    person: str
    guided: bool


class Recordings:
    """The labelled shakes of one data folder. Every method may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._fresh: dict[str, dict[str, Any]] = {}

    def begin(self, device: str, task: str) -> str:
        """Begin a sitting; nothing is written before its first shake. Return its name.

        :raises BadDataError: when there are too many already.
        """
        if len(self._names()) >= MOST_SITTINGS:
            raise BadDataError(TOO_MANY_SHAKES)
        name = secrets.token_hex(6)
        self._fresh = {name: {"made_at": round(time.time() * 1000), "device": device, "task": task, "shakes": []}}
        return name

    def add(self, name: str, accel: FloatArray, rate_hz: float, label: ShakeLabel) -> str:
        """Keep one shake (n, 3) in g; return the name of its sitting, another one where the rate does not fit.

        :raises BadDataError: when the sitting is full.
        :raises OSError: when it cannot be written.
        """
        from companion.igloo.recordings import Recording, write_recording

        with self._lock:
            about = self._fresh.pop(name, None) or self._about(name)
            shakes = about["shakes"]
            if len(shakes) >= MOST_SHAKES:
                raise BadDataError(TOO_MANY_SHAKES)
            if shakes and abs(rate_hz / about["rate_hz"] - 1) > SAME_RATE:
                return self.add(self.begin(about["device"], about["task"]), accel, rate_hz, label)
            about.setdefault("rate_hz", rate_hz)
            number = shakes[-1]["number"] + 1 if shakes else 1
            folder = self.folder / name
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            one = Recording(
                (accel,),
                rate_hz,
                count=(label.count,),
                device=(about["device"],),
                person=(label.person,),
                guided=(label.guided,),
            )
            write_recording(folder / f"{number:04d}.npz", one)
            shakes.append({"number": number, "count": label.count, "person": label.person, "guided": label.guided})
            write_json(folder / ABOUT, about)
            return name

    def take_back(self, name: str) -> None:
        """Forget the last shake of a sitting, if it has one; one without shakes is no sitting any more."""
        with self._lock:
            if not (self.folder / name).is_dir():
                return
            about = self._about(name)
            last = about["shakes"].pop()
            if not about["shakes"]:
                shutil.rmtree(self.folder / name)
                self._fresh = {name: about}
                return
            write_json(self.folder / name / ABOUT, about)
            (self.folder / name / f"{last['number']:04d}.npz").unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Tell whether there is a sitting of that name."""
        try:
            return bool(self._about(name))
        except KeyError:
            return False

    def used(self, name: str) -> None:
        """Note that a calibration was made of a sitting."""
        with self._lock:
            if (self.folder / name).is_dir():
                write_json(self.folder / name / ABOUT, {**self._about(name), "used": True})

    def shakes(self, name: str) -> list[tuple[FloatArray, float, ShakeLabel]]:
        """Return the shakes of a sitting: accel (n, 3) in g, true rate, label.

        :raises KeyError: when there is no such sitting.
        :raises BadDataError: when a file is broken.
        """
        from companion.igloo.recordings import read_recording

        found = []
        with self._lock:
            for one in self._about(name)["shakes"]:
                read = read_recording(self.folder / name / f"{one['number']:04d}.npz")
                label = ShakeLabel(one["count"], one["person"], one["guided"])
                found.append((read.shakes[0], read.rate_hz, label))
        return found

    def packed(self, name: str) -> bytes:
        """Return a sitting as one labelled recording (.npz), its shakes cut to the shortest.

        :raises KeyError: when there is no such sitting.
        :raises BadDataError: when a file is broken.
        """
        from companion.igloo.recordings import Recording, write_recording

        found = self.shakes(name)
        about = self._about(name)
        shortest = min(len(accel) for accel, _, _ in found)
        whole = Recording(
            tuple(accel[:shortest] for accel, _, _ in found),
            found[0][1],
            count=tuple(label.count for _, _, label in found),
            device=(about["device"],) * len(found),
            person=tuple(label.person for _, _, label in found),
            guided=tuple(label.guided for _, _, label in found),
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "shakes.npz"
            write_recording(path, whole)
            return path.read_bytes()

    def rename(self, old: str, new: str) -> None:
        """Give a person another name in every sitting, "" for none.

        :raises BadDataError: when a file is broken.
        """
        from companion.igloo.recordings import read_recording, write_recording

        with self._lock:
            for name in self._names():
                if not self.has(name):
                    continue
                about = self._about(name)
                mine = [one for one in about["shakes"] if one["person"] == old]
                for one in mine:
                    path = self.folder / name / f"{one['number']:04d}.npz"
                    write_recording(path, replace(read_recording(path), person=(new,)))
                    one["person"] = new
                if mine:
                    write_json(self.folder / name / ABOUT, about)

    def forget(self, name: str) -> None:
        """Remove a sitting with its shakes.

        :raises KeyError: when there is no such sitting.
        """
        with self._lock:
            self._about(name)
            shutil.rmtree(self.folder / name)

    def listed(self) -> list[dict[str, Any]]:
        """Return every sitting, newest first: its name, device, task, people, and how many shakes of each count."""
        found = []
        for name in self._names():
            try:
                about = self._about(name)
            except KeyError:
                continue
            counts = Counter(one["count"] for one in about["shakes"])
            found.append(
                {
                    "name": name,
                    "made_at": about["made_at"],
                    "device": about["device"],
                    "task": about["task"],
                    "used": bool(about.get("used")),
                    "shakes": len(about["shakes"]),
                    "by_count": {str(n): counts[n] for n in sorted(counts)},
                    "people": sorted({one["person"] for one in about["shakes"] if one["person"]}),
                    "guided": sum(one["guided"] for one in about["shakes"]),
                }
            )
        return sorted(found, key=lambda one: -one["made_at"])

    def _names(self) -> list[str]:
        if not self.folder.is_dir():
            return []
        return [path.name for path in self.folder.iterdir() if NAME.fullmatch(path.name) and path.is_dir()]

    def _about(self, name: str) -> dict[str, Any]:
        """Return what is known of a sitting.

        :raises KeyError: when there is none of that name, or what lies there is none.
        """
        if not NAME.fullmatch(name):
            raise KeyError(name)
        try:
            about: dict[str, Any] = json.loads((self.folder / name / ABOUT).read_text(encoding="utf-8"))
            return {**about, "shakes": [dict(one) for one in about["shakes"]]}
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise KeyError(name) from error
