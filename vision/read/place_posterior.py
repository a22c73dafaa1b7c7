"""What may lie in one place, as probabilities that belong together.

The things of a place fall into factors that are taken as independent of each other: the number of each coloured thing
by itself, and for a kind with several values all its things at once (how many there are is seen from afar; which
values, from near by). Many factors that each doubt a little must not add up to a bare place where grounds of this sort
were never bare: what lies there is one choice over whole contents. A remembered content counts on top, by as much as it
is likelier than by the factors alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vision.board.labels import Content
from vision.read.untaught_values import NONE_UNTAUGHT, UntaughtValues

if TYPE_CHECKING:
    from companion.ports import FloatArray
    from vision.board.layout import Layout

Things = tuple[tuple[int, int], ...]
UNSURE: Final = 0.8
"""A place is unsure where the likeliest content is less likely than this."""
_LEAST = 1e-6
_EACH: Final = 3 / 4
"""How far each of two readers of one picture counts: 1/2 where one says nothing that the other does not, 1 where they
err independently; midway, as neither is known."""
_MOST_VALUES = 5


@dataclass(frozen=True)
class PlaceLook:
    """What lies in one place.

    ``ground`` has a probability for each class. Each of ``factors`` maps what may lie there of some things (those at
    the same position in ``members``) to its probability. ``known`` are whole contents and the probability that each has
    on top of its share in the factors, which count ``parts``: of a second reader, and remembered. ``agreed`` is how far
    both readers say the same, 1 where they do (Bhattacharyya 1943), ``doubted`` how likely ``known`` contents are if
    one says nothing that the other does not. ``odd`` is the probability of something else: a hand, a cup, a thing never
    taught. ``seen`` is False where the photo does not show the place whole. ``legible``: things whose
    values would be known by what is printed on them, taught or not. ``bare`` (grounds,) is how often, against what the
    factors say, nothing lies on each ground (see :func:`bare_of`); None: as they say. ``taught`` are the whole contents
    that the table was shown, ``untaught`` the values that it was not; ``heard`` are whole contents that the factors
    cannot name yet, and in how many places they were taught since these were learnt.
    """

    ground: FloatArray
    factors: tuple[Mapping[Things, float], ...]
    members: tuple[frozenset[int], ...]
    odd: float
    known: Mapping[Content, float] = field(default_factory=dict)
    parts: float = 1.0
    agreed: float = 1.0
    doubted: Mapping[Content, float] = field(default_factory=dict)
    seen: bool = True
    legible: frozenset[int] = frozenset()
    bare: FloatArray | None = None
    taught: frozenset[Content] = frozenset()
    untaught: UntaughtValues = NONE_UNTAUGHT
    heard: Mapping[Content, int] = field(default_factory=dict)

    def pooled(self, whole: Mapping[Content, float]) -> PlaceLook:
        """Return the look with the say of a second reader: how likely the ``whole`` contents are that it knows.

        What is left of one is how likely it thinks a content that it does not know; which, only the factors tell. Both
        are believed alike (a logarithmic pool: Genest and Zidek 1986), so neither gets what the other rules out. What
        the second one knows is nothing strange; what it does not know may be a number of known things.
        """
        if not whole:
            return self
        if self.heard:
            return self._hearing(whole)
        strange = float(np.sqrt(self.odd * max(1 - sum(whole.values()), _LEAST)))
        known_to_both = float(np.sqrt((1 - self.odd) * sum(whole.values())))
        odd = min(self.odd, strange / max(strange + known_to_both, _LEAST))
        whole, shares = self._with_untaught(self._with_likeliest(whole))
        own = {content: self._by_factors(content) for content in whole}
        others = max(1 - sum(own.values()), _LEAST)
        new = max(1 - sum(whole.values()), _LEAST)
        both = {content: max(own[content], _LEAST) * p for content, p in whole.items()}
        half = {content: float(np.sqrt(p)) for content, p in both.items()}
        agreed = sum(half.values()) + float(np.sqrt(others * new))
        # What both have of the factors alone counts once.
        whole = {content: p**_EACH * shares.get(content, 1.0) ** (1 - 2 * _EACH) for content, p in both.items()}
        total = sum(whole.values()) + (others * new) ** _EACH
        parts = (others * new) ** _EACH / (others * total)
        known = {content: p / total - parts * own[content] for content, p in whole.items()}
        doubted = {content: p / agreed for content, p in half.items()}
        return replace(self, known=known, parts=parts, agreed=min(agreed, 1.0), doubted=doubted, odd=odd)

    def _hearing(self, whole: Mapping[Content, float]) -> PlaceLook:
        """Return :meth:`pooled` where the second reader knows what to the factors is as strange as what nobody knows.

        To whom something is strange, it is either, as the other says; but what n places showed is there n + 1 : 1 at
        the most (Laplace 1814), and what is like it may be something new.
        """
        heard = {content: p for content, p in whole.items() if content in self.heard}
        only, new = sum(heard.values()), max(1 - sum(whole.values()), _LEAST)
        others = {content: p / max(1 - only, _LEAST) for content, p in whole.items() if content not in heard}
        both = replace(self, heard={}).pooled(others)
        if not only:
            return both
        strange = float(np.sqrt(self.odd * (only + new)))
        known_to_both = float(np.sqrt((1 - self.odd) * max(1 - only - new, 0.0)))
        told = strange / max(strange + known_to_both, _LEAST) / (only + new)
        heard = {content: told * p * (1 - 1 / (self.heard[content] + 2)) for content, p in heard.items()}
        odd = (1 - told * only) * both.odd + told * only - sum(heard.values())
        left = (1 - told * only) * (1 - both.odd) / max(1 - odd, _LEAST)
        known = {content: left * p for content, p in both.known.items()}
        doubted = {content: left * p for content, p in both.doubted.items()}
        for content, p in heard.items():
            ways = {content.things: p / max(1 - odd, _LEAST)}
            if self.legible.isdisjoint(thing for thing, _ in content.things):
                ways = self.untaught.shared(ways)
            for things, chance in ways.items():
                one = Content(content.ground, things)
                known[one] = known.get(one, 0.0) + chance
                doubted[one] = doubted.get(one, 0.0) + chance
        agreed = told * only + (1 - told * only) * both.agreed
        return replace(both, known=known, parts=left * both.parts, agreed=agreed, doubted=doubted, odd=odd)

    def _with_likeliest(self, whole: Mapping[Content, float]) -> Mapping[Content, float]:
        """Return what a second reader says, the likeliest content by the factors among it.

        Who knows two of a thing on a ground and never saw one or three of it there cannot tell these apart: what is
        said of the one number holds for the other, too.
        """
        likeliest = self._likeliest
        alike = [p for content, p in whole.items() if _differ_in_number(content, likeliest)]
        if likeliest in whole or not alike:
            return whole
        new = max(1 - sum(whole.values()), 0.0)
        others = max(1 - sum(self._by_factors(content) for content in whole), _LEAST)
        total = 1 + max(alike)
        named = {content: p / total for content, p in whole.items()}
        named[likeliest] = (max(alike) + new * min(self._by_factors(likeliest) / others, 1.0)) / total
        return named

    def _with_untaught(self, whole: Mapping[Content, float]) -> tuple[Mapping[Content, float], Mapping[Content, float]]:
        """Return what a second reader says, of values that were never taught, too, and how much of it is its share.

        It cannot tell these from the taught ones of their kind: each of them is as likely as the factors make it.
        """
        if not self.untaught.others:
            return whole, {}
        named: dict[Content, float] = {}
        reach: dict[Content, float] = {}
        for content, p in whole.items():
            instead = (Content(content.ground, things) for things in self.untaught.instead(content.things))
            own = {one: self._by_factors(one) for one in (content, *instead)}
            total = sum(own.values())
            for one, chance in own.items():
                share = chance / total if total > 0 else float(one == content)
                named[one], reach[one] = named.get(one, 0.0) + p * share, reach.get(one, 0.0) + p
        return named, {one: max(p, _LEAST) / max(reach[one], _LEAST) for one, p in named.items()}

    def remembering(self, content: Content, more: float) -> PlaceLook:
        """Return the look with a content that is believed so much more than by what this look has."""
        known = {other: (1 - more) * p for other, p in self.known.items()}
        known[content] = known.get(content, 0.0) + more
        doubted = {other: (1 - more) * p + more * (other == content) for other, p in self.doubted.items()}
        return replace(self, known=known, parts=(1 - more) * self.parts, doubted=doubted)

    @cached_property
    def content(self) -> Content:
        """Return the likeliest content."""
        return max((self._likeliest, *self.known), key=self.probability)

    @cached_property
    def _likeliest(self) -> Content:
        things: list[tuple[int, int]] = []
        for factor in self.factors:
            things += max(factor.items(), key=lambda entry: entry[1])[0]
        likeliest = Content(int(self.ground.argmax()), tuple(sorted(things)))
        if things or self.bare is None:
            return likeliest
        grounds = range(len(self.ground))
        one = max((Content(ground, self._one) for ground in grounds), key=self._by_factors)
        return max((one, *(Content(ground) for ground in grounds)), key=self._by_factors)

    @cached_property
    def _one(self) -> Things:
        """Return what lies there likeliest if anything does, all factors but one saying that nothing of theirs does."""
        found = [
            (p / max(factor.get((), 0.0), _LEAST), things)
            for factor in self.factors
            for things, p in factor.items()
            if things
        ]
        return max(found, default=(0.0, ()))[1]

    @cached_property
    def _never(self) -> FloatArray:
        """Return (grounds,): how likely each ground is bare by the factors, as far as it is not by what was taught."""
        nothing = prod(factor.get((), 0.0) for factor in self.factors)
        if self.bare is None:
            return np.zeros(len(self.ground))
        never: FloatArray = self.ground * nothing * (1 - self.bare)
        return never

    @cached_property
    def _never_in_all(self) -> float:
        return float(self._never.sum())

    def _by_factors(self, content: Content) -> float:
        """Return the probability of a content by the factors and by which grounds were ever bare."""
        product = float(self.ground[content.ground])
        for factor, things in zip(self.factors, _parted(content.things, self.members), strict=True):
            product *= factor.get(things, 0.0)
        if not content.things:
            product -= float(self._never[content.ground])
        return product / max(1 - self._never_in_all, _LEAST)

    def probability(self, content: Content) -> float:
        """Return the probability of a content, if it is nothing else altogether."""
        return max(self.parts * self._by_factors(content) + self.known.get(content, 0.0), 0.0)

    @cached_property
    def p(self) -> float:
        """Return the probability of :attr:`content`, something else counted in."""
        return self.probability(self.content) * (1 - self.odd)

    @property
    def unsure(self) -> bool:
        """Return whether one had better not rely on :attr:`content`.

        So it is the more, the less two readers agree, unless only one of them can know it.
        """
        if not self.seen or self.content not in self.known:
            return not self.seen or self.p < UNSURE
        p = self.doubted.get(self.content)
        return (self.p if p is None else p * (1 - self.odd)) * self.agreed < UNSURE

    def log_likelihood(self, content: Content) -> float:
        """Return the logarithm of how well the place fits a content; flat where it is not seen, or shows a hand."""
        if not self.seen:
            return 0.0
        return float(np.log((1 - self.odd) * self.probability(content) + self.odd * 1e-2 + _LEAST))

    def grounds(self) -> FloatArray:
        """Return the probability of each class of ground."""
        own: FloatArray = (self.ground - self._never) / max(1 - self._never_in_all, _LEAST)
        ground: FloatArray = self.parts * own
        for content, p in self.known.items():
            ground[content.ground] += p
        return ground

    def count_probability(self, thing: int, count: int) -> float:
        """Return the probability that ``count`` of a thing lie here."""
        p = 1.0 if not count else 0.0
        for factor, members in zip(self.factors, self.members, strict=True):
            if thing in members:
                p = sum(q for things, q in factor.items() if dict(things).get(thing, 0) == count)
        never = self._never_in_all
        p = (p - (0.0 if count else never)) / max(1 - never, _LEAST)
        return self.parts * p + sum(q for content, q in self.known.items() if content.count(thing) == count)

    def to_json(self, layout: Layout) -> dict[str, Any]:
        """Return the documented form of a place in ``vision look --json``."""
        ground = {name: round(float(p), 5) for name, p in zip(layout.grounds, self.grounds(), strict=True)}
        things = [
            {**layout.things[t].to_json(), "count": count, "p": round(self.count_probability(t, count), 5)}
            for t, count in self.content.things
        ]
        return {"ground": ground, "things": things, "unsure": self.unsure, "else": round(self.odd, 5)}


@lru_cache(maxsize=2048)
def _parted(things: Things, members: tuple[frozenset[int], ...]) -> tuple[Things, ...]:
    """Return which of some things each factor tells of."""
    return tuple(tuple(pair for pair in things if pair[0] in own) for own in members)


def _differ_in_number(one: Content, other: Content) -> bool:
    """Return whether two contents are alike but for how many there are of one thing."""
    if one.ground != other.ground or [thing for thing, _ in one.things] != [thing for thing, _ in other.things]:
        return False
    return sum(a != b for (_, a), (_, b) in zip(one.things, other.things, strict=True)) == 1


def bare_of(layout: Layout, taught: Iterable[Content]) -> FloatArray:
    """Return (grounds,): how much a place of each ground with nothing on it counts against what is read of its things.

    1 where one was taught, or no place of that ground. Of a ground that was seen n times and never bare, the rule of
    succession (Laplace 1814) makes it 1 : n + 1 that the next is.
    """
    seen, bare = np.zeros(len(layout.grounds)), np.zeros(len(layout.grounds), np.bool_)
    for content in taught:
        seen[content.ground] += 1
        bare[content.ground] |= not content.things
    return np.where(bare, 1.0, 1 / (seen + 1))


def no_heap(layout: Layout, ground: Sequence[float], counts: Sequence[list[float]]) -> None:
    """Take the ``counts`` of each thing for what they may be by a place's ``ground``: no heap where none may lie.

    A place that is surely no heap shows one where it shows any. Changes the counts.
    """
    for thing, grounds in enumerate(layout.heaps):
        if grounds:
            p = counts[thing]
            none = sum(g for g, name in zip(ground, layout.grounds, strict=True) if name not in grounds)
            p[1] += none * sum(p[2:])
            p[2:] = [(1 - none) * more for more in p[2:]]


def members_of(layout: Layout) -> tuple[frozenset[int], ...]:
    """Return which things each factor tells of: single things first, then kinds with values."""
    valued = {thing for kind in layout.valued for thing in kind}
    single = [frozenset({t}) for t in range(len(layout.things)) if t not in valued]
    return (*single, *(frozenset(kind) for kind in layout.valued))


def factors_of(
    layout: Layout,
    members: Sequence[frozenset[int]],
    counts: Sequence[Sequence[float]],
    totals: Sequence[Sequence[float]],
    read: Mapping[tuple[int, int], Mapping[Things, float]],
    untaught: UntaughtValues = NONE_UNTAUGHT,
) -> tuple[dict[Things, float], ...]:
    """Return the factors of a place by the network's answers for each thing, and for each kind with values.

    ``read`` is what a closer look told: by the kind's position and how many there are, how likely which values are.
    ``untaught`` are the values that only such a look would tell.
    """
    factors: list[dict[Things, float]] = []
    singles = len(members) - len(layout.valued)
    for group in members[:singles]:
        (thing,) = group
        factors.append(dict(zip(_numbers(thing, len(counts[thing])), counts[thing], strict=True)))
    for number, (kind, total) in enumerate(zip(layout.valued, totals, strict=True)):
        readings = {n: read[number, n] for n in range(1, len(total)) if (number, n) in read}
        factor = _valued(kind, layout.most, counts, total, readings)
        factors.append(factor if readings else untaught.shared(factor))
    return tuple(factors)


@lru_cache(maxsize=512)
def _numbers(thing: int, many: int) -> tuple[Things, ...]:
    """Return a thing in each number below ``many``."""
    return ((), *(((thing, n),) for n in range(1, many)))


def _valued(
    kind: tuple[int, ...],
    most: Sequence[int],
    counts: Sequence[Sequence[float]],
    total: Sequence[float],
    read: Mapping[int, Mapping[Things, float]],
) -> dict[Things, float]:
    """Return the probability of each way to lie so many things of a kind, as read or by how well their values fit."""
    if total[0] > 1 - 1e-4:
        return dict(zip(_numbers(kind[0], min(len(total), most[kind[0]] + 1)), total, strict=False))
    likely = sorted(kind, key=lambda t: counts[t][0])[:_MOST_VALUES]
    ways: list[list[tuple[Things, float]]] = [[] for _ in total]
    ways[0].append(((), 1.0))
    for thing in sorted(likely):
        p = [max(chance, 1e-4) for chance in counts[thing]]
        grown: list[list[tuple[Things, float]]] = [[] for _ in total]
        for so_far, entries in enumerate(ways):
            for things, product in entries:
                for n in range(min(most[thing], len(total) - 1 - so_far) + 1):
                    added = (*things, (thing, n)) if n else things
                    grown[so_far + n].append((added, product * p[n]))
        ways = grown
    factor: dict[Things, float] = {}
    for n, entries in enumerate(ways):
        if n in read:
            factor |= {things: total[n] * p for things, p in read[n].items()}
            continue
        whole = sum(product for _, product in entries)
        for things, product in entries:
            factor[things] = total[n] * product / whole if whole > 0 else 0.0
    return factor
