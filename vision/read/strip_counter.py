"""How many pieces of a colour stand on a long place, a start or a home, by how much of their colour is there.

The patch of a place that is longer than others shows little of each piece. The straight board shows them all at one
scale: every pixel says by its colour how likely it belongs to which thing (see :mod:`vision.learn.count_shapes`), and
their sum on the place, against what one such piece comes to where it was taught, tells how many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from vision.learn.count_shapes import belonging

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from companion.ports import ByteArray, FloatArray
    from vision.board.labels import Content
    from vision.board.patches import Sampler
    from vision.learn.classifier import Network, PlacePrediction
    from vision.read.profile import TaughtPhoto

_RIM: Final = 0.15
"""Of a usual place: so far beside its place a piece may be seen."""
_SCALE, _BASE, _NOISE, _EACH = 0.15, 0.4, 0.2, 0.1
"""Before strips were taught, in pieces: how far off each piece comes to, and the ground to none; then how far each look
is off, and every piece in it.
"""
_ANY_BASE: Final = 10.0
"""The same of the ground of a strip that was seen bare: what it comes to is told by that alone."""
_TOLD: Final = 0.75
"""What the amount counts when it is asked how many, of one; the rest is the network's. On a strip of which it was
agreed how many stand there the amount alone tells: the network has seen no heaps but those that were taught.
"""
_CLEAR, _CERTAIN = 0.7, 0.95
"""A pixel of less than the first says nothing, grounds of a rare colour are as likely; one of the second is whole."""
_SEEN: Final = 0.02
"""Of a usual place: a piece that has less of its colour than this cannot be told from nothing."""
_LEAST: Final = 1e-4


class _Fit:
    """What the amount of one colour says of a number of pieces: a line through what was taught of all strips.

    Amounts are counted in single pieces; each piece on a strip comes to about one of them (pieces hide each other), and
    each strip's ground to about none. Both are fitted with the normal distributions above as what was known before.
    """

    def __init__(self, row: int, one: float, strips: int, taught: Sequence[tuple[int, int, float]]) -> None:
        """Fit ``taught``: strip, number of pieces, amount; ``one`` is what a piece alone comes to."""
        self.row, self._one, self._strips, self._taught = row, one, strips, tuple(taught)
        bare = {strip for strip, many, _ in taught if not many}
        bases = [_ANY_BASE if strip in bare else _BASE for strip in range(strips)]
        known = np.diag([_SCALE**-2, *(base**-2 for base in bases)])
        seen = known @ np.array([1.0, *([0.0] * strips)])
        for strip, many, amount in taught:
            x = self._at(strip, many)
            known += np.outer(x, x) / self._noise(many)
            seen += x * (amount / one) / self._noise(many)
        self._spread: FloatArray = np.linalg.inv(known)
        self._line: FloatArray = self._spread @ seen

    def seen(self, strip: int, many: int, amount: float) -> _Fit:
        """Return the fit with one more strip of which it is known how many stand there; of as many, the last counts."""
        kept = [known for known in self._taught if known[:2] != (strip, many)]
        return _Fit(self.row, self._one, self._strips, [*kept, (strip, many, amount)])

    def _at(self, strip: int, many: int) -> FloatArray:
        x = np.zeros(1 + self._strips)
        x[0], x[1 + strip] = many, 1.0
        return x

    @staticmethod
    def _noise(many: int) -> float:
        return _NOISE**2 + (_EACH**2) * many**2

    def read(self, strip: int, amount: float, most: int) -> FloatArray:
        """Return how likely none, one, two … pieces are."""
        p = np.zeros(most + 1)
        for many in range(most + 1):
            x = self._at(strip, many)
            variance = float(x @ self._spread @ x) + self._noise(many)
            p[many] = np.exp(-0.5 * (amount / self._one - float(x @ self._line)) ** 2 / variance) / np.sqrt(variance)
        p += _LEAST
        read: FloatArray = p / p.sum()
        return read


class Strips:
    """Counts pieces on the long places of a taught table; nothing where the layout has none."""

    def __init__(self, sampler: Sampler, network: Network, shots: Sequence[TaughtPhoto]) -> None:
        """Learn from taught photos, in a common light, what one piece of each colour comes to."""
        self._layout, self._sampler = sampler.layout, sampler
        self.places = sampler.strips
        self._fits: dict[int, _Fit] = {}
        self._agreed: set[int] = set()
        if not self.places:
            return
        self._table = network.arrays["shape_table"]
        amounts = [{number: self._amount(shot.straight, number) for number in shot.contents} for shot in shots]
        for row, sort in enumerate(network.sorts):
            thing = sort.things[0]
            ones: list[tuple[int, float]] = []
            bare: dict[int, list[float]] = {}
            taught = []
            for shot, amount in zip(shots, amounts, strict=True):
                for number, content in shot.contents.items():
                    if number in self.places:
                        taught.append((self.places.index(number), content.count(thing), float(amount[number][row])))
                    elif content.things == ((thing, 1),):
                        ones.append((content.ground, float(amount[number][row])))
                    elif not content.things:
                        bare.setdefault(content.ground, []).append(float(amount[number][row]))
            grounds = {ground: float(np.mean(amounts)) for ground, amounts in bare.items()}
            usual = float(np.mean(list(grounds.values()) or [0.0]))
            each = [amount - grounds.get(ground, usual) for ground, amount in ones]
            # Where none ever stood alone, a heap tells, of which it is known how many stand there.
            one = float(np.mean(each or [amount / many for _, many, amount in taught if many] or [0.0]))
            if len(sort.things) == 1 and one > _SEEN:
                self._fits[thing] = _Fit(row, one, len(self.places), taught)

    @property
    def lacking(self) -> tuple[int, ...]:
        """Return the things of a known sum that cannot be counted: none of them was taught."""
        if not self.places:
            return ()
        return tuple(n for n, total in enumerate(self._layout.sums) if total and n not in self._fits)

    def confirm(self, straight: ByteArray, contents: Mapping[int, Content]) -> None:
        """Learn from a straight board in the taught light, by place, what surely stands on strips, however it was read.

        How many stand there next is told by how much more or less of their colour there is than now.
        """
        for strip, number in enumerate(self.places):
            if number in contents:
                self._agreed.add(number)
                amount = self._amount(straight, number)
                for thing, fit in self._fits.items():
                    self._fits[thing] = fit.seen(strip, contents[number].count(thing), float(amount[fit.row]))

    def weigh(self, straight: ByteArray, reading: PlacePrediction) -> None:
        """Let amounts have their say about how many pieces stand on each strip of a straight board."""
        for strip, number in enumerate(self.places):
            amount, share = self._amount(straight, number), 1.0 if number in self._agreed else _TOLD
            for thing, fit in self._fits.items():
                part = reading.counts[thing][number]
                told = fit.read(strip, float(amount[fit.row]), self._layout.most[thing])
                # Both see the same pixels, so their weights add up to one.
                pooled = np.maximum(part, _LEAST) ** (1 - share) * told**share
                part[:] = pooled / pooled.sum()
            # Of a heap whose pieces were never told apart the network knows what was taught, whatever stands there.
            for thing in self.lacking:
                reading.counts[thing][number][:] = 1 / (self._layout.most[thing] + 1)

    def read(self, straight: ByteArray) -> dict[tuple[int, int], FloatArray]:
        """Return by place and thing how likely each number of them is, from none on, in the taught light."""
        found = {}
        for strip, number in enumerate(self.places):
            amount = self._amount(straight, number)
            for thing, fit in self._fits.items():
                found[number, thing] = fit.read(strip, float(amount[fit.row]), self._layout.most[thing])
            for thing in self.lacking:
                many = self._layout.most[thing] + 1
                found[number, thing] = np.full(many, 1 / many)
        return found

    def _amount(self, straight: ByteArray, number: int) -> FloatArray:
        """Return (sorts,): how much of each there is on a place and its rim, in usual places."""
        p, (left, far, _, _), side = self._layout.places[number], self._sampler.box, self._sampler.side
        rim = _RIM * self._sampler.unit
        low_x, high_x = (round((x - left) * side) for x in (p.x - p.width / 2 - rim, p.x + p.width / 2 + rim))
        low_y, high_y = (round((y - far) * side) for y in (p.y - p.height / 2 - rim, p.y + p.height / 2 + rim))
        part = np.ascontiguousarray(straight[max(low_y, 0) : high_y, max(low_x, 0) : high_x])
        clear = np.clip((belonging(part, self._table) - _CLEAR) / (_CERTAIN - _CLEAR), 0, 1)
        total: FloatArray = clear.sum(axis=(0, 1), dtype=np.float64)
        return total / (self._sampler.unit * side) ** 2
