"""What is learnt about one igloo from its own labelled shakes: a Gaussian process on the axis of log count.

The log count of a shake with features x is a common part w·x, learnt from many igloos, plus what this igloo adds, plus
what this hand on it adds, plus noise. What an igloo adds is a constant and a slope for every feature, all Gaussian and
a priori unknown; so is what a hand adds. How large each may be (:class:`Prior`) was learnt from simulated igloos that
were each shaken by several hands. With an igloo's calibration shakes the rest follows in closed form
(:class:`Known`), errors that several shakes share included, so that they are never counted as independent.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.count.ensemble import FLOOR, LIMIT
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Who = Sequence[str]
    Counted = Callable[[FloatArray], FloatArray]
    Likeness = tuple[FloatArray, FloatArray | None, NDArray[np.bool_]]

LOG_COUNTS = np.log(np.arange(COUNTS.start, COUNTS.stop))
CENTRE = float(np.mean(LOG_COUNTS))
OPINION = 3.0
"""How much what the counter says weighs against one feature, in the slopes."""
FULL_S = 3.8
"""A shorter shake has more noise, a longer one not less."""
TAILS = 5.0
"""Degrees of freedom of Student's distribution: a shake is farther off now and then than a normal one would be."""
REPEATS = 0.45
"""How far what the counter itself says of several shakes repeats the same error, as the counter's model has it."""
SHAPES = (
    "device_bias",
    "device_slope",
    "hand_bias",
    "hand_slope",
    "noise",
    "stretch",
    "curve",
    "reach",
    "share",
    "trust",
)


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known before any calibration, for one tier of rates and one kind of motion.

    A shake is its features, what the counter's bead networks heard (their last hidden layers) and, last, the mean log
    count that the counter says of it, which knows nothing of the igloo: f numbers. ``middle`` and ``scale`` (f,)
    standardise them; ``weights`` (f,) are the common part. The standard deviations are on the axis of log count: of an
    igloo's and a hand's constant and slopes (all features together), and of a shake's noise; ``stretch`` widens the
    answers. ``curve`` is that of what an igloo adds where its features do not go straight: it is alike for shakes
    nearer to each other than ``reach`` (root mean square over the features). In an answer what the process says has the
    exponent ``share`` and what the counter itself says, which knows how clear this shake is, the exponent ``trust``;
    ``even`` (12,) are the factors that make each count as often expected of the counter as it came (alone it leaves 12
    to 13).
    """

    middle: FloatArray
    scale: FloatArray
    weights: FloatArray
    device_bias: float
    device_slope: float
    hand_bias: float
    hand_slope: float
    noise: float
    stretch: float = 1.0
    curve: float = 0.0
    reach: float = 1.0
    share: float = 1.0
    trust: float = 0.0
    even: FloatArray = field(default_factory=lambda: np.ones(len(COUNTS)))

    def represent(self, shakes: FloatArray) -> FloatArray:
        """Return shakes (n, f) as the process sees them: standardised and cut, same shape."""
        x: FloatArray = np.clip((shakes - self.middle) / self.scale, -LIMIT, LIMIT)
        x[:, -1] *= OPINION
        return x

    def unmeasured(self) -> Prior:
        """Return the prior for an igloo of which nothing was measured: there the counter's own mean is believed.

        The common part was learnt to go with an igloo's calibration; without one the counter, which learnt from many
        more igloos, is better.
        """
        weights, middle = np.zeros(len(self.weights)), self.middle.copy()
        weights[-1], middle[-1] = self.scale[-1] / OPINION, CENTRE
        return replace(self, weights=weights, middle=middle, curve=0.0)

    def covariance(self, a: FloatArray, of_a: Who, b: FloatArray, of_b: Who) -> FloatArray:
        """Return the covariance (n, m), without noise, of shakes of one igloo by hands of these names."""
        return self.mixed(*self.likeness(a, of_a, b, of_b))

    def likeness(self, a: FloatArray, of_a: Who, b: FloatArray, of_b: Who) -> Likeness:
        """Return what :meth:`mixed` makes a covariance of: products, distances and hands of shakes, each (n, m)."""
        alike = a @ b.T / a.shape[1]
        same = np.asarray(of_a)[:, None] == np.asarray(of_b)[None]
        apart = (np.mean(a**2, axis=1)[:, None] + np.mean(b**2, axis=1)[None] - 2 * alike) if self.curve else None
        return alike, apart, same

    def mixed(self, alike: FloatArray, apart: FloatArray | None, same: NDArray[np.bool_]) -> FloatArray:
        """Return the covariance of shakes with these mean products and mean squared distances of their features."""
        device = self.device_bias**2 + self.device_slope**2 * alike
        if self.curve and apart is not None:
            device = device + self.curve**2 * np.exp(-0.5 * np.maximum(apart, 0.0) / self.reach**2)
        return np.asarray(device + same * (self.hand_bias**2 + self.hand_slope**2 * alike))

    def believed(self, said: FloatArray) -> FloatArray:
        """Return what the counter says (n, 12; logarithms), made even over the counts, as far as it is believed."""
        return np.asarray(self.trust * (said + np.log(self.even)))

    def arrays(self, name: str) -> dict[str, Any]:
        """Return the arrays of a file, their keys beginning with ``name``."""
        return {
            f"{name}/middle": self.middle.astype(np.float32),
            f"{name}/scale": self.scale.astype(np.float32),
            f"{name}/weights": self.weights.astype(np.float32),
            f"{name}/shapes": np.array([getattr(self, shape) for shape in SHAPES]),
            f"{name}/even": self.even,
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any], name: str) -> Prior:
        """Return the prior that :meth:`arrays` wrote.

        :raises KeyError: when it is not there.
        """
        return cls(
            arrays[f"{name}/middle"].astype(np.float64),
            arrays[f"{name}/scale"].astype(np.float64),
            arrays[f"{name}/weights"].astype(np.float64),
            **dict(zip(SHAPES, map(float, arrays[f"{name}/shapes"]), strict=True)),
            even=arrays[f"{name}/even"],
        )


@dataclass(frozen=True, slots=True)
class PredictiveDistribution:
    """Log counts of several shakes: ``mean`` (n,) and ``covariance`` (n, n), noise included.

    ``said`` (n, 12) are the logarithms of what the counter itself says of each shake, times the trust in it, or nothing
    where it is not asked; ``share`` is the exponent of what the process says.
    """

    mean: FloatArray
    covariance: FloatArray
    said: FloatArray | None = None
    share: float = 1.0

    def each(self, stretch: float) -> FloatArray:
        """Return the probabilities of 2 … 13 beads for every shake alone, shape (n, 12)."""
        return blended(spread(self.mean, np.sqrt(np.diag(self.covariance)) * stretch), self.said, self.share)

    def joined(self, stretch: float) -> FloatArray:
        """Return the probabilities (12,) of the one count that all shakes have.

        The best weighted mean of shakes whose errors go together is not the plain one, and its error does not vanish
        with their number.
        """
        mean, deviation = combined(self.mean, self.covariance)
        p = spread(np.array([mean]), np.array([deviation * stretch]))
        return np.asarray(blended(p, None if self.said is None else heaped(self.said)[None], self.share)[0])


def heaped(said: FloatArray) -> FloatArray:
    """Return what the counter says (12,) of shakes of one count, given what it says of each (n, 12)."""
    return np.asarray(said.sum(axis=0) / (1 + (len(said) - 1) * REPEATS))


def blended(p: FloatArray, said: FloatArray | None, share: float) -> FloatArray:
    """Return probabilities (n, 12) of the process with this exponent, times what the counter says (logarithms)."""
    if said is None:
        return p
    log_p = share * np.log(p) + said
    both = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    return np.asarray(both / both.sum(axis=1, keepdims=True))


class Known:
    """One igloo's process, given labelled shakes: ``shakes`` (n, f), ``counts`` (n,), ``who`` (n) shook.

    ``counter``, if it is given, turns shakes (m, f) into the counter's own probabilities (m, 12). ``own`` are
    processes of the same shakes with the sizes that suit a hand, by its name: of shakes of that hand alone they are
    asked in this one's place.
    """

    def __init__(
        self,
        prior: Prior,
        shakes: FloatArray,
        counts: NDArray[np.int64],
        who: Who,
        counter: Counted | None = None,
    ) -> None:
        self.prior = prior
        self._counter = counter
        self.shakes = prior.represent(shakes)
        self.counts, self.who = counts, tuple(who)
        self.own: dict[str, Known] = {}
        self._apart = np.log(counts) - CENTRE - self.shakes @ prior.weights
        self._likeness = prior.likeness(self.shakes, self.who, self.shakes, self.who)
        self._inverse = self._inverted()

    def _inverted(self) -> FloatArray:
        noisy = self.prior.mixed(*self._likeness)
        noisy[np.diag_indices_from(noisy)] += self.prior.noise**2
        return np.asarray(np.linalg.inv(noisy), dtype=np.float64)

    def with_sizes(self, prior: Prior) -> Known:
        """Return the process of the same shakes under a prior that differs in its sizes only."""
        found = copy.copy(self)
        found.prior, found.own = prior, {}
        found._inverse = found._inverted()
        return found

    def adapted(self, priors: Mapping[str, Prior]) -> Known:
        """Return this process, with a prior of other sizes for each of these hands; all others keep theirs."""
        found = copy.copy(self)
        found.own = {name: self.with_sizes(prior) for name, prior in priors.items()}
        return found

    def answer(self, shakes: FloatArray, who: Who, seconds: FloatArray | None = None) -> PredictiveDistribution:
        """Return the log counts of shakes (m, f) of this igloo by hands of these names, each of so many seconds."""
        if len(set(who)) == 1 and who[0] in self.own:
            return self.own[who[0]].answer(shakes, who, seconds)
        prior, x = self.prior, self.prior.represent(shakes)
        mean = CENTRE + x @ prior.weights
        covariance = prior.covariance(x, who, x, who)
        if len(self.who):
            across = prior.covariance(x, who, self.shakes, self.who)
            mean = mean + across @ (self._inverse @ self._apart)
            covariance = covariance - across @ self._inverse @ across.T
        noise = np.full(len(x), prior.noise**2)
        if seconds is not None:
            noise *= np.maximum(FULL_S / np.maximum(seconds, 0.3), 1.0)
        covariance[np.diag_indices_from(covariance)] += noise
        said = self.said(shakes)
        return PredictiveDistribution(mean, covariance, said, 1.0 if said is None else prior.share)

    def said(self, shakes: FloatArray) -> FloatArray | None:
        """Return what the counter itself says of shakes (m, f), as :class:`PredictiveDistribution`; None: not asked."""
        if self._counter is None or not self.prior.trust or not len(self.who):
            return None
        return self.prior.believed(np.log(self._counter(shakes)))

    def left_out(
        self, groups: NDArray[np.int64], shakes: NDArray[np.int64] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of each shake's log count as all shakes outside its group tell it.

        ``groups`` (n,) numbers the pieces' groups, ``shakes`` (n,) their shakes, the groups themselves where it is not
        given; the answers are in the order of the shakes' numbers.
        """
        shakes = groups if shakes is None else shakes
        counts = self._apart + CENTRE + self.shakes @ self.prior.weights
        names = np.unique(groups)
        if shakes is groups and len(names) == len(groups):
            alone = np.diag(self._inverse)
            order = np.argsort(groups)
            return (counts - self._inverse @ self._apart / alone)[order], np.sqrt(1 / alone)[order]
        found = {}
        for group in names:
            mine = np.flatnonzero(groups == group)
            # what the others say follows from the inverse's own block (Rasmussen & Williams 2006, ch. 5.4.2)
            covariance = np.asarray(np.linalg.inv(self._inverse[np.ix_(mine, mine)]), dtype=np.float64)
            mean = counts[mine] - covariance @ (self._inverse @ self._apart)[mine]
            for shake in np.unique(shakes[mine]):
                at = np.flatnonzero(shakes[mine] == shake)
                found[int(shake)] = combined(mean[at], covariance[np.ix_(at, at)])
        both = np.array([found[shake] for shake in sorted(found)])
        return both[:, 0], both[:, 1]


def combined(mean: FloatArray, covariance: FloatArray) -> tuple[float, float]:
    """Return the best mean of values (n,) with this covariance (n, n), and its standard deviation."""
    weights = np.linalg.solve(covariance, np.ones(len(mean)))
    total = float(weights.sum())
    if (weights < 0).any():
        # A process that is not quite right must not play one shake off against another.
        weights = np.full(len(mean), 1 / len(mean))
        return float(weights @ mean), float(np.sqrt(weights @ covariance @ weights))
    return float(weights @ mean) / total, float(1 / np.sqrt(total))


def spread(mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return the probabilities of 2 … 13 beads, shape (n, 12), for log counts (n,) with these scales.

    They go as the density (Student's, :data:`TAILS`) at the twelve log counts: there is nothing between them, and what
    lies beyond the last is no thirteenth bead's. As shares of the axis, 13 would take nearly all from 12.
    """
    z = (LOG_COUNTS[None] - mean[:, None]) / deviation[:, None]
    log_p = -(TAILS + 1) / 2 * np.log1p(z**2 / TAILS)
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return np.asarray((p + FLOOR / len(COUNTS)) / (1 + FLOOR))
