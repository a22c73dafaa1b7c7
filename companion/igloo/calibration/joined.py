"""Several free shakes of one igloo, joined until the count is sure, and how much longer that would take.

The shakes are weighed together as the pieces of the guided count are: the process knows which errors they share, so
that more of them never make the answer surer than what they share allows. How much longer it would take is read from
how the log odds grew with each shake so far (:func:`outlook`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.calibration.features import ShakeFeatures, hear
from companion.igloo.count.counter import together
from companion.igloo.count.guided import SURE_P
from companion.ports import CountPosterior, DeviceKind, Samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.igloo.calibration.store import Calibration

    FloatArray = NDArray[np.float64]

STEPS = 60
"""Halvings in search of how much more evidence it takes: to one part in 10^18."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What more shakes like those so far would bring.

    ``shakes`` more make the answer sure, infinitely many where it never becomes so; ``most`` is the probability of the
    likeliest count that it comes near to, however long somebody shakes.
    """

    shakes: float
    most: float


def outlook(answers: FloatArray) -> Outlook | None:
    """Return what more shakes would bring, of the answers (k, 12) after 1 … k of them; None from fewer than two.

    The evidence after j shakes is how far the count that is likeliest now is ahead of the others, in log odds on
    average. Were all errors a shake's own it would grow with j, and as 1 / c were they all common to the shakes: so
    j / (a + b j), with the a and b that fit the shakes so far best. What is sure needs a certain multiple of the
    present evidence: that power of the present answer.
    """
    k = len(answers)
    if k < 2:
        return None
    now, many = answers[-1], np.arange(1, k + 1)
    evidence = np.log(answers[:, [int(now.argmax())]] / answers).sum(axis=1) / (answers.shape[1] - 1)
    own, common = map(float, np.linalg.lstsq(np.column_stack([evidence, evidence * many]), many, rcond=None)[0])
    # without a part of its own nothing more comes of a shake; without a common part it goes on as up to now
    limit = np.inf if common <= 0 else 1 + max(own, 0.0) / (common * k)
    most = float(_sharpened(now, limit).max())
    wanted = _multiple(now)
    if wanted <= 1:
        return Outlook(0.0, most)
    if wanted >= limit:
        return Outlook(np.inf, most)
    after = wanted * k if common <= 0 else wanted * k * own / (own + common * k * (1 - wanted))
    return Outlook(after - k, most)


def _sharpened(p: FloatArray, multiple: float) -> FloatArray:
    """Return probabilities (12,) with so many times their evidence."""
    power = (p / p.max()) ** multiple
    return np.asarray(power / power.sum())


def _multiple(p: FloatArray) -> float:
    """Return how many times its evidence makes an answer (12,) sure; infinite where two counts are equally likely."""
    low, high = 1.0, 1.0
    while _sharpened(p, high).max() < SURE_P:
        low, high = high, 2 * high
        if np.isinf(high):
            return high
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _sharpened(p, middle).max() >= SURE_P else (middle, high)
    return high


class JoinedCount:
    """Counts the beads of one igloo by free shakes of it, each (n, 3) in g, until the answer is sure.

    ``calibration`` is what is known of this igloo; without one the counter's own answers are joined.
    """

    def __init__(
        self, calibration: Calibration | None = None, key: str = "", kind: DeviceKind = DeviceKind.REAL
    ) -> None:
        self._calibration, self._key, self._kind = calibration, key, kind
        self._heard: list[tuple[ShakeFeatures, str]] = []
        self._answers: list[CountPosterior] = []

    @property
    def shakes(self) -> int:
        """How many shakes are joined."""
        return len(self._heard)

    @property
    def answer(self) -> CountPosterior | None:
        """The answer of all shakes together, None before the first."""
        return self._answers[-1] if self._answers else None

    @property
    def sure(self) -> bool:
        """Tell whether the answer is sure."""
        return bool(self._answers) and max(self._answers[-1].p) >= SURE_P

    @property
    def outlook(self) -> Outlook | None:
        """What more shakes would bring, None before the second."""
        return outlook(np.array([one.p for one in self._answers]))

    def add(self, accel: FloatArray, rate_hz: float, who: str = "") -> str:
        """Take a shake by the hand of that name; return "" or why it does not count."""
        heard = hear([Samples(accel, 0.0, rate_hz, 0)], key=self._key)
        if not len(heard.vectors):
            return heard.answer.why
        alone = self._together([(heard, who)])
        if alone.state == "not-a-shake":
            return alone.why
        every = [*self._heard, (heard, who)]
        found = self._together(every)
        if not found.p:
            return found.why
        self._heard = every
        self._answers.append(replace(found, key=self._key, kind=self._kind))
        return ""

    def take_back(self) -> bool:
        """Forget the last shake; tell whether there was one."""
        if not self._heard:
            return False
        self._heard.pop()
        self._answers.pop()
        return True

    def _together(self, every: Sequence[tuple[ShakeFeatures, str]]) -> CountPosterior:
        heard = [one for one, _ in every]
        if self._calibration is None:
            return together([one.answer for one in heard])
        return self._calibration.count(heard, [who for _, who in every])
