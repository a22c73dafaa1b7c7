"""What is plainly wrong with a board of Ice Team after a turn: too many bears, more of them than actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from companion.rules.core import JSON, Reason
from companion.rules.ice_team.position import TEAM, IcePosition
from companion.rules.inference.explain import Objection, impossible
from companion.rules.inference.turns import Evidence
from companion.rules.rulebook import rulebook

TOO_MANY: Final = ("too-many-bears", "both-home")
"""Problems that only a whole board has."""

Counts = Sequence[Sequence[int]]
"""For each seat, for each space, how many bears."""


def objections(before: IcePosition, evidence: Evidence, most: Counts, *, carried: bool) -> Iterator[Objection]:
    """Yield what no turn explains.

    ``most`` are the bears that were seen at most; ``carried``: a drift may have moved others than walked.
    """
    found = list(impossible(before, evidence, (), TOO_MANY))
    yield from found
    if found:
        return
    names = before.table.layout.names
    me, who = before.seat, before.colours[before.seat]
    mine = _left(before, me, most)
    # Nobody drifts away from Start.
    moved = [space for space in mine if not carried or space >= before.table.layout.start]
    if len(moved) > before.actions:
        facts: dict[str, JSON] = {"who": who, "count": len(moved), "left": before.actions}
        yield _objection(before, "actions-short", facts, {names[space] for space in mine})


def of_others(before: IcePosition, least: Counts, most: Counts, missed: Sequence[str]) -> set[str]:
    """Return the spaces where bears of the other team came or went, and the fields of that team that changed."""
    names, other = before.table.layout.names, 1 - before.seat
    team = before.bears[TEAM * other : TEAM * other + TEAM]
    spaces = {space for space in team if team.count(space) > most[other][space]}
    spaces |= {space for space, count in enumerate(least[other]) if team.count(space) < count}
    if not spaces:
        return set()
    found = {names[space] for space in spaces}
    # Whose fish became more or fewer in which turn is not told apart.
    return found | {name for name in missed if name.endswith((".fresh", ".frozen")) or name in {"turn", "removed"}}


def _left(s: IcePosition, seat: int, most: Counts) -> list[int]:
    """Return the spaces that bears of a seat left, one entry each."""
    team = s.bears[TEAM * seat : TEAM * seat + TEAM]
    return [space for space in sorted(set(team)) for _ in range(team.count(space) - most[seat][space])]


def _objection(s: IcePosition, key: str, facts: dict[str, JSON], places: set[str]) -> Objection:
    return Objection("", rulebook("ice-team").ruling(False, Reason(key, facts), s), frozenset(places))
