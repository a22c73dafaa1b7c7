"""The igloo as a witness: what it may not be made to do in a live round."""

from __future__ import annotations

from companion.night.night import Night
from companion.ports import Motion


class RoundWatch:
    """Turns motions of sensor igloos into faults; see :meth:`on_motion`."""

    def __init__(self, night: Night) -> None:
        raise NotImplementedError

    def on_motion(self, motion: Motion) -> int | None:
        """Take a change of motion; return the journal's number of the fault it is, or None."""
        raise NotImplementedError
