"""The igloo as a witness: what it may not be made to do in a live round (POP-2.4, POP-2.6).

It only ever notes; what the table makes of it, the table says. A knock of the table is no breach, and neither is
the hand that still holds the igloo when somebody else enters its placement: that handling ends when it is set down.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from companion.night.night import Night
from companion.ports import Motion, MotionState

IN_HAND = frozenset({MotionState.LIFTED, MotionState.CARRIED, MotionState.SHAKEN, MotionState.TURNED})
SET_DOWN = frozenset({MotionState.REST, MotionState.SET_DOWN})


@dataclass(slots=True)
class _Handling:
    """One igloo: whether a hand has it, what is settled of this handling, and the placement last known."""

    in_hand: bool = False
    noted: bool = False
    excused: bool = False
    placed_by: int | None = None


class RoundWatch:
    """Turns motions of sensor igloos into faults, at most one for each time an igloo is handled. Thread-safe."""

    def __init__(self, night: Night) -> None:
        self._night = night
        self._lock = threading.Lock()
        self._igloos: dict[str, _Handling] = {}

    def on_motion(self, motion: Motion) -> int | None:
        """Take a change of motion; return the journal's number of the fault it is, or None.

        :raises companion.night.store.StorageError: when the fault could not be written.
        """
        with self._lock:
            if motion.state not in IN_HAND | SET_DOWN:
                return None
            igloo = self._igloos.setdefault(motion.key, _Handling())
            witness = self._night.witness(motion.key)
            sensor = witness.sensor
            placed_by = sensor.seq if sensor is not None else None
            # Outside a live round no placement binds, so one that binds again after a pause is new to this hand too.
            newly_placed = placed_by is not None and placed_by != igloo.placed_by
            igloo.placed_by = placed_by
            if motion.state in SET_DOWN:
                igloo.in_hand = igloo.noted = igloo.excused = False
                return None
            if not igloo.in_hand:
                igloo.in_hand = True
            elif newly_placed:
                igloo.excused = True
            if not witness.live or igloo.noted:
                return None
            offended = sensor if not igloo.excused else None
            if offended is not None:
                clause = "POP-2.6"
            elif motion.state is MotionState.TURNED:
                clause = "POP-2.4"
            else:
                return None
            fault = self._night.add_fault(
                clause, kind=motion.kind, key=motion.key, motion=str(motion.state), sensor=offended
            )
            igloo.noted = fault is not None
            return fault
