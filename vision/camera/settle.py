"""When a board may be looked at: it lies still, and no hand was over it for a while. Pure: no picture, no clock."""

from __future__ import annotations

from dataclasses import dataclass

STILL = 10.0
"""Grey levels by which the most changed spots of a picture differ from the one before while nothing moves."""


@dataclass
class Settler:
    """Told of every frame, it says whether the scene has settled.

    ``seconds``: how long nothing may have moved (a setting of the table). ``still``: differences up to this are noise.
    """

    seconds: float = 1.5
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
