"""Faults of the hands: what the rulebook forbids without naming a penalty (POP-2.10, a house ruling)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from companion.rules.core import Reason, Ruling
from companion.rules.rulebook import rulebook


class Fault(NamedTuple):
    """What may be reported: ``clause`` forbids it, ``key`` is its sentence, ``remedy`` what the table does then.

    ``remedy`` is ``to-village`` (the igloo goes back to the village, a stake to its owner), ``to-village-barred``
    (the same, and the player does not place that igloo in this round) or ``back-on-card``.
    """

    clause: str
    key: str
    remedy: str


FAULTS: Final[Mapping[str, Fault]] = {
    fault.clause: fault
    for fault in (
        Fault("POP-2.2", "fault-two-igloos", "to-village"),
        Fault("POP-2.3", "fault-elsewhere", "to-village"),
        Fault("POP-2.4", "fault-looked", "to-village-barred"),
        Fault("POP-2.5", "fault-captured-thaler", "to-village"),
        Fault("POP-2.6", "fault-moved", "back-on-card"),
    )
}
"""The faults by the clause that forbids them."""


def fault_ruling(clause: str, colour: str | None, state: object) -> Ruling:
    """Return the ruling on a reported fault; ``colour`` is None where nobody knows whose it was.

    :raises KeyError: when ``clause`` is no fault of :data:`FAULTS`.
    """
    fault = FAULTS[clause]
    facts = {"who": colour or "somebody", "remedy": fault.remedy}
    return rulebook("igloo-pop").ruling(False, Reason(fault.key, facts), state)
