"""Which igloo, or which filling, is to be shaken next, and how far a calibration has come."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from companion.ports import COUNTS

STAGES = (12, 36, 120)
"""After so many shakes a calibration is good, better, best."""


class CalibrationMethod(StrEnum):
    """How an igloo is calibrated: its cap goes from igloo to igloo of the box, or one igloo is filled anew."""

    CAP = "cap"
    FILLED = "filled"


FILLINGS: tuple[tuple[tuple[int, ...], int], ...] = (
    ((3, 6, 11), 4),
    ((2, 9, 4, 13, 5, 8), 4),
    (tuple(COUNTS), 10),
)
"""Fillings, and how many shakes there shall be of each: three make twelve shakes, nine make 36, all of them 120."""

SPREAD = (2, 13, 6, 4, 9, 3, 11, 7, 5, 8, 10, 12)
"""Both ends and the middle first: they help most while shakes are few."""


def next_count(way: CalibrationMethod, kept: Mapping[int, int], last: int | None = None) -> int:
    """Return how many beads shall be shaken next, where ``kept`` says how many shakes there are of each number.

    A filling stays until it has been shaken often enough: filling takes longer than shaking.
    """
    if way is CalibrationMethod.CAP:
        return min(SPREAD, key=lambda n: (kept.get(n, 0), SPREAD.index(n)))
    for fillings, each in FILLINGS:
        wanting = [n for n in fillings if kept.get(n, 0) < each]
        if wanting:
            return last if last in wanting and last is not None else wanting[0]
    return min(COUNTS, key=lambda n: kept.get(n, 0))


def goal(shakes: int) -> int | None:
    """Return the next stage for so many shakes, None beyond the last.

    >>> [goal(n) for n in (0, 12, 36, 120)]
    [12, 36, 120, None]
    """
    return next((stage for stage in STAGES if shakes < stage), None)
