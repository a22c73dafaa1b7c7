"""How large noise and differences are for one hand on one igloo: the sizes of the prior, adapted to its own shakes.

The prior's sizes are those of the igloos of a training. A hand that shook an igloo often says itself how noisy its
shakes are, how far the counter is to be trusted on them, how strongly their features tell, and how alike the other
hands are: those sizes are taken under which each of its shakes, told by all others, has the count that it had. How much
they may differ from the shipped ones has a prior of its own (:data:`APART`), so a few shakes change hardly anything and
none nothing, without a number from which on. Another hand is otherwise, so for it they do not hold.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from companion.igloo.calibration.gaussian_process import blended, heaped, spread
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from companion.igloo.calibration.gaussian_process import Known, Prior

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

APART = 0.5
"""The standard deviation of the logarithm of what a size is multiplied by, from hand to hand."""
STEPS = (0.4, 0.2, 0.1)
"""The steps of the search, on the same axis: the last is finer than what a hundred shakes tell."""
LEAST = 1e-6
"""A step is taken where it gains more than this, in all shakes' logarithms together."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """By what the sizes of the prior are multiplied; 1 is as shipped.

    ``noise`` is from shake to shake, ``trust`` that in the counter itself, ``slope`` how strongly the igloo's features
    may tell, ``hand`` how unlike hands are (their constants and their slopes).
    """

    noise: float = 1.0
    trust: float = 1.0
    slope: float = 1.0
    hand: float = 1.0

    def applied(self, prior: Prior) -> Prior:
        """Return the prior with these sizes."""
        return replace(
            prior,
            noise=prior.noise * self.noise,
            trust=prior.trust * self.trust,
            device_slope=prior.device_slope * self.slope,
            hand_bias=prior.hand_bias * self.hand,
            hand_slope=prior.hand_slope * self.hand,
        )


SHIPPED = Sizes()


class LeaveOneOut:
    """What the shakes of a process say of its sizes: each shake's count, as the others tell it.

    ``shakes`` (n, f) are those that the process was given, ``number`` (n,) numbers them, for a long one has several
    pieces; ``judged`` (n,) tells which are told by the others.
    """

    def __init__(self, process: Known, shakes: FloatArray, number: IntArray, judged: NDArray[np.bool_]) -> None:
        names, first = np.unique(number, return_index=True)
        self._process, self._number, self._judged = process, number, judged[first]
        self._at = process.counts[first] - COUNTS.start
        said = process.said(shakes)
        self._said = None if said is None else np.array([heaped(said[number == one]) for one in names])

    def cost(self, sizes: Sizes) -> float:
        """Return the negative log likelihood of the judged counts, each left out, less the logarithm of the prior."""
        prior = sizes.applied(self._process.prior)
        try:
            mean, deviation = self._process.with_sizes(prior).left_out(self._number)
        except np.linalg.LinAlgError:
            return np.inf
        said = None if self._said is None else sizes.trust * self._said
        p = blended(spread(mean, deviation * prior.stretch), said, 1.0 if said is None else prior.share)
        lost = -np.log(p[np.arange(len(p)), self._at])[self._judged].sum()
        found = float(lost + 0.5 * sum(np.log(factor) ** 2 for factor in astuple(sizes)) / APART**2)
        return found if np.isfinite(found) else np.inf


def of_hands(
    process: Known, shakes: FloatArray, number: IntArray, judged: NDArray[np.bool_] | None = None
) -> dict[str, Sizes]:
    """Return the sizes of each named hand of a process, as :class:`LeaveOneOut` has it; without those of no change."""
    who = np.asarray(process.who)
    every = {
        name: chosen(LeaveOneOut(process, shakes, number, (who == name) & (True if judged is None else judged)))
        for name in sorted(set(process.who) - {""})
    }
    return {name: sizes for name, sizes in every.items() if sizes != SHIPPED}


def chosen(evidence: LeaveOneOut) -> Sizes:
    """Return the sizes that suit the judged shakes best; the same shakes give the same.

    A search along each size in turn, in ever smaller steps. Without any judged shake it is :data:`SHIPPED`.
    """
    sizes, cost = SHIPPED, evidence.cost(SHIPPED)
    for step in STEPS:
        moved = True
        while moved:
            moved = False
            for name in (one.name for one in fields(Sizes)):
                for factor in (np.exp(step), np.exp(-step)):
                    while True:
                        tried = replace(sizes, **{name: float(getattr(sizes, name) * factor)})
                        new = evidence.cost(tried)
                        if not new < cost - LEAST:
                            break
                        sizes, cost, moved = tried, new, True
    return sizes


def written(sizes: Mapping[str, Sizes]) -> dict[str, list[float]]:
    """Return hands' sizes for a file."""
    return {name: list(astuple(one)) for name, one in sizes.items()}


def read(plain: Mapping[str, Sequence[float]]) -> dict[str, Sizes]:
    """Return the hands' sizes that :func:`written` made plain.

    :raises ValueError: when one is no size.
    """
    if not all(0 < size < np.inf for one in plain.values() for size in one):
        raise ValueError(plain)
    return {name: Sizes(*one) for name, one in plain.items()}
