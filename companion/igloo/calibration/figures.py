"""How good a calibration is on its own shakes, as its data card says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.calibration.gaussian_process import blended, heaped, spread
from companion.igloo.count.ensemble import scores
from companion.ports import COUNTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.igloo.calibration.gaussian_process import Known

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


def left_out(process: Known, shakes: FloatArray, number: IntArray, groups: IntArray | None = None) -> dict[str, Any]:
    """Return the figures of a process's own ``shakes`` (n, f), each told by the others.

    ``number`` (n,) numbers the shakes, for a long one has several pieces. Where ``groups`` (n,) are given, each shake
    is told by those outside its group, so by hands that do not know its own.
    """
    first = np.unique(number, return_index=True)[1]
    p, mean = _told(process, shakes, number, number if groups is None else groups)
    if groups is None:
        for name, own in process.own.items():
            mine = np.array([process.who[i] == name for i in first])
            its_p, its_mean = _told(own, shakes, number, number)
            p[mine], mean[mine] = its_p[mine], its_mean[mine]
    return figures_of(p, mean, process.counts[first])


def _told(process: Known, shakes: FloatArray, number: IntArray, groups: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities (k, 12) and the mean log count (k,) of each shake as those outside its group tell it."""
    said = process.said(shakes)
    heard = None if said is None else np.array([heaped(said[number == one]) for one in np.unique(number)])
    mean, deviation = process.left_out(groups, number)
    return blended(spread(mean, deviation * process.prior.stretch), heard, process.prior.share), mean


def figures_of(p: FloatArray, mean: FloatArray, counts: IntArray) -> dict[str, Any]:
    """Return scores with a 90 % interval of the part that is exact (Wilson 1927), and how mean and truth agree."""
    found: dict[str, Any] = {name: round(value, 3) for name, value in scores(p, counts).items()}
    n, z = len(counts), 1.645
    part = float((p.argmax(axis=1) + COUNTS.start == counts).mean())
    middle = (part + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * np.sqrt(part * (1 - part) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    found["exact_interval"] = [round(max(float(middle - reach), 0.0), 3), round(min(float(middle + reach), 1.0), 3)]
    level = float(np.std(mean) * np.std(np.log(counts)))
    agree = float(np.mean((mean - mean.mean()) * (np.log(counts) - np.log(counts).mean()))) / (level + 1e-12)
    return {**found, "agreement": round(agree, 3), "shakes": n}
