"""Which values the tokens of a place show: each is found by its colour, then its print is turned and compared.

The network tells how many tokens of a kind lie in a place; their digits are too small for it. So a token is cut out of
the photo itself, where its print is some fifteen pixels high, and compared with every taught token in 24 directions and
with small shifts: normalised correlation inside the token's outline, without what another token may cover. The same
value on another kind of token is compared with, too, and counts a little less. A kind whose taught tokens are not told
from each other in this way (a print in a tile's corner, say) is left to the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import permutations, product
from typing import TYPE_CHECKING, Final

import numpy as np

from vision.read.token_crop import (
    REACH,
    SHOWS,
    TURNS,
    Kind,
    Spot,
    alike,
    close_of,
    empty_places,
    filled,
    kind_of,
    likeness,
    locate,
    moved,
    tint_of,
    turned,
    uncovered,
    windows,
)
from vision.read.token_digits import PrintedDigits, agreed
from vision.read.token_fit import FEWEST, Signs, TokenFit, find_fit
from vision.read.token_judgement import EVEN, TokenJudgement, judged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.ports import ByteArray, FloatArray
    from vision.board.labels import Content
    from vision.board.layout import Layout
    from vision.board.patches import Sampler
    from vision.read.profile import TaughtPhoto

    Floats = NDArray[np.float32]

Things = tuple[tuple[int, int], ...]
Ways = dict[Things, float]
MOST_PRINTS: Final = 8
"""Taught tokens of a value that are compared with."""
_FOREIGN: Final = (0.04, 0.0, 0.08)
"""What a print of another kind may count less."""
_OTHER_SIZE: Final = 0.06
_WHOLE: Final = 1.6
_UNTAUGHT: Final = 0.2
_CLEAR: Final = 0.1
_RELIABLE: Final = 0.8
_STAYS: Final = 0.9
_SIMPLER: Final = 2.0
_STRANGE: Final = 0.6
_STRAIGHT: Final = 0.9
_REACHES: Final = 2.8
"""Of a radius: tokens whose middles are nearer to each other may cover each other, corners and all."""
_EVERY_WAY: Final = np.ones(TURNS, np.bool_)
_QUARTERS: Final = np.isin(np.arange(TURNS) % (TURNS // 4), (0, 1, TURNS // 4 - 1))
_COARSE: Final = np.arange((2 * REACH + 1) ** 2).reshape(2 * REACH + 1, -1)[::2, ::2].ravel()
_FINE: Final = 4


@dataclass(frozen=True, eq=False)
class Print:
    """A taught token: where in which close-up, its inside moved (``windows``), and its colour ``tint`` (2,)."""

    kind: int
    thing: int
    place: int
    close: ByteArray
    spot: Spot
    windows: Floats
    tint: Floats


@dataclass(frozen=True)
class _Stack:
    """Taught prints as a kind is compared with them: (rows · TURNS, pixels), and whose print each row is.

    ``things`` has the kind's thing of each print's value (-1: there is none).
    Prints of other kinds are there at their size beside the token, and at their size on the table where that differs.
    """

    rows: Floats
    squares: Floats
    owner: NDArray[np.intp]
    things: NDArray[np.intp]
    own: NDArray[np.bool_]
    tints: Floats


_UNJUDGED: Final = TokenJudgement(EVEN, 0.0, _FOREIGN[0], True, _EVERY_WAY)
_NO_TINT: Final = np.zeros(2, np.float32)


@dataclass(frozen=True)
class _Seen:
    """How a token looks: ``scores`` by thing, the ``best`` of them, its ``spot``, and which share is ``shown``."""

    scores: dict[int, float]
    spot: Spot
    shown: float
    best: float


class TokenReader:
    """Reads the values of tokens; learns from the taught photos, and later from what is confirmed."""

    def __init__(self, sampler: Sampler, shots: Sequence[TaughtPhoto]) -> None:
        """Learn from shots in their common light."""
        self._sampler = sampler
        self._layout: Layout = sampler.layout
        self._kinds: dict[int, Kind] = {}
        self._prints: list[Print] = []
        self._how: dict[int, TokenJudgement] = {}
        self._digits = PrintedDigits(sampler.layout)
        self._fits: dict[int, TokenFit] = {}
        self._confirmed: dict[tuple[int, int], Things] = {}
        self._shown: dict[int, ByteArray] = {}
        self._turned: dict[Print, dict[float, Floats]] = {}
        empty = empty_places(sampler, shots)
        for number, things in enumerate(self._layout.valued):
            kind = kind_of(sampler, shots, things, empty)
            if kind is not None:
                self._kinds[number] = kind
        if not self._kinds:
            return
        # Places of which all tokens show the same first; then those where the order can be told by them.
        for mixed in (False, True):
            found: list[Print] = []
            for shot in shots:
                for place, content in sorted(shot.contents.items()):
                    if content.things:
                        patch = sampler.cut(shot.straight, [place])[0]
                        found += self._learn(place, patch, close_of(sampler, shot, place), content, mixed)
            self._keep(found)
        self._judge()
        self._digits.judge(self._prints, self._kinds)
        for number in self._how:
            self._find_fit(number, shots)

    def reads(self, kind: int) -> bool:
        """Return whether the values of a kind (its position in ``layout.valued``) are read here."""
        return kind in self._how or self._digits.reads(kind)

    @cached_property
    def legible(self) -> frozenset[int]:
        """Return the things whose values are known by the digit printed on them, even where none was taught."""
        return frozenset(t for kind, known in self._kinds.items() if self._digits.reads(kind) for t in known.things)

    def read(
        self, patch: ByteArray, close: ByteArray, place: int, kind: int, numbers: Sequence[int]
    ) -> tuple[dict[int, Ways], dict[int, float]]:
        """Return for each of the ``numbers`` of tokens of a kind how likely which values they have, and its odds.

        The odds tell how well so many tokens are found there, against one fewer than the least of the numbers.
        ``patch`` is the place in the taught light, ``close`` as :meth:`Sampler.close` cuts it; the kind is one that
        :meth:`reads` names.
        """
        known = self._kinds[kind]
        found = {}
        like = likeness(patch, known)
        every = locate(like, known, max(numbers))
        compared = cache(partial(self._compared, close, kind=known, number=kind))
        odds = {min(numbers) - 1: 1.0}
        digits = cache(partial(self._digits.chances, kind, close, known.radius))
        for many in sorted(numbers):
            single = []
            tokens = _unpiled(every[:many], compared, known)
            fit = self._fits.get(kind)
            more = 1.0 if fit is None else fit.odds(_signs(like, known, tokens), first=many == 1)
            # That there is any at all is told from afar; what is unlike all prints may be a value never taught.
            odds[many] = odds[max(odds)] * (more if many > 1 else max(more, 1.0))
            for index, seen in enumerate(tokens):
                chances = np.full(len(known.things), 1 / len(known.things))
                if kind in self._how:
                    scores = np.array([seen.scores.get(thing, _UNTAUGHT) for thing in known.things])
                    chances = self._how[kind].chances(scores, seen.shown)
                printed = digits(seen.spot, tuple(token.spot for token in tokens[:index]))
                if printed is not None:
                    chances = agreed(chances, printed, [thing in seen.scores for thing in known.things])
                single.append(chances)
            found[many] = self._remembered(self._ways(known, single), place, kind)
        return found, odds

    def _ways(self, known: Kind, single: Sequence[FloatArray]) -> Ways:
        """Return how likely which values lie there, by how likely each token has which; never more than may be."""
        ways: Ways = {(): 1.0}
        for chances in single:
            grown: Ways = {}
            for so_far, chance in ways.items():
                for thing, p in zip(known.things, chances.tolist(), strict=True):
                    many = dict(so_far)
                    many[thing] = many.get(thing, 0) + 1
                    if many[thing] <= self._layout.most[thing]:
                        things = tuple(sorted(many.items()))
                        grown[things] = grown.get(things, 0.0) + chance * p
            ways = grown
        return ways

    def _find_fit(self, number: int, shots: Sequence[TaughtPhoto]) -> None:
        """Learn what a token is like that is there, and what is none: beside those that lie alone."""
        kind = self._kinds[number]
        like_prints, full = [], []
        none: list[Signs] = []
        for shot in shots:
            for place, content in sorted(shot.contents.items()):
                if len(self._mine(content, number)) != 1:
                    continue
                close = close_of(self._sampler, shot, place)
                like = likeness(self._sampler.cut(shot.straight, [place])[0], kind)
                spots = locate(like, kind, 2)
                full.append(filled(like, kind, spots[0], ()))
                if len(spots) > 1:
                    compared = partial(self._compared, close, kind=kind, number=number)
                    none.append(_signs(like, kind, _unpiled(spots, compared, kind)))
        for one in (one for one in self._prints if one.kind == number):
            elsewhere = np.array([other.place != one.place for other in self._prints])
            like_them, _ = self._correlated(number, one.windows)
            seen = self._scored(like_them, one.tint, number, elsewhere, self._how[number])
            if one.thing in seen:
                like_prints.append(seen[one.thing])
        fit = find_fit((like_prints, full), tuple(zip(*none, strict=True)) or ((), ()))
        if fit is not None:
            self._fits[number] = fit

    def confirm(
        self, straight: ByteArray, close: Mapping[int, ByteArray], contents: Mapping[int, Content]
    ) -> frozenset[int]:
        """Learn what is certain: the prints of tokens, and which values lie where until that is said anew.

        Return the places of ``close`` that are to be read anew for it. The same close-up teaches the same but once.
        """
        found: list[Print] = []
        said: set[int] = set()
        for place, content in contents.items():
            for kind in self._kinds:
                mine = self._mine(content, kind)
                before = self._confirmed.pop((place, kind), None)
                if mine:
                    self._confirmed[place, kind] = _counted(mine)
                if before != self._confirmed.get((place, kind)):
                    said.add(place)
            if place in close and (place in said or self._shown.get(place) is not close[place]):
                self._shown[place] = close[place]
                patch = self._sampler.cut(straight, [place])[0]
                found += self._learn(place, patch, close[place], content, mixed=False)
        if not found:
            return frozenset(said)
        self._keep(found)
        return frozenset(close)

    def _remembered(self, ways: Ways, place: int, kind: int) -> Ways:
        """Return the ways, those that were last confirmed here the likelier."""
        last = self._confirmed.get((place, kind))
        total = sum(ways.values())
        if last not in ways or total <= 0:
            return {things: p / max(total, 1e-12) for things, p in ways.items()}
        even = (1 - _STAYS) / len(ways)
        weighed = {things: p * (even + (_STAYS if things == last else 0.0)) for things, p in ways.items()}
        total = sum(weighed.values())
        return {things: p / total for things, p in weighed.items()}

    def _mine(self, content: Content, kind: int) -> list[int]:
        own = self._kinds[kind].things
        return [thing for thing, many in content.things if thing in own for _ in range(many)]

    def _learn(self, place: int, patch: ByteArray, close: ByteArray, content: Content, mixed: bool) -> list[Print]:
        found: list[Print] = []
        for number, kind in self._kinds.items():
            mine = self._mine(content, number)
            if not 1 <= len(mine) <= 3 or (len(set(mine)) > 1) != mixed:
                continue
            spots = locate(likeness(patch, kind), kind, len(mine))
            if mixed:
                mine = self._ordered(close, spots, number, mine)
            for thing, spot in zip(mine, spots, strict=False):
                if all(np.hypot(spot[0] - o[0], spot[1] - o[1]) > _WHOLE * kind.radius for o in spots if o is not spot):
                    signs, tint = windows(close, spot, kind.radius), tint_of(close, spot, kind.radius)
                    found.append(Print(number, thing, place, close, spot, signs, tint))
        return found

    def _ordered(self, close: ByteArray, spots: list[Spot], number: int, mine: list[int]) -> list[int]:
        """Return which thing lies at which spot; none where that is not clear."""
        scores = [self._compared(close, spot, (), self._kinds[number], number).scores for spot in spots]
        orders = sorted(
            (
                (sum(s.get(t, _UNTAUGHT) for s, t in zip(scores, order, strict=True)), order)
                for order in set(permutations(mine))
            ),
            reverse=True,
        )
        clear = len(orders) < 2 or orders[0][0] - orders[1][0] > _CLEAR
        return list(orders[0][1]) if clear else []

    def _keep(self, found: list[Print]) -> None:
        """Keep the newest prints of each thing."""
        many: dict[int, int] = {}
        kept = []
        for one in reversed([*self._prints, *found]):
            many[one.thing] = many.get(one.thing, 0) + 1
            if many[one.thing] <= MOST_PRINTS:
                kept.append(one)
        self._prints = kept[::-1]
        self._turned = {one: known for one, known in self._turned.items() if one in self._prints}
        self._stacks = {number: self._stacked(number, kind) for number, kind in self._kinds.items() if kept}

    def _stacked(self, number: int, kind: Kind) -> _Stack:
        rows, owner = [], []
        for index, one in enumerate(self._prints):
            own = self._kinds[one.kind].radius
            radii = [own]
            if one.kind != number and abs(np.log(kind.radius / own)) > _OTHER_SIZE:
                radii.append(kind.radius)
            for radius in radii:
                rows.append(self._turned_print(one, radius))
                owner.append(index)
        stack = np.concatenate(rows)
        by_value = {str(self._layout.things[t].value): t for t in kind.things}
        things = [by_value.get(str(self._layout.things[one.thing].value), -1) for one in self._prints]
        mine = np.array([one.kind == number for one in self._prints])
        tints = np.stack([one.tint for one in self._prints])
        return _Stack(stack, stack**2, np.array(owner), np.array(things), mine, tints)

    def _turned_print(self, one: Print, radius: float) -> Floats:
        """Return a print in all directions at a size; it is turned once."""
        known = self._turned.setdefault(one, {})
        if radius not in known:
            known[radius] = turned(one.close, one.spot, radius)
        return known[radius]

    def _judge(self) -> None:
        """Find how each kind is read best, and how far that is trusted: prints are read by those of other places.

        A kind of which too little was taught for that is read by the prints of kinds that are well read.
        """
        few = []
        for number in self._kinds:
            mine = [one for one in self._prints if one.kind == number]
            if len(mine) < FEWEST:
                few.append((number, mine))
            else:
                self._find_reading(number, mine, FEWEST)
        if self._how:
            for number, mine in few:
                self._find_reading(number, mine, 1)

    def _find_reading(self, number: int, mine: list[Print], fewest: int) -> None:
        kind = self._kinds[number]
        taught = {one.thing for one in mine}
        partly = len(taught) < len(kind.things)
        like = [self._correlated(number, one.windows)[0] for one in mine]
        best = -np.inf
        ways = (_EVERY_WAY, _QUARTERS) if self._lie_straight(mine, like) else (_EVERY_WAY,)
        for turns, tint in product(ways, (0.0, 0.3, 0.8)):
            for foreign in _FOREIGN if partly else _FOREIGN[:1]:
                for own in {1: (False,)}.get(len(taught), (True, False)) if partly else (True,):
                    how = TokenJudgement(EVEN, tint, foreign, own, turns)
                    truth, scores = self._read_each_other(mine, like, kind, how, partly)
                    if len(truth) < fewest or (scores.argmax(axis=1) == truth).mean() < _RELIABLE:
                        continue
                    trust, likely = judged(scores, truth)
                    # What says more has to explain clearly more.
                    likely -= _SIMPLER * (tint > 0)
                    if likely > best:
                        best = likely
                        self._how[number] = replace(how, trust=trust)

    def _lie_straight(self, mine: list[Print], like: list[Floats]) -> bool:
        """Return whether prints of the same thing are likest to each other by quarter turns, as tiles are."""
        straight = []
        for one, best in zip(mine, like, strict=True):
            same = [i for i, other in enumerate(self._prints) if other.thing == one.thing and other.place != one.place]
            if same:
                straight.append(_QUARTERS[int(best[same].max(axis=0).argmax())])
        return len(straight) >= FEWEST and float(np.mean(straight)) >= _STRAIGHT

    def _read_each_other(
        self, mine: list[Print], like: list[Floats], kind: Kind, how: TokenJudgement, partly: bool
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Return which of a kind's things each print is, and the scores it gets of those of other places.

        Where values of the kind were ``partly`` taught, each is read as if it had not been, too.
        """
        cases = []
        for one, best in zip(mine, like, strict=True):
            strangers = np.array([other.thing != one.thing for other in self._prints])
            # A token that lies where it lay is the same one, and says little; where there is no other, it has to do.
            elsewhere = np.array([other.place != one.place for other in self._prints])
            if not (elsewhere & ~strangers).any():
                elsewhere = np.array([other.close is not one.close for other in self._prints])
            for among in (elsewhere, elsewhere & strangers) if partly else (elsewhere,):
                seen = self._scored(best, one.tint, one.kind, among, how)
                if one.thing in seen and len(seen) > 1:
                    cases.append((kind.things.index(one.thing), [seen.get(t, _UNTAUGHT) for t in kind.things]))
        return np.array([case[0] for case in cases], np.int64), np.array([case[1] for case in cases])

    def _compared(self, close: ByteArray, spot: Spot, above: Sequence[Spot], kind: Kind, number: int) -> _Seen:
        """Return how a token near a spot correlates with the prints of each thing of the kind."""
        free = uncovered(spot, above, kind.radius) if above else None
        like, at = self._correlated(number, windows(close, spot, kind.radius), free)
        how = self._how.get(number, _UNJUDGED)
        tint = tint_of(close, spot, kind.radius) if how.tint else _NO_TINT
        scores = self._scored(like, tint, number, None, how)
        shown = 1.0 if free is None else max(float(free[at].mean()), SHOWS)
        return _Seen(scores, moved(spot, kind.radius, at), shown, max(scores.values(), default=-1.0))

    def _correlated(self, number: int, signs: Floats, weights: Floats | None = None) -> tuple[Floats, int]:
        """Return (prints, TURNS): how well each print, turned, correlates with the best of the signs (n, pixels).

        Also return which of the signs correlates best.
        """
        stack = self._stacks[number]
        few = None if weights is None else weights[_COARSE]
        best = alike(stack.rows, stack.squares, signs[_COARSE], few).max(axis=1).reshape(-1, TURNS)
        # Only the likeliest turns of each print are compared with every sign.
        turns = np.argpartition(best, -_FINE, axis=1)[:, -_FINE:]
        rows = (np.arange(len(best))[:, None] * TURNS + turns).ravel()
        fine = alike(stack.rows[rows], stack.squares[rows], signs, weights)
        best.ravel()[rows] = fine.max(axis=1)
        found: Floats = np.full((len(self._prints), TURNS), -1, np.float32)
        np.maximum.at(found, stack.owner, best)
        return found, int(fine.max(axis=0).argmax())

    def _scored(
        self, like: Floats, tint: Floats, number: int, among: NDArray[np.bool_] | None, how: TokenJudgement
    ) -> dict[int, float]:
        """Return for each thing of a kind the score of its best print."""
        stack = self._stacks[number]
        score = like[:, how.turns].max(axis=1) - np.where(stack.own, 0.0, how.foreign)
        if how.tint:
            score -= how.tint * np.minimum(np.abs(stack.tints - tint).sum(axis=1), _STRANGE)
        counts = (stack.things >= 0) & (how.own | ~stack.own) & (True if among is None else among)
        scores: dict[int, float] = {}
        for thing, found in zip(stack.things[counts].tolist(), score[counts].tolist(), strict=True):
            scores[thing] = max(found, scores.get(thing, -1.0))
        return scores


