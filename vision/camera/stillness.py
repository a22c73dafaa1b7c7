"""The scene that a camera shows: whether it lies still, and whether it is another than the one that was looked at.

Made for every frame of an idle table, so it works on the small grey copies only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from companion.ports import ByteArray

T = TypeVar("T")

STILL: Final = 10.0
"""Grey levels by which the most changed spots of a picture differ from the one before while nothing moves."""
SPOTS: Final = 4
"""So many pixels of the small copy must differ: one alone is noise, the smallest token covers more."""
_LEVELS: Final = 255
ANOTHER: Final = 12.0
"""Grey levels by which a spot differs where something else lies there now."""


def difference(one: ByteArray, other: ByteArray) -> float:
    """Return by how many grey levels two small pictures differ where they differ most.

    A lamp that flickers or an exposure that settles changes everything alike, and moves nothing: that is left out.
    """
    # Told from how often each difference is there: of every frame, sorting the pixels would cost several times as much.
    often = np.bincount((one.astype(np.int16) - other).ravel() + _LEVELS, minlength=2 * _LEVELS + 1)
    below, pixels = np.cumsum(often), one.size
    middle = np.searchsorted(below, [(pixels - 1) // 2, pixels // 2], side="right") - _LEVELS
    spots = np.bincount(np.abs(np.arange(-_LEVELS, _LEVELS + 1) - int(middle.sum() / 2)), often)
    return float(spots.size - 1 - np.searchsorted(np.cumsum(spots[::-1]), SPOTS))


@dataclass
class Settler:
    """Told of every frame, it says whether the scene has settled.

    ``seconds``: how long nothing may have moved (a setting of the table). ``still``: differences up to this are noise.
    """

    seconds: float
    still: float = STILL
    _since: float | None = None
    _last: float | None = None

    def feed(self, at: float, difference: float, *, hand: bool = False) -> bool:
        """Take a frame: its time (seconds), how it differs from the one before, whether a hand is over the board.

        A frame older than the one before begins anew: the source has changed, or its clock.
        """
        if self._last is not None and at < self._last:
            self._since = None
        self._last = at
        if hand or difference > self.still:
            self._since = None
            return False
        if self._since is None:
            self._since = at
        return at - self._since >= self.seconds

    def reset(self) -> None:
        """Forget what was seen: the next frame is the first."""
        self._since = self._last = None


class StillnessDetector:
    """Told of every frame's small copy; one table, one camera."""

    def __init__(self, seconds: float) -> None:
        """Let a scene count as settled after so many seconds without movement."""
        self._settler = Settler(seconds)
        self._before: ByteArray | None = None
        self._looked: ByteArray | None = None

    @property
    def seconds(self) -> float:
        """Return how long nothing may have moved."""
        return self._settler.seconds

    @seconds.setter
    def seconds(self, seconds: float) -> None:
        self._settler.seconds = seconds

    def feed(self, at: float, small: ByteArray) -> bool:
        """Take a frame (its time in seconds, its small grey copy); return whether the scene has settled."""
        moved = difference(small, self._before) if self._before is not None else 0.0
        self._before = small
        return self._settler.feed(at, moved)

    def looked(self) -> None:
        """Note that the newest frame is the one that was looked at."""
        self._looked = self._before

    def forget(self) -> None:
        """Forget what was looked at: the next settled frame is a new one."""
        self._looked = None

    @property
    def new(self) -> bool:
        """Return whether the newest frame shows another scene than the one that was looked at."""
        if self._looked is None or self._before is None:
            return True
        return difference(self._before, self._looked) > ANOTHER


class SceneMemory(Generic[T]):
    """What was seen in the newest picture that was looked at: later ones that show the same need no look."""

    def __init__(self, again_s: float, looks: int) -> None:
        """Know nothing yet; a scene is looked at so many times, and again after so many seconds."""
        self._again_s, self._looks = again_s, looks
        self._last: tuple[float, ByteArray, T, int] | None = None

    def see(self, at: float, small: ByteArray, look: Callable[[], T], *, anew: bool) -> T:
        """Return what ``look`` sees in a picture (its time in seconds, its small grey copy), or saw in the same scene.

        ``anew``: it is to look in any case.
        """
        last = self._last
        if last is None or difference(small, last[1]) > STILL:
            last = self._last = at, small, look(), 1
        elif anew or last[3] < self._looks or not 0 <= at - last[0] < self._again_s:
            last = self._last = at, small, look(), last[3] + 1
        return last[2]

    def forget(self) -> None:
        """Forget what was seen."""
        self._last = None
