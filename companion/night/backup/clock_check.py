"""A Raspberry Pi has no battery for its clock: after a power cut it stands still, then jumps when the net comes.

Nothing of ours depends on it (the journal is numbered, waiting uses the monotonic clock), but times are shown and
exported, and pictures are forgotten by age: whoever tidies asks here first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from companion.night.backup.messages import message
from companion.night.messages import Words

JUMP_S = 120.0
"""A smaller step is the ordinary work of a time service."""

TRUSTED_AFTER_S = 3600.0
"""So long after a jump nothing is deleted by age."""


@dataclass(frozen=True, slots=True)
class Jump:
    """The wall clock moved by ``seconds`` against the monotonic one."""

    seconds: float

    @property
    def words(self) -> Words:
        """Return the sentence."""
        ahead = self.seconds > 0
        return message(
            "clock-jumped",
            what=Words("forward") if ahead else Words("back"),
            minutes=round(abs(self.seconds) / 60),
        )


class ClockWatch:
    """Compares the wall clock with the monotonic one; times are seconds."""

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._difference = wall() - monotonic()
        self._jumped: float | None = None

    def look(self) -> Jump | None:
        """Return the jump since the last look, if there was one."""
        difference = self._wall() - self._monotonic()
        moved, self._difference = difference - self._difference, difference
        if abs(moved) <= JUMP_S:
            return None
        self._jumped = self._monotonic()
        return Jump(moved)

    def behind(self, last_at_ms: int) -> bool:
        """Return whether the clock stands before something that has already happened (UTC milliseconds)."""
        return self._wall() * 1000 + JUMP_S * 1000 < last_at_ms

    def trusted(self, last_at_ms: int) -> bool:
        """Return whether files may be deleted by their age: the clock is not behind and did not jump lately."""
        calm = self._jumped is None or self._monotonic() - self._jumped >= TRUSTED_AFTER_S
        return calm and not self.behind(last_at_ms)