def _unpiled(spots: Sequence[Spot], compared: Callable[[Spot, tuple[Spot, ...]], _Seen], kind: Kind) -> list[_Seen]:
    """Return how tokens look that may lie on each other, as ``compared`` tells it of a spot under others.

    The one that is seen best is the first, and covers the others.
    """
    left = {index: compared(spot, ()) for index, spot in enumerate(spots)}
    above: tuple[Spot, ...] = ()
    seen = []
    while left:
        top = left.pop(max(left, key=lambda index: left[index].best))
        seen.append(top)
        above = (*above, top.spot)
        for index in left:
            x, y = spots[index]
            if np.hypot(x - top.spot[0], y - top.spot[1]) < _REACHES * kind.radius:
                left[index] = compared(spots[index], above)
    return seen


def _signs(like: Floats, kind: Kind, tokens: Sequence[_Seen]) -> Signs:
    """Return the signs of the token that is least like one, of some of which each may cover the next."""
    spots = [token.spot for token in tokens]
    full = [filled(like, kind, spot, spots[:above]) for above, spot in enumerate(spots)]
    return min(token.best for token in tokens), min(full)


def _counted(things: Iterable[int]) -> Things:
    many: dict[int, int] = {}
    for thing in things:
        many[thing] = many.get(thing, 0) + 1
    return tuple(sorted(many.items()))
