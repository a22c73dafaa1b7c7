"""Which steps Ice Team allows in a position, and why others are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from companion.rules.core import JSON, Reason
from companion.rules.ice_team import drifting
from companion.rules.ice_team.board import NO_SPACE, between
from companion.rules.ice_team.components import (
    DIE_FACES,
    FACES,
    FIRST_FACE,
    PENGUINS,
    SEARCHED,
    TILE_TEXT,
    UNKNOWN,
)
from companion.rules.ice_team.moves import MOST_PENGUINS, IceMove
from companion.rules.ice_team.position import IcePosition

_FREEZES: Final = [IceMove("freeze", str(fish)) for fish in range(MOST_PENGUINS + 1)]
_WIDTH: Final = 6
"""Directions a space has at most: the bits of a landing."""


# --- what a position allows -------------------------------------------------------------------------------------------


def origins(s: IcePosition) -> tuple[int, ...]:
    """Return the spaces from which the player to move may move a bear; after a paw only one (ICE-2.5)."""
    return (s.bears[s.bear],) if s.again else s.bears[4 * s.seat : 4 * s.seat + 4]


def can_move(s: IcePosition) -> bool:
    """Return whether the player to move has any move at all."""
    return s.table.layout.ways.some(origins(s), s.sea, s.taken)


def landing(space: int, arrival: int) -> int:
    """Return the mask of a landing on a space from the directions in ``arrival``."""
    return arrival << _WIDTH * space


def hops(s: IcePosition) -> list[IceMove]:
    """Return the further leaps of a chain: not back to where it began (ICE-Q.6), and none that changes nothing.

    A tile may be landed on twice in a chain, from another side: a drifting tile is pushed where the last leap went.
    """
    layout = s.table.layout
    leaps = [move for move in layout.ways.moves((s.bears[s.bear],), s.sea, s.taken) if move.kind == "leap"]
    found = []
    for move in leaps:
        target, arrival = layout.numbers[move.b], layout.ways.arrival(move, s.sea, s.taken)
        if target != s.origin and landing(target, arrival) & ~s.landed:
            found.append(move)
    return found


def fits(s: IcePosition, face: int) -> bool:
    """Return whether the box may still show a face, given all that were turned up."""
    box = s.table.box
    return any(face in box.tiles[tile] for tile in s.left) or box.matched([*s.seen(), face]) is not None


def freezable(s: IcePosition) -> int:
    """Return how many fish may be frozen: one a penguin, fresh ones only (ICE-2.4)."""
    return min(PENGUINS[s.tiles[s.bears[s.bear]]], s.fresh[s.seat])


def moves(s: IcePosition) -> Iterator[IceMove]:
    """Yield every legal step of a position once."""
    return iter(_MOVES[s.phase](s))


def _setup_moves(s: IcePosition) -> list[IceMove]:
    missing = [name for name, tile in zip(s.table.layout.names, s.tiles, strict=False) if tile == UNKNOWN]
    faces = _fitting_faces(s) if missing else []
    return [
        *(IceMove("floe", name, face) for name in missing for face in faces),
        *(IceMove("first", colour) for colour in s.colours),
    ]


def _fitting_faces(s: IcePosition) -> list[str]:
    return [TILE_TEXT[face] for face in range(FIRST_FACE, FIRST_FACE + len(FACES)) if fits(s, face)]


def _bear_moves(s: IcePosition) -> list[IceMove]:
    return s.table.layout.ways.moves(dict.fromkeys(origins(s)), s.sea, s.taken)


def _turn_up_moves(s: IcePosition) -> list[IceMove]:
    name = s.table.layout.names[s.to_turn_up()]
    return [IceMove("floe", name, face) for face in _fitting_faces(s)]


def _roll_moves(s: IcePosition) -> list[IceMove]:
    die = s.die_to_roll()
    return [IceMove("roll", str(die + 1), DIE_FACES[face]) for face in sorted(set(s.table.box.dice[die]))]


def _drift_moves(s: IcePosition) -> list[IceMove]:
    drifts, pushes = s.table.layout.ways.drifts, s.table.layout.ways.pushes
    return [drifts[space] for space in drifting.sea_reach(s)] + [pushes[space] for space in drifting.pushes(s)]


_MOVES: Final[dict[str, Callable[[IcePosition], list[IceMove]]]] = {
    "setup": _setup_moves,
    "act": _bear_moves,
    "hop": lambda s: [*hops(s), IceMove("stop")],
    "turn-up": _turn_up_moves,
    "pick": lambda _s: [IceMove("pick", "1"), IceMove("pick", "2")],
    "roll": _roll_moves,
    "roll-both": _roll_moves,
    "choose": lambda _s: [IceMove("choose", "1"), IceMove("choose", "2")],
    "freeze": lambda s: _FREEZES[: freezable(s) + 1],
    "drift": _drift_moves,
    "over": lambda _s: [],
}
PHASES: Final = tuple(_MOVES)


# --- why a step is refused --------------------------------------------------------------------------------------------


def refusal(s: IcePosition, move: IceMove) -> Reason | None:
    """Return why a step is refused in a position, or None when it is legal."""
    test = _TESTS.get((s.phase, move.kind))
    if test is not None:
        return test(s, move)
    if s.phase == "over":
        return Reason("over", {}, ("ICE-E.3",) if s.loser >= 0 else ("ICE-E.1",))
    facts = {"step": move.kind, **_who(s)}
    if s.phase == "act" and move.kind in ("pick", "roll") and _searching(s):
        return Reason("due-act-searched", facts)
    return Reason(f"due-{s.phase}", facts)


def _searching(s: IcePosition) -> bool:
    """Return whether a bear stands on an igloo that was searched: somebody may want to search it again (ICE-2.3)."""
    return any(space < len(s.tiles) and s.tiles[space] == SEARCHED for space in s.bears)


def _who(s: IcePosition) -> dict[str, JSON]:
    return {"who": s.colours[s.seat]} if s.seat >= 0 else {}


def together(facts: Mapping[str, JSON], keys: Sequence[str]) -> Reason:
    """Return one reason for several: the first speaks, the others follow, and the clauses of all are cited."""
    return Reason(keys[0], {**facts, "also": list(keys[1:])} if len(keys) > 1 else facts)


def _always(s: IcePosition, move: IceMove) -> Reason | None:
    del s, move
    return None


def _floe_test(s: IcePosition, move: IceMove) -> Reason | None:
    layout = s.table.layout
    space = layout.index(move.a)
    if space == NO_SPACE:
        return Reason("no-space", {"space": move.a})
    if move.b not in FACES:
        return Reason("no-face", {"face": move.b})
    if s.phase == "turn-up" and space != s.to_turn_up():
        return Reason("other-floe", {"space": move.a, "due": layout.names[s.to_turn_up()]})
    if space >= layout.start or s.tiles[space] != UNKNOWN:
        return Reason("no-floe-here", {"space": move.a})
    if not fits(s, TILE_TEXT.index(move.b)):
        return Reason("face-used-up", {"face": move.b})
    return None


def _act_test(s: IcePosition, move: IceMove) -> Reason | None:
    layout = s.table.layout
    origin = layout.numbers.get(move.a, NO_SPACE)
    if origin in origins(s) and layout.ways.arrival(move, s.sea, s.taken):
        return None
    return _why_not(s, move, origin, layout.index(move.b))


def _why_not(s: IcePosition, move: IceMove, origin: int, target: int) -> Reason:
    layout = s.table.layout
    facts: dict[str, JSON] = {**_who(s), "from": move.a, "to": move.b}
    if NO_SPACE in (origin, target):
        return Reason("no-space", {"space": move.a if origin == NO_SPACE else move.b})
    if origin == layout.village:
        return Reason("stays-home", facts)
    if origin not in s.bears[4 * s.seat : 4 * s.seat + 4]:
        if origin in s.bears:
            return Reason("not-your-turn", {**facts, "other": s.colours[1 - s.seat], "left": s.actions})
        return Reason("no-bear", facts)
    if origin not in origins(s):
        return Reason("same-bear", {**facts, "due": layout.names[s.bears[s.bear]]})
    return _no_way(s, move, origin, target, facts)


def _no_way(s: IcePosition, move: IceMove, origin: int, target: int, facts: dict[str, JSON]) -> Reason:
    """Return all that is wrong with a movement: where it ends, and the way there."""
    if target == origin:
        return Reason("no-displacement", facts)
    layout = s.table.layout
    bit = layout.bit[target]
    keys = ["ends-in-sea"] if bit & s.sea else ["occupied"] if bit & s.taken else []
    lines = between(layout, origin, target)
    if move.kind == "walk":
        keys += [] if any(not line for line in lines) else ["not-adjacent"]
    elif move.kind == "leap":
        keys += _no_leap(s, lines, (origin, target))
    elif not any(line and all(layout.bit[space] & s.sea for space in line) for line in lines):
        keys.append("not-straight" if not lines else "swim-blocked" if any(lines) else "no-sea-between")
    return together(facts, keys)


def _no_leap(s: IcePosition, lines: list[list[int]], ends: tuple[int, int]) -> list[str]:
    bit = s.table.layout.bit
    if any(len(line) == 1 and bit[line[0]] & s.taken for line in lines):
        return []
    if _over_start_or_village(s, ends):
        return ["leap-over-shore"]
    return ["no-leap"] if any(bit[space] & s.taken for line in lines for space in line) else ["nobody-to-leap"]


def _over_start_or_village(s: IcePosition, ends: tuple[int, int]) -> bool:
    """Return whether Start or Village, with a bear on it, touches both ends of a leap (ICE-Q.5)."""
    layout = s.table.layout
    first, second = ({space for _, space in layout.lines[end]} for end in ends)
    return any(shore in first & second and shore in s.bears for shore in (layout.start, layout.village))


def _hop_test(s: IcePosition, move: IceMove) -> Reason | None:
    if move in hops(s):
        return None
    layout, here = s.table.layout, s.bears[s.bear]
    origin, target = layout.index(move.a), layout.index(move.b)
    facts: dict[str, JSON] = {**_who(s), "from": move.a, "to": move.b}
    if target == NO_SPACE:
        return Reason("no-space", {"space": move.b})
    if origin != here:
        return Reason("leap-on", {**facts, "due": layout.names[here]})
    if target == s.origin:
        return Reason("no-displacement", facts)
    if layout.ways.arrival(move, s.sea, s.taken):
        return Reason("leapt-before", facts)
    return _no_way(s, move, origin, target, facts)


def _roll_test(s: IcePosition, move: IceMove) -> Reason | None:
    die = s.die_to_roll()
    if move.a != str(die + 1):
        return Reason("other-die", {"die": die + 1}, ("ICE-2.2" if s.phase == "roll" else "ICE-2.7",))
    if move.b not in DIE_FACES or DIE_FACES.index(move.b) not in s.table.box.dice[die]:
        return Reason("no-die-face", {"face": move.b, "die": die + 1})
    return None


def _freeze_test(s: IcePosition, move: IceMove) -> Reason | None:
    most = freezable(s)
    if int(move.a) <= most:
        return None
    penguins = PENGUINS[s.tiles[s.bears[s.bear]]]
    facts = {**_who(s), "penguins": penguins, "fresh": s.fresh[s.seat], "most": most}
    return Reason("freeze-too-many", facts)


def _drift_test(s: IcePosition, move: IceMove) -> Reason | None:
    layout = s.table.layout
    target = layout.index(move.a)
    if target in drifting.sea_reach(s):
        return None
    facts: dict[str, JSON] = {"from": layout.names[s.bears[s.bear]], "to": move.a}
    if target == NO_SPACE:
        return Reason("no-space", {"space": move.a})
    if target == s.bears[s.bear]:
        return Reason("must-drift", facts)
    if not layout.bit[target] & s.sea:
        return Reason("drift-taken", facts)
    return Reason("drift-turns" if target in drifting.any_reach(s) else "no-drift", facts)


def _push_test(s: IcePosition, move: IceMove) -> Reason | None:
    layout, here = s.table.layout, s.bears[s.bear]
    target = layout.index(move.a)
    if target in drifting.pushes(s):
        return None
    facts: dict[str, JSON] = {"from": layout.names[here], "to": move.a}
    if target == NO_SPACE:
        return Reason("no-space", {"space": move.a})
    if target == here:
        return Reason("must-drift", facts)
    if not s.arrival:
        return Reason("push-no-line", facts)
    facts["directions"] = [name for d, name in enumerate(layout.directions) if s.arrival >> d & 1]
    for (direction, _), line in zip(layout.lines[here], layout.rays(here), strict=True):
        if s.arrival >> direction & 1 and target in line:
            return Reason(f"push-{drifting.block(s, direction).stop}", facts)
    return Reason("push-other-line" if s.came == "walk" else "push-other-line-ours", facts)


_TESTS: Final[dict[tuple[str, str], Callable[[IcePosition, IceMove], Reason | None]]] = {
    ("setup", "floe"): _floe_test,
    ("setup", "first"): _always,
    ("act", "walk"): _act_test,
    ("act", "leap"): _act_test,
    ("act", "swim"): _act_test,
    ("hop", "leap"): _hop_test,
    ("hop", "stop"): _always,
    ("turn-up", "floe"): _floe_test,
    ("pick", "pick"): _always,
    ("roll", "roll"): _roll_test,
    ("roll-both", "roll"): _roll_test,
    ("choose", "choose"): _always,
    ("freeze", "freeze"): _freeze_test,
    ("drift", "drift"): _drift_test,
    ("drift", "push"): _push_test,
}
