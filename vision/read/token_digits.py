"""Digits on tokens, as far as they are to be believed on this table: that is told by the tokens that were taught.

A kind whose values are numbers from 0 to 9 may have them printed as digits, or as so many fish, or in a way of its own.
The reader of digits (:mod:`vision.learn.digits`) knows no table, so each taught token is read by it, and the share that
it reads rightly is how far it is believed of the next. A digit may stand in the token's middle or aside, beside a
picture, say: where it does not in the middle, it is looked for all around.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from vision.learn.digits import read_digits
from vision.read.token_crop import SHOWS, Spot, signs_of

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.board.layout import Layout
    from vision.read.token_crop import Kind

_LOOKS: Final = np.array([(x, y, zoom) for zoom in (0.9, 1.15) for x, y in ((0.0, 0.0), (0.12, 0.08), (-0.12, -0.08))])
"""A digit is looked at so many radii aside, and in such a size: what all of it agree on counts."""
_AROUND: Final = 12
_RINGS: Final = ((0.4, 0.65), (0.4, 0.5), (0.55, 0.5))
"""Where else a digit may be: so many radii aside, in which direction soever, and its size beside one in the middle."""
_LEAST: Final = 1e-3
_BELIEVED: Final = 0.75
_OTHERS: Final = 0.5
"""What a token of another kind counts, when it is asked whether this kind's digits are read rightly."""
_FEWEST: Final = 3

Ring = tuple[float, float]


class TaughtToken(Protocol):
    """A taught token: which ``thing`` of a ``kind`` it is, in which ``place`` and ``close``-up, and where in that."""

    @property
    def kind(self) -> int: ...
    @property
    def thing(self) -> int: ...
    @property
    def place(self) -> int: ...
    @property
    def close(self) -> ByteArray: ...
    @property
    def spot(self) -> Spot: ...


class PrintedDigits:
    """Reads the digits of tokens, each kind as far as its taught tokens were read rightly."""

    def __init__(self, layout: Layout) -> None:
        """Know which kinds of a layout have numbers of one digit."""
        self._values: dict[int, list[int]] = {}
        self._things: dict[int, tuple[int, ...]] = {}
        self._trust: dict[int, float] = {}
        self._ring: dict[int, Ring | None] = {}
        for number, things in enumerate(layout.valued):
            values = [str(layout.things[thing].value) for thing in things]
            if len(values) > 1 and all(len(value) == 1 and value.isdecimal() for value in values):
                self._values[number] = [int(value) for value in values]
                self._things[number] = things

    def judge(self, taught: Iterable[TaughtToken], kinds: Mapping[int, Kind]) -> None:
        """Find how far the digits of each kind are believed, by tokens whose values are known."""
        tokens = [one for one in taught if one.kind in self._values]
        self._trust, self._ring = {}, {}
        for ring in (None, *_RINGS):
            # Where the middle is believed nothing else is tried.
            middle = [number for number, found in self._ring.items() if found is None]
            hits = self._hits([one for one in tokens if one.kind not in middle], kinds, ring)
            for number, own in hits.items():
                others = [hit for other, some in hits.items() if other != number for hit in some]
                known = len(own) + _OTHERS * len(others)
                trust = (sum(own) + _OTHERS * sum(others) + 1) / (known + 2)
                # Of several rings one is likelier to fit by chance: by as many guesses more as make up for that.
                more = log(len(_RINGS), len(self._values[number])) if ring else 0.0
                better = trust >= _BELIEVED and trust > self._trust.get(number, 0.0)
                if known >= _FEWEST + more and better and number not in middle:
                    self._trust[number], self._ring[number] = trust, ring

    def _hits(
        self, tokens: Iterable[TaughtToken], kinds: Mapping[int, Kind], ring: Ring | None
    ) -> dict[int, list[float]]:
        """Return for each kind how likely the truth is by the digits of its tokens; a token that stays counts once."""
        read: dict[int, dict[tuple[int, int], list[float]]] = {number: {} for number in self._values}
        for one in tokens:
            chances = self._read(one.kind, one.close, one.spot, kinds[one.kind].radius, (), ring)
            right = float(chances[self._things[one.kind].index(one.thing)])
            # A token that lies where it lay in another photo is no other token.
            read[one.kind].setdefault((one.place, one.thing), []).append(right)
        return {number: [float(np.mean(some)) for some in by.values()] for number, by in read.items()}

    def reads(self, kind: int) -> bool:
        """Return whether the digits of a kind are believed at all."""
        return kind in self._trust

    def chances(
        self, kind: int, close: ByteArray, radius: float, spot: Spot, above: Sequence[Spot]
    ) -> FloatArray | None:
        """Return how likely each thing of a kind is by the digit on a token; None where none is believed.

        ``above``: the tokens that may lie over it.
        """
        trust = self._trust.get(kind)
        if trust is None:
            return None
        chances: FloatArray = trust * self._read(kind, close, spot, radius, above, self._ring[kind])
        chances += (1 - trust) / len(chances)
        return chances

    def _read(
        self, kind: int, close: ByteArray, spot: Spot, radius: float, above: Sequence[Spot], ring: Ring | None
    ) -> FloatArray:
        """Return how likely each value is by the digit in a token's middle, or on a ring about it."""
        if ring is None:
            at, zooms = np.array(spot) + radius * _LOOKS[:, :2], _LOOKS[:, 2]
        else:
            aside, zoom = ring
            turns = 2 * np.pi * np.arange(_AROUND) / _AROUND
            at = np.array(spot) + aside * radius * np.stack([np.cos(turns), np.sin(turns)], axis=1)
            zooms = np.full(_AROUND, zoom)
        signs, free = signs_of(close, at, radius, zooms, above)
        read = read_digits(signs, free)
        values = read[:, self._values[kind]].astype(np.float64) + _LEAST
        if ring is None:
            logs = np.log(values).mean(axis=0)
            odds = np.exp(logs - logs.max())
        else:
            # Where it stands is not known: each value is as likely as the spot where it is likeliest against all else.
            seen = free.mean(axis=(1, 2)) >= SHOWS
            likely = values / (1 - values + 2 * _LEAST)
            odds = likely[seen].max(axis=0) if seen.any() else np.ones(values.shape[1])
        chances: FloatArray = odds / odds.sum()
        return chances


def agreed(compared: FloatArray, printed: FloatArray, taught: list[bool]) -> FloatArray:
    """Return how likely each value is by the prints it was compared with and by its digit.

    Of values that were never ``taught`` the digit alone tells.
    """
    chances = printed.copy()
    known = np.array(taught)
    if known.any():
        both = compared[known] * printed[known]
        chances[known] = printed[known].sum() * both / both.sum()
    return chances
