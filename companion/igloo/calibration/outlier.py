"""Whether a shake is unlike anything known: of any igloo, or of this one.

The distance of a shake's features from what is usual, in units of how much they differ: among all igloos, or, for a
calibrated igloo, from shake to shake of one igloo (by all hands and of all counts), which is much less. And whether the
count that the igloo's process says lies beyond all igloos of the box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.count.ensemble import LIMIT
from companion.ports import COUNTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from companion.igloo.calibration.gaussian_process import PredictiveDistribution

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

FEWEST_KNOWN = 6
KNOWN_PART = 0.998
"""So much of what is known lies within the border."""
FLAT = 0.2
"""Added to every variance: no direction is known to be without any spread."""
FAR = 3 * LIMIT
COMMON_PART = 0.99
COMMON_ANY, COMMON_ONE = 0.3, 0.5
"""The strangeness that one known shake in a hundred has, of any igloo and of a calibrated one, where a file of what is
usual does not say."""
COMMON_BEYOND = 0.15
"""The same of the probability of a count beyond the box: an igloo of thirteen beads has as much, for its mean is not
known better."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What is usual: ``middle`` and ``scale`` (f,), and for all igloos and for one the axes (f, f) and the border.

    A distance of 1 is the border; one known shake in a hundred has the ``common`` ones.
    """

    middle: FloatArray
    scale: FloatArray
    any_axes: FloatArray
    any_border: float
    one_axes: FloatArray
    one_border: float
    any_common: float = COMMON_ANY
    one_common: float = COMMON_ONE

    def strangeness(self, vectors: FloatArray, known: FloatArray | None = None) -> float:
        """Return how unlike pieces (k, f + …) of a shake are, to all igloos or to the ``known`` pieces of this one."""
        x = self._standard(vectors)
        if known is None or len(known) < FEWEST_KNOWN:
            return float(np.mean(_lengths(x @ self.any_axes)) / self.any_border)
        apart = x - self._standard(known).mean(axis=0)
        return float(np.mean(_lengths(apart @ self.one_axes)) / self.one_border)

    def unlikeness(self, vectors: FloatArray, answer: PredictiveDistribution, known: FloatArray | None = None) -> float:
        """Return how unlike the igloos of the box, or the ``known`` one, a shake is, all told.

        There are two surprises, its strangeness and that its count lies beyond the box, each in units of what one known
        shake in a hundred has: another content sounds otherwise or, of the same beads, says another number. Of a
        calibrated igloo their sum is taken; where nothing is known the greater of them, for there the usual uncertainty
        of thirteen beads would hide what sounds a little strange.
        """
        strange, far = self.strangeness(vectors, known), beyond(answer)
        if known is None or len(known) < FEWEST_KNOWN:
            return max(strange / self.any_common, far / COMMON_BEYOND)
        return (strange + far) / (self.one_common + COMMON_BEYOND)

    def _standard(self, vectors: FloatArray) -> FloatArray:
        x: FloatArray = np.clip((vectors[:, : len(self.middle)] - self.middle) / self.scale, -FAR, FAR)
        return x

    def arrays(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        return {
            "usual/middle": self.middle.astype(np.float32),
            "usual/scale": self.scale.astype(np.float32),
            "usual/any_axes": self.any_axes.astype(np.float16),
            "usual/one_axes": self.one_axes.astype(np.float16),
            "usual/borders": np.array([self.any_border, self.one_border]),
            "usual/common": np.array([self.any_common, self.one_common]),
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Usual:
        """Return what :meth:`arrays` wrote.

        :raises KeyError: when it is not there.
        """
        middle, scale, any_axes, one_axes = (
            arrays[f"usual/{name}"].astype(np.float64) for name in ("middle", "scale", "any_axes", "one_axes")
        )
        any_border, one_border = (float(value) for value in arrays["usual/borders"])
        common = arrays.get("usual/common", (COMMON_ANY, COMMON_ONE))
        any_common, one_common = (float(value) for value in common)
        return cls(middle, scale, any_axes, any_border, one_axes, one_border, any_common, one_common)


def beyond(answer: PredictiveDistribution) -> float:
    """Return the probability that there is one bead or none, or fourteen or more."""
    weights = np.full(len(answer.mean), 1 / len(answer.mean))
    mean = float(weights @ answer.mean)
    deviation = float(np.sqrt(weights @ answer.covariance @ weights))
    low, high = np.log(COUNTS.start - 0.9), np.log(COUNTS.stop + 0.5)
    return float(_tail((high - mean) / deviation) + _tail((mean - low) / deviation))


def _tail(z: float) -> float:
    """Return the part of a logistic distribution beyond z standard deviations."""
    return float(0.5 * (1 - np.tanh(0.5 * np.pi / np.sqrt(3) * z)))


def learn_usual(features: FloatArray, devices: IntArray, seed: int = 1) -> Usual:
    """Return what is usual from features (n, f) of many igloos; the borders are of igloos that were held back."""
    middle = np.median(features, axis=0)
    reach = np.percentile(features, 84, axis=0) - np.percentile(features, 16, axis=0)
    scale = np.maximum(0.5 * reach, 0.05 * features.std(axis=0) + 1e-3)
    x = np.clip((features - middle) / scale, -FAR, FAR)
    rng = np.random.default_rng(seed)
    names = rng.permutation(np.unique(devices))
    far_any: list[float] = []
    far_one: list[float] = []
    for fold in np.array_split(names, 3):
        out = np.isin(devices, fold)
        any_axes, one_axes = _axes(x[~out]), _axes(_within(x[~out], devices[~out]))
        far_any.extend(_lengths(x[out] @ any_axes))
        for device in fold:
            mine = rng.permutation(np.flatnonzero(devices == device))
            known, rest = mine[:12], mine[12:]
            far_one.extend(_lengths((x[rest] - x[known].mean(axis=0)) @ one_axes))
    borders = [float(np.quantile(far, KNOWN_PART)) for far in (far_any, far_one)]
    common = [
        float(np.quantile(far, COMMON_PART)) / border for far, border in zip((far_any, far_one), borders, strict=True)
    ]
    return Usual(middle, scale, _axes(x), borders[0], _axes(_within(x, devices)), borders[1], common[0], common[1])


def _within(x: FloatArray, devices: IntArray) -> FloatArray:
    """Return features less the mean of their igloo."""
    apart = x.copy()
    for device in np.unique(devices):
        apart[devices == device] -= x[devices == device].mean(axis=0)
    return apart


def _axes(x: FloatArray) -> FloatArray:
    """Return what makes features (n, f) of even spread in all directions."""
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    return np.asarray(vectors / np.sqrt(np.maximum(values, 0.0) + FLAT))


def _lengths(x: FloatArray) -> FloatArray:
    """Return the mean square (n,) of each row."""
    return np.asarray((x**2).mean(axis=1))
