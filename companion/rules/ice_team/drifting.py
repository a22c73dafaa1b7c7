"""Where a drifting tile may go: simple drift and block drift (ICE-2.6)."""

from __future__ import annotations

from typing import NamedTuple

from companion.rules.ice_team.components import IGLOO, SEA, SEARCHED, UNKNOWN
from companion.rules.ice_team.position import IcePosition

Shift = tuple[int, int]
"""A tile moves from one space to another."""


class Block(NamedTuple):
    """A block drift in one direction: for each end of the drifting tile all tiles that shift, and what stops it.

    ``joined`` are the ends for which a floe met on the way had to join. ``stop``: ``nothing`` (no floe in front),
    ``igloo``, ``edge`` (the boards end there, or Start or Village lie there), ``floe`` (with ``ice.block_picks_up``
    off).
    """

    shifts: dict[int, list[Shift]]
    joined: frozenset[int]
    stop: str


def straight_reach(s: IcePosition) -> list[int]:
    """Return where a simple drift ends that turns no corner."""
    layout, here = s.table.layout, s.bears[s.bear]
    reached: list[int] = []
    for line in layout.rays(here):
        for space in line:
            if space >= layout.start or s.tiles[space] != SEA:
                break
            reached.append(space)
    return reached


def sea_reach(s: IcePosition) -> list[int]:
    """Return where a drifting tile may end by simple drift (ICE-2.6a); straight only with the option (ICE-Q.9)."""
    return straight_reach(s) if s.table.options["ice.simple_drift_straight"] else any_reach(s)


def any_reach(s: IcePosition) -> list[int]:
    """Return every space that open sea joins to the drifting tile, corners or not."""
    lines, bit, sea = s.table.layout.lines, s.table.layout.bit, s.sea
    reached: list[int] = []
    todo = [s.bears[s.bear]]
    for here in todo:  # grows while it is read
        for _, space in lines[here]:
            if bit[space] & sea:
                sea ^= bit[space]
                reached.append(space)
                todo.append(space)
    return reached


def block(s: IcePosition, direction: int) -> Block:
    """Return the block drift in a direction.

    The row begins with the floes right in front of the drifting tile; floes met on the way join it while sea lies
    behind them (ICE-2.6b, ICE-2.6c, ICE-Q.12); an igloo, Start, Village or the edge stops it (ICE-Q.11).
    """
    step, start = s.table.layout.step, s.table.layout.start
    picks_up = s.table.options["ice.block_picks_up"]
    row = [s.bears[s.bear]]
    at = list(row)
    shifts: dict[int, list[Shift]] = {}
    joined: set[int] = set()
    joins = False
    while 0 <= (ahead := step[at[-1]][direction]) < start and s.tiles[ahead] not in (IGLOO, SEARCHED):
        if s.tiles[ahead] >= UNKNOWN:
            joins = bool(shifts)
            if joins and not picks_up:
                return Block(shifts, frozenset(), "floe")
            row.append(ahead)
            at.append(ahead)
        elif len(row) == 1:
            break
        else:
            at = [*at[1:], ahead]
            shifts[at[0]] = list(zip(row, at, strict=True))
            if joins:
                joined.add(at[0])
    if 0 <= ahead < start and s.tiles[ahead] in (IGLOO, SEARCHED):
        return Block(shifts, frozenset(joined), "igloo")
    return Block(shifts, frozenset(joined), "edge" if len(row) > 1 else "nothing")


def pushes(s: IcePosition) -> dict[int, list[Shift]]:
    """Return the block drifts: where the drifting tile ends -> all tiles that shift.

    They go on in the direction in which the bear arrived (several are possible only from Start, ICE-Q.13).
    """
    found: dict[int, list[Shift]] = {}
    start, tiles = s.table.layout.start, s.tiles
    for direction, front in s.table.layout.lines[s.bears[s.bear]]:
        if s.arrival >> direction & 1 and front < start and tiles[front] >= UNKNOWN:
            found.update(block(s, direction).shifts)
    return found


def can_drift(s: IcePosition) -> bool:
    """Return whether the drifting tile under the bear can drift at all (ICE-2.6)."""
    here = s.bears[s.bear]
    return any(s.table.layout.bit[space] & s.sea for _, space in s.table.layout.lines[here]) or bool(pushes(s))
