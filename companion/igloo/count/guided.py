"""The guided count: a motion that the page shows and times, a gauge that says how well it is kept, and when to stop.

Up and down, five times a second, 2 cm each way: of the motions compared in the README this one tells much and is easily
shown. Tempo and amplitude are read from the samples themselves; only moments in bounds are counted. What was heard is
cut into pieces of about 4 s, as long as the shakes of the calibration, and the pieces are joined with regard to
the errors they share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.count.counter import embed_blocks, shipped
from companion.igloo.count.ensemble import as_vector
from companion.igloo.count.features import BLOCK_S, CELLS, ROW, FeatureStream, tier_of
from companion.igloo.count.guided_gauge import GAUGE_BLOCKS, HOLD_STILL, Gauge, gauge
from companion.igloo.count.not_a_shake import why_not_a_shake
from companion.igloo.count.signal_validity import TOO_SLOW, unsound
from companion.ports import CountPosterior, DeviceKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from companion.ports import Samples

    FloatArray = NDArray[np.float64]
    SmallArray = NDArray[np.float32]
    CalibratedModel = Callable[..., tuple[float, ...]]

PIECE_BLOCKS = 24
FEWEST_BLOCKS = 12
"""A last piece may be this short."""
SURE_P = 0.97
LONGEST_S = 15.36
"""So much motion in bounds is used, four pieces: what one hand has not told by then it will not tell."""
HAND_S = 7.68
"""After so much the same hand tells little more, and another one tells much."""

SURE = "This is sure enough."
NOT_SURE = "Fifteen seconds were not enough to be sure: this igloo needs more calibration shakes with the beat."
OTHER_HAND = "Not sure yet: it helps if somebody else takes over now."
LOST = "Samples were lost; go on."


@dataclass(frozen=True, slots=True)
class GuidedState:
    """How the guided count goes: the gauge, ``seconds`` in bounds, the answer so far, whether to stop and why."""

    gauge: Gauge
    seconds: float
    posterior: CountPosterior | None
    done: bool
    why: str


class GuidedCount:
    """Counts the beads of one igloo while a hand follows the beat, until the answer is sure or :data:`LONGEST_S` over.

    ``calibrated(vectors, tier)`` gives the probabilities of 2 … 13 beads for pieces (k, f + h + 1) of the same igloo in
    the same hand, as :meth:`companion.igloo.calibration.store.Calibration.guided_opinion` does. Once another hand went
    on (:meth:`other_hand`) it is asked with a third argument, the number (k) of each piece's hand.
    """

    def __init__(self, calibrated: CalibratedModel, key: str = "", kind: DeviceKind = DeviceKind.REAL) -> None:
        self._calibrated = calibrated
        self._key, self._kind = key, kind
        self._stream: FeatureStream | None = None
        self._lately: list[FloatArray] = []
        self._rows: list[FloatArray] = []
        self._cells: list[FloatArray] = []
        self._sounds: list[SmallArray] = []
        self._pieces: list[FloatArray] = []
        self._raw: list[FloatArray] = []
        self._hand = 0
        self._hands: list[int] = []
        self._posterior: CountPosterior | None = None
        self._done = ""
        self._lost = ""

    @property
    def seconds(self) -> float:
        """How much motion in bounds was heard."""
        return (len(self._pieces) * PIECE_BLOCKS + len(self._rows)) * BLOCK_S

    def other_hand(self) -> None:
        """Say that from now on another person's hand shakes; a piece that was begun is dropped."""
        self._hand += 1
        self._rows, self._cells, self._sounds, self._lately = [], [], [], []

    def feed(self, samples: Samples) -> GuidedState | None:
        """Take a run of samples; return how it goes when a block (0.16 s) is complete."""
        rate = samples.rate_hz
        accel = np.asarray(samples.accel, dtype=np.float64)
        tier = tier_of(rate)
        why = TOO_SLOW if tier is None else unsound(accel, rate) if not np.isfinite(accel).all() else ""
        if why or tier is None:
            return self._state(Gauge(0.0, 0.0, 0.0, HOLD_STILL), why)
        if self._stream is None or abs(self._stream.rate_hz / rate - 1) > 0.01 or self._stream.tier != tier:
            self._stream = FeatureStream(rate)
            self._lately = []
        if samples.gap_before or samples.overflow_before:
            self._stream.restart()
            self._lately, self._raw = [], []
            self._lost = LOST
        self._raw.append(accel)
        if not self._stream.feed(accel):
            return None
        heard, self._raw = np.concatenate(self._raw), []
        wrong = unsound(heard, rate)
        now = Gauge(0.0, 0.0, 0.0, HOLD_STILL)
        sounds: list[SmallArray | None] = [*self._stream.sounds] or [None] * self._stream.blocks
        for row, cells, sound in zip(self._stream.rows, self._stream.cells, sounds, strict=True):
            self._lately = [*self._lately[-(GAUGE_BLOCKS - 1) :], cells]
            if len(self._lately) < GAUGE_BLOCKS:
                continue
            now = gauge(np.asarray(self._lately))
            if now.in_bounds and not wrong and not self._done:
                self._take(row, cells, sound, tier)
        self._stream.forget(0)
        lost, self._lost = self._lost, ""
        return self._state(now, wrong or lost)

    def _take(self, row: FloatArray, cells: FloatArray, sound: SmallArray | None, tier: float) -> None:
        """Count one block; every half piece ask what the calibration says."""
        self._rows.append(row)
        self._cells.append(cells)
        if sound is not None:
            self._sounds.append(sound)
        n = len(self._rows)
        if n % FEWEST_BLOCKS:
            return
        if wrong := why_not_a_shake(self._sounds):
            self._rows, self._cells, self._sounds = [], [], []
            self._lost = wrong
            return
        ensemble = shipped().tiers[tier]
        rows, stacked = np.asarray(self._rows).reshape(-1, ROW), np.asarray(self._cells).reshape(-1, CELLS, 5)
        piece = as_vector(embed_blocks(ensemble, tier, rows, stacked, self._sounds), ensemble)
        pieces, hands = [*self._pieces, piece], [*self._hands, self._hand]
        several = (tuple(hands),) if self._hand else ()
        p = self._calibrated(np.asarray(pieces), tier, *several)
        whole = n == PIECE_BLOCKS
        if whole:
            self._pieces, self._hands, self._rows, self._cells, self._sounds = pieces, hands, [], [], []
        sure = max(p) >= SURE_P and (whole or len(pieces) > 1)
        self._posterior = CountPosterior("counted" if sure else "more", p, self.seconds, "", self._key, self._kind)
        if sure:
            self._done = SURE
        elif self.seconds >= LONGEST_S - 1e-9:
            self._posterior = replace(self._posterior, state="counted", why=NOT_SURE)
            self._done = NOT_SURE

    def _state(self, now: Gauge, why: str) -> GuidedState:
        if not why and self._hands.count(self._hand) * PIECE_BLOCKS * BLOCK_S >= HAND_S - 1e-9 and now.in_bounds:
            why = OTHER_HAND
        return GuidedState(now, self.seconds, self._posterior, bool(self._done), self._done or why)
