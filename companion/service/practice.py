"""What the training room is given: the stored shakes, the machine that counts, and the ear of the table's igloo."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from companion.igloo.simulated import BANK
from companion.ports import CountGate, CountPosterior, DeviceKind, DeviceState, IglooLink, IglooStatus, Samples
from companion.practice import BANK as PRACTICE_BANK
from companion.practice.database import PracticeDatabase
from companion.practice.offline_bundle import OfflineBundle
from companion.practice.practice_run import PracticeRun
from companion.practice.shakes import CountedShake, Shake
from companion.practice.stored_shakes import StoredShakes

TRAINING = "training.sqlite"
"""The training book in the data folder, …"""
SUPPLY = "training-supply.json"
"""… and, beside it, what is taken along next, …"""
HEARD = "heard"
"""… and the folder of the igloo's shakes."""
T = TypeVar("T")

REMEMBERED_S = 6.0
"""How much of the igloo's samples is remembered, to be heard again."""
SLACK_S = 0.5
"""A shake that began so much before one was asked for still counts as new."""


class SimulatedShakeBank:
    """The shakes that the simulated igloo plays, and those of more igloos (``companion/practice/bank``).

    They are numbered through in that order, which does not change: the training book remembers the numbers. An igloo
    is read when one of its shakes is asked for.
    """

    def __init__(self) -> None:
        from companion.igloo.simulated.device import load_bank

        more = [path for path in PRACTICE_BANK.iterdir() if _number(path.name)]
        self._files = [BANK, *sorted(more, key=lambda path: _number(path.name))]
        self._bank = lru_cache(len(self._files))(lambda at: load_bank(self._files[at]))
        counts = [_counts(path) for path in self._files]
        self._counts = np.concatenate(counts)
        self._place = [(at, row) for at, some in enumerate(counts) for row in range(len(some))]

    def of(self, count: int) -> Sequence[int]:
        """Return the numbers of the shakes of so many beads."""
        return [int(number) for number in np.flatnonzero(self._counts == count)]

    def shake(self, number: int) -> Shake:
        """Return a stored shake.

        :raises KeyError: when there is no such number.
        """
        if not 0 <= number < len(self._place):
            raise KeyError(number)
        at, row = self._place[number]
        bank = self._bank(at)
        return Shake(bank.accel[row] * (bank.ug_per_lsb * 1e-6), bank.rate_hz, DeviceKind.SIMULATED)


def _number(name: str) -> int:
    """Return the number of an igloo's file, 0 for another file."""
    found = re.fullmatch(r"igloo-(\d+)\.npz", name)
    return int(found[1]) if found else 0


def _counts(path: Path) -> NDArray[np.int64]:
    with np.load(path, allow_pickle=False) as arrays:
        return np.asarray(arrays["count"], dtype=np.int64)


@cache
def shake_bank() -> SimulatedShakeBank:
    """Return the stored shakes, read once."""
    return SimulatedShakeBank()


def machine(shake: Shake) -> CountPosterior:
    """Count the beads of a shake."""
    from companion.igloo.count.counter import count_recording

    return count_recording(shake.accel, shake.rate_hz, kind=shake.kind)


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    posterior: CountPosterior
    runs: tuple[Samples, ...]
    began: float


class TablePracticeIgloo:
    """The igloos of the table, as the training room hears them: real and recorded ones, never the simulated one.

    ``clock`` gives the host's seconds, as :meth:`heard` is asked in them.
    """

    def __init__(
        self, statuses: Callable[[], Iterable[IglooStatus]], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._statuses, self._clock = statuses, clock
        self._runs: dict[str, deque[Samples]] = {}
        self._newest: _Counted | None = None
        self._lock = threading.Lock()

    def hear(self, link: IglooLink, samples: Samples) -> None:
        """Remember a run of samples, from the link's thread."""
        status = link.status()
        if status.kind is DeviceKind.SIMULATED:
            return
        with self._lock:
            runs = self._runs.setdefault(status.key, deque())
            if samples.gap_before or samples.overflow_before:
                runs.clear()
            runs.append(samples)
            while runs and samples.t0 - runs[0].t0 > REMEMBERED_S:
                runs.popleft()

    def counted(self, posterior: CountPosterior) -> None:
        """Take what the machine made of the shaking so far."""
        if posterior.state != "counted" or posterior.kind is DeviceKind.SIMULATED:
            return
        with self._lock:
            runs = tuple(self._runs.get(posterior.key, ()))
            self._newest = _Counted(posterior, runs, self._clock() - posterior.seconds)

    def kind(self) -> DeviceKind | None:
        """Return what the igloo is that one can train with now, or None."""
        for status in self._statuses():
            if status.state is DeviceState.CONNECTED and status.kind is not DeviceKind.SIMULATED:
                return status.kind
        return None

    def heard(self, since: float) -> CountedShake | None:
        """Return the newest shake that was counted after ``since`` (host seconds), or None."""
        with self._lock:
            newest = self._newest
        if newest is None or newest.began < since - SLACK_S or not newest.runs:
            return None
        rate = newest.runs[-1].rate_hz
        accel = np.concatenate([run.accel for run in newest.runs])
        # Only the shaking itself, and a breath before it.
        last = int((newest.posterior.seconds + SLACK_S) * rate)
        return CountedShake(Shake(accel[-last:], rate, newest.posterior.kind), newest.posterior)


def practice_run(path: Path, ear: TablePracticeIgloo, gate: CountGate, keep: Callable[[], int]) -> PracticeRun:
    """Return the training room of a data folder; ``keep()`` says how many shakes of the igloo are kept."""
    stored_shakes = StoredShakes(path.with_name(HEARD), keep)
    offline_bundle = OfflineBundle(path.with_name(SUPPLY), shake_bank, machine, may_work=gate.is_open)
    return PracticeRun(
        PracticeDatabase(path),
        shake_bank,
        machine,
        ear,
        gate=gate,
        offline_bundle=offline_bundle,
        stored_shakes=stored_shakes,
    )
