"""What is shaken in a drill: values and Protocols, so that training needs to know no device and no counter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from companion.ports import CompanionError, CountPosterior, DeviceKind

if TYPE_CHECKING:
    from companion.ports import FloatArray

HEARD_S = 2.6
"""How much of a stored shake a drill plays; where it begins is drawn, so that no shake is known by its beginning."""


class TrainingError(CompanionError, ValueError):
    """What was asked of the training room cannot be; ``code`` names the reason, the page has the sentence."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True, eq=False)
class Shake:
    """One shake as an accelerometer felt it: ``accel`` (n, 3) in g at the true ``rate_hz``."""

    accel: FloatArray
    rate_hz: float
    kind: DeviceKind


@dataclass(frozen=True, slots=True, eq=False)
class CountedShake:
    """A shake of the igloo on the table, and what the machine made of it."""

    shake: Shake
    posterior: CountPosterior


class ShakeBank(Protocol):
    """A bank of stored shakes whose counts are known."""

    def of(self, count: int) -> Sequence[int]:
        """Return the numbers of the shakes of so many beads."""
        ...

    def shake(self, number: int) -> Shake:
        """Return a stored shake.

        :raises KeyError: when there is no such number.
        """
        ...


class PracticeIgloo(Protocol):
    """The sensor igloo of this table."""

    def kind(self) -> DeviceKind | None:
        """Return what the igloo is that one can train with now, or None where there is none."""
        ...

    def heard(self, since: float) -> CountedShake | None:
        """Return the newest shake that was counted after ``since`` (host seconds), or None."""
        ...


def cut(shake: Shake, seed: int, seconds: float = HEARD_S) -> Shake:
    """Return ``seconds`` of a stored shake, from a beginning that ``seed`` chooses; all of it where it is shorter."""
    wanted = int(seconds * shake.rate_hz)
    spare = len(shake.accel) - wanted
    if spare <= 0:
        return shake
    begin = int(np.random.default_rng(seed).integers(spare + 1))
    return Shake(shake.accel[begin : begin + wanted], shake.rate_hz, shake.kind)
