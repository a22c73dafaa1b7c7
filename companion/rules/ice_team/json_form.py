"""Ice Team in the one form of a board, and in one line of text; :mod:`.json_reader` reads it back."""

from __future__ import annotations

from companion.rules.core import CHANCE, JSON, NOBODY
from companion.rules.ice_team.components import (
    DIE_FACES,
    DRIFTS,
    FRAGILE,
    IGLOO,
    PAW,
    PENGUINS,
    SEA,
    SEARCHED,
    TILE_TEXT,
    UNKNOWN,
    default_box,
)
from companion.rules.ice_team.legality import landing
from companion.rules.ice_team.position import IcePosition

GAME = "ice-team"
_SIGNS = {SEA: ".", IGLOO: "I", SEARCHED: "i", UNKNOWN: "?", PAW: "*"}


def to_json(s: IcePosition) -> dict[str, JSON]:
    """Return the whole position; the form is described in this folder's README."""
    table = s.table
    box: dict[str, JSON] = {"real": table.box.real, "warnings": list(table.box.warnings())}
    if table.box is not default_box():
        box["data"] = table.box.to_json()
    found: dict[str, JSON] = {
        "game": GAME,
        "players": [
            {"name": name, "colour": colour, "fresh": s.fresh[seat], "frozen": s.frozen[seat]}
            for seat, (name, colour) in enumerate(zip(table.names, table.colours, strict=True))
        ],
        "options": dict(table.options),
        "layout": table.said,
        "box": box,
        "places": places(s),
        "phase": s.phase,
        "turn": table.colours[s.seat] if s.seat >= 0 else None,
        "to_move": None if s.to_move in (CHANCE, NOBODY) else table.colours[s.to_move],
        "actions": s.actions,
        "removed": [TILE_TEXT[face] for face in s.gone],
        "loser": table.colours[s.loser] if s.loser >= 0 else None,
    }
    pending = _pending(s)
    if pending:
        found["pending"] = pending
    return found


def _pending(s: IcePosition) -> dict[str, JSON]:
    layout = s.table.layout
    found: dict[str, JSON] = {}
    if s.bear >= 0:
        found["bear"] = layout.names[s.bears[s.bear]]
    if s.origin >= 0:
        found["origin"] = layout.names[s.origin]
    if s.arrival:
        found["arrival"] = [name for d, name in enumerate(layout.directions) if s.arrival >> d & 1]
        found["by"] = s.came
    if s.landed:
        found["landed"] = [
            f"{name} {direction}"
            for space, name in enumerate(layout.names)
            for d, direction in enumerate(layout.directions)
            if s.landed & landing(space, 1 << d)
        ]
    if s.again:
        found["again"] = True
    if s.die >= 0:
        found["die"] = s.die + 1
    if s.dice:
        found["dice"] = [DIE_FACES[face] for face in s.dice]
    return found


def places(s: IcePosition) -> dict[str, JSON]:
    """Return what lies and stands on each space, in the order of the boards, then Start and Village."""
    found: dict[str, JSON] = {}
    for space, name in enumerate(s.table.layout.names):
        things = [
            {"kind": "bear", "colour": colour, "count": count}
            for seat, colour in enumerate(s.colours)
            if (count := s.count_on(space, seat))
        ]
        found[name] = {"ground": TILE_TEXT[s.tiles[space]] if space < s.table.layout.start else name, "things": things}
    return found


def describe(s: IcePosition) -> str:
    """Return the position in one line: boards, Start and Village, fish (fresh+frozen), whose step it is.

    ``.`` sea, ``I`` igloo with its fish, ``i`` searched, ``?`` floe not read, ``o`` plain, ``2`` penguins, ``~``
    drift, ``*`` paws, ``!`` cracks, and bears in brackets.
    """
    layout = s.table.layout
    boards: dict[str, list[str]] = {}
    for space, tile in enumerate(s.tiles):
        sign = _SIGNS.get(tile) or ("~" if DRIFTS[tile] else str(PENGUINS[tile] or "o"))
        sign += "!" if FRAGILE[tile] and tile != PAW else ""
        bears = _bears(s, space)
        boards.setdefault(layout.names[space].rstrip("0123456789"), []).append(sign + (f"({bears})" if bears else ""))
    parts = [f"{name} {''.join(signs)}" for name, signs in boards.items()]
    parts += [f"{layout.names[space]} {_bears(s, space) or '-'}" for space in (layout.start, layout.village)]
    parts += [f"{colour} {s.fresh[seat]}+{s.frozen[seat]}" for seat, colour in enumerate(s.colours)]
    who = f"{s.colours[s.seat]} " if s.seat >= 0 else ""
    return ", ".join([*parts, f"{who}{s.phase} {s.actions}"])


def _bears(s: IcePosition, space: int) -> str:
    return "".join(colour[0] * s.count_on(space, seat) for seat, colour in enumerate(s.colours))
