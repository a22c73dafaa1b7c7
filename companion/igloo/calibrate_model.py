"""What is learnt about one igloo from its own labelled shakes: a Gaussian process on the axis of log count.

The log count of a shake with features x is a common part w·x, learnt from many igloos, plus what this igloo adds, plus
what this hand on it adds, plus noise. What an igloo adds is a constant and a slope for every feature, all Gaussian and
a priori unknown; so is what a hand adds. How large each may be (:class:`Prior`) was learnt from simulated igloos that
were each shaken by several hands. With an igloo's calibration shakes the rest follows in closed form
(:class:`Known`), errors that several shakes share included, so that they are never counted as independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.learn import FLOOR, LIMIT, shares
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Who = Sequence[str]

CENTRE = float(np.mean(np.log(np.arange(COUNTS.start, COUNTS.stop))))
OPINION = 3.0
"""How much what the counter says weighs against one feature, in the slopes."""
FULL_S = 3.8
"""A shorter shake has more noise, a longer one not less."""
LOGISTIC = float(np.sqrt(3) / np.pi)
"""The scale of a logistic distribution of unit variance."""
SHAPES = ("device_bias", "device_slope", "hand_bias", "hand_slope", "noise", "stretch")


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known before any calibration, for one tier of rates and one kind of motion.

    A shake is its features, what the counter's listeners heard (their last hidden layers) and, last, the mean log count
    that the counter says of it, which knows nothing of the igloo: f numbers. ``middle`` and ``scale`` (f,) standardise
    them; ``weights`` (f,) are the common part. The standard deviations are on the axis of log count: of an igloo's and
    a hand's constant and slopes (all features together), and of a shake's noise; ``stretch`` widens the answers.
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
        weights = np.zeros(len(self.weights))
        weights[-1] = self.scale[-1] / OPINION
        return replace(self, weights=weights)

    def covariance(self, a: FloatArray, of_a: Who, b: FloatArray, of_b: Who) -> FloatArray:
        """Return the covariance (n, m), without noise, of shakes of one igloo by hands of these names."""
        alike = a @ b.T / a.shape[1]
        same = np.asarray(of_a)[:, None] == np.asarray(of_b)[None]
        device = self.device_bias**2 + self.device_slope**2 * alike
        return np.asarray(device + same * (self.hand_bias**2 + self.hand_slope**2 * alike))

    def arrays(self, name: str) -> dict[str, Any]:
        """Return the arrays of a file, their keys beginning with ``name``."""
        return {
            f"{name}/middle": self.middle.astype(np.float32),
            f"{name}/scale": self.scale.astype(np.float32),
            f"{name}/weights": self.weights.astype(np.float32),
            f"{name}/shapes": np.array([getattr(self, shape) for shape in SHAPES]),
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
            *(float(value) for value in arrays[f"{name}/shapes"]),
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """Log counts of several shakes: ``mean`` (n,) and ``covariance`` (n, n), noise included."""

    mean: FloatArray
    covariance: FloatArray

    def each(self, stretch: float) -> FloatArray:
        """Return the probabilities of 2 … 13 beads for every shake alone, shape (n, 12)."""
        return spread(self.mean, np.sqrt(np.diag(self.covariance)) * stretch)

    def joined(self, stretch: float) -> FloatArray:
        """Return the probabilities (12,) of the one count that all shakes have.

        The best weighted mean of shakes whose errors go together is not the plain one, and its error does not vanish
        with their number.
        """
        mean, deviation = combined(self.mean, self.covariance)
        return np.asarray(spread(np.array([mean]), np.array([deviation * stretch]))[0])


class Known:
    """One igloo's process, given labelled shakes: ``shakes`` (n, f), ``counts`` (n,), ``who`` (n) shook."""

    def __init__(self, prior: Prior, shakes: FloatArray, counts: NDArray[np.int64], who: Who) -> None:
        self.prior = prior
        self.shakes = prior.represent(shakes)
        self.who = tuple(who)
        self._apart = np.log(counts) - CENTRE - self.shakes @ prior.weights
        noisy = prior.covariance(self.shakes, self.who, self.shakes, self.who)
        noisy[np.diag_indices_from(noisy)] += prior.noise**2
        self._inverse = np.linalg.inv(noisy)

    def answer(self, shakes: FloatArray, who: Who, seconds: FloatArray | None = None) -> Answer:
        """Return the log counts of shakes (m, f) of this igloo by hands of these names, each of so many seconds."""
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
        return Answer(mean, covariance)

    def left_out(
        self, groups: NDArray[np.int64], shakes: NDArray[np.int64] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of each shake's log count as all shakes outside its group tell it.

        ``groups`` (n,) numbers the pieces' groups, ``shakes`` (n,) their shakes, the groups themselves where it is not
        given; the answers are in the order of the shakes' numbers.
        """
        shakes = groups if shakes is None else shakes
        found = {}
        counts = self._apart + CENTRE + self.shakes @ self.prior.weights
        for group in np.unique(groups):
            mine = np.flatnonzero(groups == group)
            # what the others say follows from the inverse's own block (Rasmussen & Williams 2006, ch. 5.4.2)
            covariance = np.linalg.inv(self._inverse[np.ix_(mine, mine)])
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
    """Return the probabilities of 2 … 13 beads, shape (n, 12), for log counts (n,) with standard deviations."""
    p = shares(mean, deviation * LOGISTIC)
    return np.asarray((p + FLOOR / len(COUNTS)) / (1 + FLOOR))
