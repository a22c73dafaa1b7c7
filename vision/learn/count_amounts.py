"""How many of a sort may lie in a place, by how much of their colour is there: two pieces apart are twice one.

What one piece comes to was taught, and how much that varies; what neighbours show in a place that has none was taught,
too. Several pieces come to at least one, and to as many as they are where none hides another: anything between is as
likely. So an amount tells surely only how many there are at the least; it keeps a count from being sure against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gamma, pi, sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from vision.learn.count_shapes import amounts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.board.labels import Content
    from vision.learn.classifier import PlacePrediction
    from vision.learn.count_shapes import Sort

    Floats = NDArray[np.float32]

_STEP: Final = 1 / 32
"""How finely it is asked how much of several pieces is hidden, in pieces."""
_SOME: Final = 0.02
"""So likely a sort must lie alone in a place for its amount to be looked at."""
_LEAST: Final = 1e-30


@dataclass(frozen=True)
class _Piece:
    """What ``one`` piece comes to, how far that is off (in pieces; ``freedom`` degrees of it), and what is ``beside``
    it (n,): what was seen of neighbours where none lay, in pieces, and which ``share`` (n,) of places showed so much.
    """

    one: float
    spread: float
    freedom: int
    beside: FloatArray
    share: FloatArray

    def likelihoods(self, amounts: FloatArray, most: int) -> FloatArray:
        """Return (n, most): how likely each amount (n,) is where one, two … lie."""
        steps = round(1 / _STEP)
        shown = 1 + np.arange((most - 1) * steps + 1) * _STEP
        off = amounts[:, None, None] / self.one - shown[None, :, None] - self.beside[None, None]
        density = self._density(off) @ self.share
        numbers = [density[:, : many * steps + 1].mean(axis=1) for many in range(most)]
        likely: FloatArray = np.stack(numbers, axis=1)
        return likely

    def _density(self, off: FloatArray) -> FloatArray:
        """Return Student's density: what is to be expected where the spread itself comes from so few."""
        f = self.freedom
        scale = gamma((f + 1) / 2) / (gamma(f / 2) * sqrt(f * pi)) / self.spread
        density: FloatArray = scale * (1 + (off / self.spread) ** 2 / f) ** (-(f + 1) / 2)
        return density


class Amounts:
    """Weighs counts by the amounts of colour that were taught: of pieces that stand beside each other.

    Tokens of a kind with values lie on each other; how many there are of them is found close up.
    """

    def __init__(
        self,
        table: Floats,
        sorts: Sequence[Sort],
        taught: Sequence[tuple[Mapping[int, Content], ByteArray]],
    ) -> None:
        """Learn from contents by place and the patches of these places, a pair for each photo."""
        self._table = table
        seen = [(contents, sorted(contents), amounts_of(patches, table)) for contents, patches in taught]
        self._pieces: dict[int, tuple[int, _Piece]] = {}
        for index, sort in enumerate(sorts):
            thing = sort.things[0]
            ones: dict[int, list[float]] = {}
            none: list[float] = []
            for contents, numbers, amounts in seen:
                for number, amount in zip(numbers, amounts[:, index].tolist(), strict=True):
                    many = contents[number].count(thing)
                    if many == 1:
                        ones.setdefault(number, []).append(amount)
                    elif not many:
                        none.append(amount)
            # A piece that stays where it is in several photos is one piece.
            each = np.array([np.mean(some) for some in ones.values()])
            if len(sort.things) == 1 and sort.most > 1 and len(each) > 1 and none and each.min() > 0:
                one = float(np.median(each))
                spread = max(float(each.std(ddof=1)) / one * sqrt(1 + 1 / len(each)), _STEP)
                beside, often = np.unique(np.round(np.array(none) / one / _STEP), return_counts=True)
                self._pieces[index] = thing, _Piece(one, spread, len(each) - 1, beside * _STEP, often / len(none))

    def weigh(self, patches: ByteArray, reading: PlacePrediction) -> None:
        """Let amounts have their say about how many there are, as far as nothing else lies there."""
        if not self._pieces:
            return
        parts = (*reading.counts, *reading.totals)
        nothing = np.stack([part[:, 0] for part in parts])
        alone = {thing: np.delete(nothing, thing, axis=0).prod(axis=0) for thing, _ in self._pieces.values()}
        there = {thing: (1 - nothing[thing]) * share > _SOME for thing, share in alone.items()}
        looked_at = np.nonzero(np.any(list(there.values()), axis=0))[0]
        if not len(looked_at):
            return
        amounts = np.zeros((len(patches), self._table.shape[1]))
        amounts[looked_at] = amounts_of(patches[looked_at], self._table)
        for index, (thing, piece) in self._pieces.items():
            some = np.nonzero(there[thing])[0]
            part = reading.counts[thing][some, 1:]
            likely = part * piece.likelihoods(amounts[some, index], part.shape[1])
            likely *= part.sum(axis=1, keepdims=True) / np.maximum(likely.sum(axis=1, keepdims=True), _LEAST)
            weight = alone[thing][some, None]
            reading.counts[thing][some, 1:] = weight * likely + (1 - weight) * part
