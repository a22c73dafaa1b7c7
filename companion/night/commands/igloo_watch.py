"""The igloo as a witness: what it may not be made to do in a live round (POP-2.4, POP-2.6).

It only ever notes; what the table makes of it, the table says. A knock of the table is no breach, and neither is
the hand that still holds the igloo when somebody else enters its placement: that handling ends when it is set down.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from companion.night.commands.night import Night
from companion.ports import Motion, MotionState

IN_HAND = frozenset({MotionState.LIFTED, MotionState.CARRIED, MotionState.SHAKEN, MotionState.TURNED})
SET_DOWN = frozenset({MotionState.REST, MotionState.SET_DOWN})


@dataclass(slots=True)
class _Handling:
    """One igloo: whether a hand has it, the clauses noted in this handling, and the placement last known."""

    in_hand: bool = False
    noted: set[str] = field(default_factory=set)
    excused: bool = False
    placed_by: int | None = None


class RoundWatch:
    """Turns motions of sensor igloos into faults, at most one a clause each time an igloo is handled. Thread-safe.

    A placed igloo that is turned over is two: it was not to be moved (POP-2.6), nor to be looked under (POP-2.4).
    """

    def __init__(self, night: Night) -> None:
        self._night = night
        self._lock = threading.Lock()
        self._igloos: dict[str, _Handling] = {}

    def on_motion(self, motion: Motion) -> int | None:
        """Take a change of motion; return the journal's number of the fault it is (of the last of two), or None.

        :raises companion.night.log.database.StorageError: when the fault could not be written.
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
                igloo.in_hand = igloo.excused = False
                igloo.noted.clear()
                return None
            if not igloo.in_hand:
                igloo.in_hand = True
            elif newly_placed:
                igloo.excused = True
            if not witness.live:
                return None
            offended = sensor if not igloo.excused else None
            broken = ["POP-2.6"] if offended is not None else []
            if motion.state is MotionState.TURNED:
                broken.append("POP-2.4")
            last = None
            for clause in broken:
                if clause in igloo.noted:
                    continue
                fault = self._night.add_fault(
                    clause, kind=motion.kind, key=motion.key, motion=str(motion.state), sensor=offended
                )
                if fault is not None:
                    igloo.noted.add(clause)
                    last = fault
            return last
