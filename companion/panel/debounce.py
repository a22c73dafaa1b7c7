"""One press is one press: contacts bounce, long wires catch sparks.

A level counts once it has stood still for a while; every edge begins the wait anew. A spike shorter than that is
nothing, a contact that chatters for 30 ms is one press. No clock and no thread in here: the panel brings both.
"""

from __future__ import annotations

SETTLE_S = 0.015
"""So long a level must stand. Buttons bounce for 1 to 10 ms, bad ones for 20, in bursts of edges below 2 ms apart."""


class Debounce:
    """One button. Times are seconds on any clock that goes forward."""

    __slots__ = ("_changed", "_raw", "pressed", "settle_s")

    def __init__(self, settle_s: float = SETTLE_S, *, pressed: bool = False) -> None:
        self.settle_s = settle_s
        self.pressed = pressed
        """What counts: whether it is held down."""
        self._raw = pressed
        self._changed: float | None = None

    @property
    def due(self) -> float | None:
        """Return when to call :meth:`settle`, or None while nothing moves."""
        return None if self._changed is None else self._changed + self.settle_s

    def edge(self, t: float, pressed: bool) -> None:
        """Take in an edge."""
        self._raw = pressed
        self._changed = t

    def settle(self, t: float, pressed: bool | None = None) -> bool:
        """Return whether the button was just pressed; call it when due.

        ``pressed`` is the level as it is read now, in case an edge was missed.
        """
        if self._changed is None or t < self._changed + self.settle_s:
            return False
        if pressed is not None and pressed != self._raw:
            self.edge(t, pressed)
            return False
        self._changed = None
        before, self.pressed = self.pressed, self._raw
        return self.pressed and not before
