"""The training that is taken along: a supply of shakes as sound, made ahead, for a page that needs no table.

A supply holds every stored shake once, each cut and heard as a fresh draw has it, with its truth and the machine's
opinion. Counting them takes longer than somebody who taps waits, so a thread makes the next one, with rests between
the shakes and none made in a live round; it lies on the disk until it is taken.

What was answered on the way comes home as JSON text: ``{"format", "file", "answers": [[shake, guess, at], …]}``, where
``shake`` is a place in the file's supply and ``at`` UTC milliseconds of that phone, which name the answer: no two of a
file have the same, so that one which comes twice counts once.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from companion.ports import COUNTS, CompanionError, CountPosterior
from companion.practice.forms import BundleStatus
from companion.practice.shakes import Shake, ShakeBank, TrainingError, cut
from companion.practice.sonify import BAND_HZ, HEARD_HZ, MU, band
from companion.practice.waveform import picture

SUPPLY_FORMAT = 1
RESULTS_FORMAT = "companion-along-1"
FILE_NAME = re.compile(r"[A-Za-z0-9_-]{12}")
MOST_ANSWERS = 2_000
"""So many answers of one file come home; they fit the body of a request."""
MOST_AT = 2**53
PARTS = 10_000
"""The machine's chances are whole parts of so many."""
RESTS = 1.0
"""After each shake the thread rests so many times as long as it worked."""

log = logging.getLogger(__name__)


def make_shake(shakes: ShakeBank, machine: Callable[[Shake], CountPosterior], number: int, seed: int) -> dict[str, Any]:
    """Return one shake of a supply: what was drawn, what is heard of it, and the machine's opinion."""
    shake = cut(shakes.shake(number), seed)
    heard = band(shake, seed)
    return {
        "shake": number,
        "seed": seed,
        "machine": [round(p * PARTS) for p in machine(shake).p],
        "wave": picture(shake.accel, shake.rate_hz),
        "sound": b64encode(heard.codes).decode(),
        "gain": round(heard.gain, 5),
        "pitch": round(heard.pitch, 5),
    }


def heard_as() -> dict[str, float]:
    """Return what :class:`companion.practice.sonify.Band` needs beside a shake: its rate, the middle as heard, mu."""
    return {"rate_hz": BAND_HZ, "heard_hz": HEARD_HZ, "mu": MU}


class OfflineBundle:
    """Keeps one supply ready. Every method may be called from any thread.

    ``may_work()`` answers False while the machine is needed at the table.
    """

    def __init__(
        self,
        path: Path | None,
        shakes: Callable[[], ShakeBank],
        machine: Callable[[Shake], CountPosterior],
        *,
        may_work: Callable[[], bool] = lambda: True,
        rng: Random | None = None,
        rests: float = RESTS,
    ) -> None:
        self._path, self._shakes, self._machine = path, shakes, machine
        self._may_work, self._rng, self._rests = may_work, rng or SystemRandom(), rests
        self._lock = threading.Lock()
        self._ready: list[dict[str, Any]] | None = None
        self._looked = False
        self._made, self._of = 0, 0
        self._failed, self._making = False, False
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def close(self) -> None:
        """Stop making."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def status(self) -> BundleStatus:
        """Return ``{"ready", "made", "of", "failed"}``, and begin to make a supply where there is none."""
        with self._lock:
            self._look()
            if self._ready is None:
                self._begin()
            return {"ready": self._ready is not None, "made": self._made, "of": self._of, "failed": self._failed}

    def take(self) -> list[dict[str, Any]]:
        """Return the supply, and begin to make the next; until that is done the same is given once more.

        :raises TrainingError: ``not-ready`` while the first is being made.
        """
        with self._lock:
            self._look()
            self._begin()
            if self._ready is None:
                raise TrainingError("not-ready")
            return self._ready

    def _look(self) -> None:
        """Read what an earlier run left; what cannot be read is made anew."""
        if self._looked:
            return
        self._looked = True
        if self._path is None or not self._path.exists():
            return
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            if stored["format"] == SUPPLY_FORMAT and all(one["sound"] for one in stored["shakes"]) and stored["shakes"]:
                self._ready = stored["shakes"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            log.warning("The shakes to be taken along are made anew: %s", error)

    def _begin(self) -> None:
        if self._closing.is_set() or self._making:
            return
        self._made = 0
        self._failed, self._making = False, True
        self._thread = threading.Thread(target=self._make, name="along", daemon=True)
        self._thread.start()

    def _make(self) -> None:
        made = self._drawn()
        if made:
            self._keep(made)
        with self._lock:
            self._ready = made or self._ready
            self._making = False

    def _drawn(self) -> list[dict[str, Any]]:
        """Return a supply; an empty one where it could not be made, or where all this ends."""
        made: list[dict[str, Any]] = []
        try:
            shakes = self._shakes()
            numbers = [number for count in COUNTS for number in shakes.of(count)]
            self._of = len(numbers)
            for number in numbers:
                began = time.monotonic()
                made.append(make_shake(shakes, self._machine, number, self._rng.randrange(2**31)))
                self._made = len(made)
                if self._closing.wait((time.monotonic() - began) * self._rests):
                    return []
                while not self._may_work():
                    if self._closing.wait(1.0):
                        return []
        except (CompanionError, OSError, KeyError, ValueError):
            log.exception("The shakes to be taken along could not be made.")
            self._failed = True
            return []
        return made

    def _keep(self, made: list[dict[str, Any]]) -> None:
        if self._path is None:
            return
        new = self._path.with_name(f".{self._path.name}.new")
        try:
            new.write_text(json.dumps({"format": SUPPLY_FORMAT, "shakes": made}), encoding="utf-8")
            new.replace(self._path)
        except OSError as error:
            log.warning("The shakes to be taken along are not kept: %s", error)


@dataclass(frozen=True, slots=True)
class OfflineAnswer:
    """An answer that was given on the way: the place of the shake in the supply, the number said, and when."""

    place: int
    guess: int
    at: int


def results(body: Mapping[str, Any]) -> tuple[str, list[OfflineAnswer]]:
    """Return the name of the file and the answers that were brought home.

    :raises TrainingError: ``bad-results`` for anything that is not wholly of the form that this module's head gives.
    """
    file, answers = body.get("file"), body.get("answers")
    if set(body) != {"format", "file", "answers"} or body["format"] != RESULTS_FORMAT:
        raise TrainingError("bad-results")
    if not isinstance(file, str) or not FILE_NAME.fullmatch(file):
        raise TrainingError("bad-results")
    if not isinstance(answers, list) or not 0 < len(answers) <= MOST_ANSWERS:
        raise TrainingError("bad-results")
    found: list[OfflineAnswer] = []
    for one in answers:
        if not isinstance(one, list) or len(one) != 3 or any(type(value) is not int for value in one):
            raise TrainingError("bad-results")
        place, guess, at = one
        later = not found or at > found[-1].at
        if place < 0 or guess not in COUNTS or not 0 < at < MOST_AT or not later:
            raise TrainingError("bad-results")
        found.append(OfflineAnswer(place, guess, at))
    return file, found
