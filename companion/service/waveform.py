"""The igloo's waveform while it is shaken, as a few letters on the live stream; nothing in a live round.

Drawn as :mod:`companion.practice.waveform` says. Only shaking is told, and a breath after it, so that the stream is
silent while nobody shakes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from companion.events.hub import Hub
from companion.practice.waveform import COLUMN_S, drawn, way

if TYPE_CHECKING:
    from companion.ports import CountGate, FloatArray, IglooLink, Samples

PUBLISH_S = 0.2
"""How often columns are told: sixteen at a time."""
SHAKING_G = 0.12
"""Spread of the smoothed motion from which on the hand does something, as for the counter."""
SMOOTH_S = 0.01
BREATH = 4
"""So many quiet pieces are still told."""
FORGETS = 0.5
"""How much of the direction's memory is left after each piece."""


class Wave:
    """Turns the samples of one igloo into pieces of a drawing."""

    def __init__(self) -> None:
        self._held: list[FloatArray] = []
        self._many = 0
        self._quiet = BREATH + 1
        self._axis: FloatArray | None = None
        self._level = np.zeros(3)
        self._swing = np.zeros((3, 3))
        self.number = 0

    def feed(self, samples: Samples) -> tuple[int, str] | None:
        """Take a run; return (number of the first column in this shake, letters) where there is a piece to tell."""
        if samples.gap_before or samples.overflow_before:
            self._held, self._many = [], 0
        self._held.append(samples.accel)
        self._many += len(samples.accel)
        rate = samples.rate_hz
        wanted = round(PUBLISH_S * rate)
        if self._many < wanted or wanted < 4 / COLUMN_S * PUBLISH_S:
            return None
        held = np.concatenate(self._held)
        piece, rest = held[:wanted], held[wanted:]
        self._held, self._many = [rest], len(rest)
        size = max(round(SMOOTH_S * rate), 1)
        cells = piece[: len(piece) // size * size].reshape(-1, size, 3).mean(axis=1)
        if not np.isfinite(piece).all() or float(np.sqrt(cells.var(axis=0).sum())) < SHAKING_G:
            self._quiet += 1
        else:
            if self._quiet > BREATH:
                self._axis, self._swing, self._level, self.number = None, np.zeros((3, 3)), piece.mean(axis=0), 0
            self._quiet = 0
        if self._quiet > BREATH or not np.isfinite(piece).all():
            return None
        return self._columns(piece, rate)

    def _columns(self, piece: FloatArray, rate: float) -> tuple[int, str]:
        self._level = self._level + (piece.mean(axis=0) - self._level) * (1 - FORGETS)
        apart = piece - self._level
        self._swing = FORGETS * self._swing + apart.T @ apart
        axis = np.linalg.eigh(self._swing)[1][:, -1]
        before = way(piece) if self._axis is None else self._axis
        self._axis = -axis if float(axis @ before) < 0 else axis
        letters = drawn(apart @ self._axis, rate)
        first, self.number = self.number, self.number + len(letters) // 2
        return first, letters


class Waves:
    """The waves of all igloos, told on the hub as topic ``wave`` while the gate is open."""

    def __init__(self, hub: Hub, *, gate: CountGate) -> None:
        self._hub, self._gate = hub, gate
        self._waves: dict[int, Wave] = {}

    def hear(self, link: IglooLink, samples: Samples) -> None:
        """Take a run of samples, from the link's thread."""
        if not self._gate.is_open():
            self._waves.pop(id(link), None)
            return
        piece = self._waves.setdefault(id(link), Wave()).feed(samples)
        if piece is not None and self._gate.is_open():
            self._hub.publish("wave", {"key": link.status().key, "first": piece[0], "wave": piece[1]})
