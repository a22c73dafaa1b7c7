"""What lies where, when it is known how many of a thing there are on the whole board.

Each place tells how likely each number of them is; that they add up tells more. A bear that is missing elsewhere
stands under the hand, and one that was seen twice stands once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from vision.board.labels import Content
from vision.read.place_posterior import UNSURE

if TYPE_CHECKING:
    from companion.ports import FloatArray
    from vision.read.place_posterior import PlaceLook
    from vision.read.reader import BoardLook

_LEAST: Final = 1e-4
_FITS: Final = 0.02
"""Where what is read adds up less likely than this, something is wrong somewhere."""


@dataclass(frozen=True)
class Summed:
    """What lies in a place, how likely that is, and whether a person had better look."""

    content: Content
    p: float
    unsure: bool


def summed(look: BoardLook, counted: Mapping[tuple[int, int], FloatArray] | None = None) -> dict[str, Summed]:
    """Return what lies in each place of a look, the things of known sums adding up.

    ``counted`` has by place and thing how likely each number of them is, where that was told otherwise
    (:class:`vision.read.strip_counter.Strips`).
    """
    layout, given = look.layout, counted or {}
    known = [thing for thing, total in enumerate(layout.sums) if total]
    places = list(look.places.items())
    many: dict[tuple[str, int], tuple[int, float]] = {}
    doubt = False
    for thing in known:
        beliefs = []
        for name, place in places:
            strip = given.get((layout.index[name], thing))
            # Where some places are strips, the others have room for one.
            beliefs.append(_belief(place, thing, layout.most[thing], strip, strip is not None or not given))
        counts, certain, fit = shared_out(beliefs, layout.sums[thing])
        doubt = doubt or fit < _FITS
        many |= {(name, thing): (n, p) for (name, _), n, p in zip(places, counts, certain, strict=True)}
    strips = {layout.places[number].name for number, _ in given}
    return {name: _place(name, place, known, many, doubt and name in strips) for name, place in places}


def _belief(place: PlaceLook, thing: int, most: int, given: FloatArray | None, several: bool) -> FloatArray:
    """Return how likely none, one, two … are; of what is hidden anything may be true that the place has room for."""
    odd = place.odd if place.seen else 1.0
    p = np.array([place.count_probability(thing, n) for n in range(most + 1)]) if given is None else given
    room = np.arange(most + 1) <= (most if several else 1)
    belief: FloatArray = (1 - odd) * (p + _LEAST) / (p + _LEAST).sum() + odd * room / room.sum()
    return belief


def _place(
    name: str, place: PlaceLook, known: Sequence[int], many: Mapping[tuple[str, int], tuple[int, float]], doubt: bool
) -> Summed:
    if not known:
        return Summed(place.content, place.p, place.unsure)
    ground = place.content.ground
    others = tuple(pair for pair in place.content.things if pair[0] not in known)
    p = (1 - place.odd) * float(place.grounds()[ground])
    for thing, count in others:
        p *= place.count_probability(thing, count)
    for thing in known:
        p *= many[name, thing][1]
    here = tuple((thing, many[name, thing][0]) for thing in known if many[name, thing][0])
    return Summed(Content(ground, tuple(sorted((*others, *here)))), p, not place.seen or doubt or p < UNSURE)


def shared_out(beliefs: Sequence[FloatArray], total: int) -> tuple[list[int], list[float], float]:
    """Return the likeliest numbers that add up to ``total``, how likely each is then, and how likely they add up.

    ``beliefs`` has for each place how likely none, one, two … are.
    """
    n = len(beliefs)
    before, after = np.zeros((n + 1, total + 1)), np.zeros((n + 1, total + 1))
    before[0, 0] = after[n, 0] = 1
    best = np.full((n + 1, total + 1), -np.inf)
    best[0, 0] = 0
    taken = np.zeros((n, total + 1), np.intp)
    for i, p in enumerate(beliefs):
        for count, q in enumerate(p[: total + 1].tolist()):
            before[i + 1, count:] += q * before[i, : total + 1 - count]
            better = best[i, : total + 1 - count] + np.log(max(q, 1e-12))
            wins = better > best[i + 1, count:]
            best[i + 1, count:][wins] = better[wins]
            taken[i, count:][wins] = count
    for i in range(n - 1, -1, -1):
        for count, q in enumerate(beliefs[i][: total + 1].tolist()):
            after[i, count:] += q * after[i + 1, : total + 1 - count]
    fit = float(before[n, total])
    counts = [0] * n
    left = total
    for i in range(n - 1, -1, -1):
        counts[i] = int(taken[i, left])
        left -= counts[i]
    certain = []
    for i, count in enumerate(counts):
        rest = total - count
        with_it = beliefs[i][count] * float(before[i, : rest + 1] @ after[i + 1, rest::-1])
        certain.append(float(with_it / fit) if fit > 0 else 0.0)
    return counts, certain, fit
