"""How many pieces of a colour stand on a long place, a start or a home, by how much of their colour is there.

The patch of a place that is longer than others shows little of each piece. The straight board shows them all at one
scale: every pixel says by its colour how likely it belongs to which thing (see :mod:`vision.learn.count_shapes`), and
their sum on the place, against what one such piece comes to where it was taught alone, tells how many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from vision.learn.count_shapes import belonging, find_table, sorts_of
from vision.learn.cutouts import LabelledBoard
from vision.read.reader import common_light

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from companion.ports import ByteArray, FloatArray
    from vision.board.labels import Content
    from vision.board.patches import Sampler
    from vision.read.profile import Profile

_RIM: Final = 0.15
"""Of a usual place: so far beside its place a piece may be seen."""
_SCALE, _BASE, _NOISE, _EACH = 0.15, 0.4, 0.2, 0.1
"""Before strips were taught, in pieces: how far off each piece comes to, and the ground to none; then how far each look
is off, and every piece in it.
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
        self.row, self._one, self._strips = row, one, strips
        known = np.diag([_SCALE**-2, *([_BASE**-2] * strips)])
        seen = known @ np.array([1.0, *([0.0] * strips)])
        for strip, many, amount in taught:
            x = self._at(strip, many)
            known += np.outer(x, x) / self._noise(many)
            seen += x * (amount / one) / self._noise(many)
        self._spread: FloatArray = np.linalg.inv(known)
        self._line: FloatArray = self._spread @ seen

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

    def __init__(self, profile: Profile, sampler: Sampler) -> None:
        """Learn from the taught photos what one piece of each colour comes to."""
        self._layout, self._sampler = profile.layout, sampler
        self.places = sampler.strips
        self._fits: dict[int, _Fit] = {}
        if not self.places or profile.network is None:
            return
        shots = common_light(sampler, profile.shots)[0]
        sorts = sorts_of(self._layout)
        self._table = find_table(
            sampler, [LabelledBoard(shot.straight, self._plain(shot.contents)) for shot in shots], sorts
        )
        amounts = [{number: self._amount(shot.straight, number) for number in shot.contents} for shot in shots]
        for row, sort in enumerate(sorts):
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
            one = float(np.mean([amount - grounds.get(ground, usual) for ground, amount in ones] or [0.0]))
            if len(sort.things) == 1 and one > _SEEN:
                self._fits[thing] = _Fit(row, one, len(self.places), taught)

    def _plain(self, contents: Mapping[int, Content]) -> dict[int, Content]:
        """Return what lies in the usual places and in empty strips: pieces are cut out where they are seen large."""
        return {n: content for n, content in contents.items() if n not in self.places or not content.things}

    @property
    def lacking(self) -> tuple[int, ...]:
        """Return the things of a known sum that cannot be counted: none of them was taught alone on a usual place."""
        if not self.places:
            return ()
        return tuple(n for n, total in enumerate(self._layout.sums) if total and n not in self._fits)

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
