"""Everything that may be wrong with a position of Ice Team."""

from __future__ import annotations

from companion.rules.core import Problem
from companion.rules.ice_team.components import FIRST_FACE, FRAGILE, IGLOO, SEA, SEARCHED, TILE_TEXT, UNKNOWN
from companion.rules.ice_team.position import TEAM, IcePosition

_ENDING = frozenset({"roll-both", "choose", "over"})
"""Phases in which a team may be home."""


def problems(s: IcePosition) -> tuple[Problem, ...]:
    """Return everything that is wrong: bears, tiles that the box does not have, a game that should be over."""
    return (*_bears(s), *_tiles(s), *_end(s))


def _bears(s: IcePosition) -> list[Problem]:
    layout, found = s.table.layout, []
    for seat, colour in enumerate(s.colours):
        beyond = sum(team == seat for team, _ in s.extra)
        if beyond:
            found.append(Problem("too-many-bears", {"team": colour, "count": TEAM + beyond}, ("ICE-K.8",)))
    everywhere = [*s.bears, *(space for _, space in s.extra)]
    for space in sorted({space for space in everywhere if space < layout.start}):
        count = everywhere.count(space)
        facts = {"space": layout.names[space], "count": count}
        if count > 1:
            found.append(Problem("bears-together", facts, ("ICE-0.3",)))
        if s.tiles[space] == SEA:
            found.append(Problem("bear-at-sea", facts, ("ICE-1.1", "ICE-1.2", "ICE-1.3")))
    if s.phase == "setup" and any(space != layout.start for space in everywhere):
        found.append(Problem("bears-early", {}, ("ICE-S.5",)))
    return found


def _tiles(s: IcePosition) -> list[Problem]:
    layout, found = s.table.layout, []
    for name, printed, tile in zip(layout.names, layout.kinds, s.tiles, strict=False):
        if (printed == "igloo") != (tile in (IGLOO, SEARCHED)):
            key = "igloo-missing" if printed == "igloo" else "igloo-misplaced"
            found.append(Problem(key, {"space": name}, ("ICE-K.7",)))
    floes = sum(tile >= UNKNOWN for tile in s.tiles) + len(s.gone)
    if floes > len(s.table.box.tiles):
        found.append(Problem("too-many-floes", {"count": floes}, ("ICE-K.5",)))
    seen = s.seen()
    for face in sorted(set(seen)):
        showing = sum(face in pair for pair in s.table.box.tiles)
        if seen.count(face) > showing:
            facts = {"face": TILE_TEXT[face], "count": seen.count(face), "most": showing}
            found.append(Problem("too-many-of-a-face", facts, ("ICE-K.5", "ICE-K.6")))
    if not found and s.table.box.matched(seen) is None:
        found.append(Problem("foreign-floes", {}, ("ICE-K.5", "ICE-K.6")))
    for face in sorted({face for face in s.gone if face >= FIRST_FACE and not FRAGILE[face]}):
        found.append(Problem("solid-tile-gone", {"face": TILE_TEXT[face]}, ("ICE-1.4",)))
    return found


def _end(s: IcePosition) -> list[Problem]:
    home = [seat for seat in (0, 1) if s.home(seat) == TEAM]
    if len(home) > 1:
        return [Problem("both-home", {}, ("ICE-E.1",))]
    if home and not (s.phase in _ENDING and s.seat == home[0] and s.loser < 0):
        return [Problem("game-was-over", {"who": s.colours[home[0]]}, ("ICE-E.1",))]
    if s.phase == "over" and not home and s.loser < 0:
        return [Problem("not-over", {}, ("ICE-E.1", "ICE-E.3"))]
    return []
