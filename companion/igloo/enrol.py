"""Cuts single shakes out of a stream, to be labelled and kept: for calibration, a new person, or training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count import SHAKING_G
from companion.igloo.soundness import unsound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import Samples

    FloatArray = NDArray[np.float64]

WINDOW_S = 0.32
"""Motion is judged over so long."""
PAUSE_S = 0.6
"""A shake that rests for so long has ended, and was too short."""

LOST = "Samples were lost in this shake; shake again."
SHORT = "The shake ended too soon; shake again."


class ShakeCatcher:
    """Takes runs of samples and gives shakes of ``seconds``, each from a little after the motion began.

    ``shaken_s`` says how much of the present shake was heard, ``note`` why the last one was not kept.
    """

    def __init__(self, seconds: float = 4.0) -> None:
        self.seconds = seconds
        self.note = ""
        self.rate_hz = 0.0
        self._held: FloatArray = np.zeros((0, 3))
        self._shaking = False
        self._done = False

    @property
    def shaken_s(self) -> float:
        """How much of the present shake was heard."""
        return len(self._held) / self.rate_hz if self._shaking and self.rate_hz else 0.0

    def feed(self, samples: Samples) -> FloatArray | None:
        """Take a run; return a shake (n, 3) in g when one is complete. The next begins after a pause."""
        if self.rate_hz and abs(samples.rate_hz / self.rate_hz - 1) > 0.02:
            self._begin_anew("")
        self.rate_hz = samples.rate_hz
        if samples.gap_before or samples.overflow_before:
            self._begin_anew(LOST if self._shaking else "")
        self._held = np.concatenate([self._held, samples.accel])
        window = round(WINDOW_S * self.rate_hz)
        if self._done or not self._shaking:
            self._held = self._held[-2 * window :]
            moving = len(self._held) >= window and _motion(self._held[-window:], self.rate_hz) > SHAKING_G
            if self._done and not moving and len(self._held) >= window:
                self._done = False
            elif moving and not self._done:
                self._shaking = True
                self._held = self._held[-(window // 2) :]
            return None
        wanted = round(self.seconds * self.rate_hz)
        rest = round(PAUSE_S * self.rate_hz)
        if len(self._held) >= rest and _motion(self._held[-rest:], self.rate_hz) < SHAKING_G:
            self._begin_anew(SHORT)
            return None
        if len(self._held) < wanted:
            return None
        shake = self._held[:wanted]
        self._begin_anew("")
        self._done = True
        if why := unsound(shake, self.rate_hz):
            self.note = why
            return None
        return shake

    def _begin_anew(self, note: str) -> None:
        self._held = np.zeros((0, 3))
        self._shaking = False
        self.note = note


def _motion(accel: FloatArray, rate_hz: float) -> float:
    """Return the spread (g) of samples (n, 3) after smoothing over 10 ms, which leaves the hand and takes the beads."""
    size = max(round(0.01 * rate_hz), 1)
    whole = len(accel) // size * size
    cells = accel[:whole].reshape(-1, size, 3).mean(axis=1)
    return float(np.sqrt(cells.var(axis=0).sum()))
