"""Which steps Ice Team allows in a position, and the reason for each yes and no."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from companion.rules.core import Reason
from companion.rules.ice_team.board import NO_SPACE
from companion.rules.ice_team.box import DIE_FACES, FACES, FIRST_FACE, FRAGILE, PENGUINS, SEA, TILE_TEXT, UNKNOWN
from companion.rules.ice_team.moves import IceMove

if TYPE_CHECKING:
    from companion.rules.ice_team.state import IceTeamState

Targets = dict[int, int]
"""Where a bear may go: target -> mask of the directions in which it would arrive."""


def bear_at(s: IceTeamState, space: int) -> int:
    """Return a bear of the player to move that stands on a space, or -1."""
    for bear in range(4 * s.seat, 4 * s.seat + 4):
        if s.bears[bear] == space:
            return bear
    return -1


def tile_with(s: IceTeamState, face: int) -> int:
    """Return a tile of the box, not yet on the board, that shows a face on one of its sides; -1: none is left."""
    best = -1
    for tile in s.left:
        front, back = s.box.tiles[tile]
        if face in (front, back):
            if front == back:
                return tile
            best = tile
    return best


def fits(s: IceTeamState, face: int) -> bool:
    """Return whether the box may still show a face, given all that were turned up."""
    return tile_with(s, face) >= 0 or s.box.matched((*s.seen, face)) is not None


def _free(s: IceTeamState, space: int, occupied: int) -> bool:
    """Return whether a bear may end on a space: Start, Village, or a tile without a bear (ICE-0.3)."""
    return space >= s.layout.start or (s.tiles[space] != SEA and not occupied >> space & 1)


def walks(s: IceTeamState, origin: int, occupied: int) -> Targets:
    """Return where a bear may walk from a space (ICE-1.1)."""
    targets: Targets = {}
    start, tiles = s.layout.start, s.tiles
    for direction, space in s.layout.lines[origin]:
        if space >= start or (tiles[space] and not occupied >> space & 1):
            targets[space] = targets.get(space, 0) | 1 << direction
    return targets


def leaps(s: IceTeamState, origin: int, occupied: int) -> Targets:
    """Return where a bear may leap from a space, over exactly one bear that stands next to it (ICE-1.2a)."""
    targets: Targets = {}
    layout = s.layout
    for direction, space in layout.lines[origin]:
        if space < layout.start and occupied >> space & 1:
            beyond = layout.step[space][direction]
            if beyond not in (NO_SPACE, origin) and _free(s, beyond, occupied):
                targets[beyond] = targets.get(beyond, 0) | 1 << direction
    return targets


def swims(s: IceTeamState, origin: int, occupied: int) -> Targets:
    """Return where a bear may swim from a space: the first tile beyond one or more sea spaces (ICE-1.3a)."""
    targets: Targets = {}
    start, step, tiles = s.layout.start, s.layout.step, s.tiles
    for direction, first in s.layout.lines[origin]:
        if first >= start or tiles[first]:
            continue
        space = first
        while 0 <= space < start and not tiles[space]:
            space = step[space][direction]
        if space not in (NO_SPACE, origin) and _free(s, space, occupied):
            targets[space] = targets.get(space, 0) | 1 << direction
    return targets


Ways = dict[str, Targets]
"""How a bear may leave a space: by kind of movement."""


def ways_from(s: IceTeamState, origin: int) -> Ways:
    """Return all movements from a space; worked out once a position, which asks several times."""
    found = s.ways.get(origin)
    if found is None:
        occupied = s.occupied()
        found = s.ways[origin] = {
            "walk": walks(s, origin, occupied),
            "leap": leaps(s, origin, occupied),
            "swim": swims(s, origin, occupied),
        }
    return found


def arrival(s: IceTeamState, kind: str, origin: int, target: int) -> int:
    """Return the mask of directions in which a legal move arrives."""
    return ways_from(s, origin)[kind][target]


def _hops(s: IceTeamState) -> list[int]:
    """Return the landings of a further leap; where the bear has been this action is no displacement (ICE-Q.6)."""
    here = s.bears[s.bear]
    barred = s.been | (1 << s.origin)
    return [space for space in ways_from(s, here)["leap"] if not barred >> space & 1]


def can_hop(s: IceTeamState) -> bool:
    """Return whether the bear that leaps may leap on."""
    return bool(_hops(s))


def _origins(s: IceTeamState) -> list[int]:
    """Return the spaces from which the player to move may move a bear, each once; after a paw only one."""
    if s.again:
        return [s.bears[s.bear]]
    village = s.layout.village
    return [space for space in dict.fromkeys(s.bears[4 * s.seat : 4 * s.seat + 4]) if space != village]


def can_move(s: IceTeamState) -> bool:
    """Return whether the player to move has any move at all."""
    return any(any(ways_from(s, origin).values()) for origin in _origins(s))


def _sea_reach(s: IceTeamState) -> list[int]:
    """Return where a drifting tile may end by simple drift (ICE-2.6a); straight only with the option (ICE-Q.9)."""
    here = s.bears[s.bear]
    step, tiles, start = s.layout.step, s.tiles, s.layout.start
    reached: list[int] = []
    if s.options["ice.simple_drift_straight"]:
        for direction in range(len(step[here])):
            space = step[here][direction]
            while 0 <= space < start and tiles[space] == SEA:
                reached.append(space)
                space = step[space][direction]
        return reached
    todo = [here]
    while todo:
        for space in step[todo.pop()]:
            if 0 <= space < start and tiles[space] == SEA and space not in reached:
                reached.append(space)
                todo.append(space)
    return reached


def pushes(s: IceTeamState) -> dict[int, list[tuple[int, int]]]:
    """Return the block drifts: where the drifting tile ends -> the (from, to) pairs of all tiles that shift.

    The line is that of the bear's arrival; floes met on the way join it while sea lies behind them
    (ICE-2.6b, ICE-2.6c, ICE-Q.12); an igloo, Start, Village or the edge stops it (ICE-Q.11).
    """
    here, start = s.bears[s.bear], s.layout.start
    found: dict[int, list[tuple[int, int]]] = {}
    for direction in range(len(s.layout.step[here])):
        if not s.arrival >> direction & 1:
            continue
        line = [here]
        while 0 <= (space := s.layout.step[line[-1]][direction]) < start and s.tiles[space] >= UNKNOWN:
            line.append(space)
        if len(line) == 1:
            continue
        at = list(line)
        while True:
            ahead = s.layout.step[at[-1]][direction]
            if not 0 <= ahead < start:
                break
            if s.tiles[ahead] == SEA:
                at = [*at[1:], ahead]
                found[at[0]] = list(zip(line, at, strict=True))
            elif s.tiles[ahead] >= UNKNOWN and s.options["ice.block_picks_up"]:
                line.append(ahead)
                at.append(ahead)
            else:
                break
    return found


def can_drift(s: IceTeamState) -> bool:
    """Return whether the drifting tile under the bear can drift at all (ICE-2.6)."""
    return bool(_sea_reach(s)) or bool(pushes(s))


# --- the legal steps -----------------------------------------------------------------------------------------


def moves(s: IceTeamState) -> Iterator[IceMove]:
    """Yield every legal step of a position once."""
    return _MOVES[s.phase](s)


def _setup_moves(s: IceTeamState) -> Iterator[IceMove]:
    missing = [space for space, tile in enumerate(s.tiles) if tile == UNKNOWN]
    if not missing:
        yield from (IceMove("first", colour) for colour in s.colours)
        return
    faces = [face for face in range(FIRST_FACE, FIRST_FACE + len(FACES)) if fits(s, face)]
    yield from (IceMove("floe", s.layout.names[space], TILE_TEXT[face]) for space in missing for face in faces)


@lru_cache(maxsize=8192)
def _named(kind: str, origin: str, target: str) -> IceMove:
    """Return a move, made once: there are some thousand of them, and a search asks for them all the time."""
    return IceMove(kind, origin, target)


def _bear_moves(s: IceTeamState) -> Iterator[IceMove]:
    names = s.layout.names
    for origin in _origins(s):
        for kind, targets in ways_from(s, origin).items():
            for target in targets:
                yield _named(kind, names[origin], names[target])


def _hop_moves(s: IceTeamState) -> Iterator[IceMove]:
    names = s.layout.names
    yield from (IceMove("leap", names[s.bears[s.bear]], names[space]) for space in _hops(s))
    yield IceMove("stop")


def _turn_up_moves(s: IceTeamState) -> Iterator[IceMove]:
    name = s.layout.names[s.bears[s.bear]]
    for face in range(FIRST_FACE, FIRST_FACE + len(FACES)):
        if fits(s, face):
            yield IceMove("floe", name, TILE_TEXT[face])


def _roll_moves(s: IceTeamState) -> Iterator[IceMove]:
    die = s.die_to_roll()
    yield from (IceMove("roll", str(die + 1), DIE_FACES[face]) for face in sorted(set(s.box.dice[die])))


def _freeze_moves(s: IceTeamState) -> Iterator[IceMove]:
    yield from (IceMove("freeze", str(fish)) for fish in range(_freezable(s) + 1))


def _freezable(s: IceTeamState) -> int:
    return min(PENGUINS[s.tiles[s.bears[s.bear]]], s.fresh[s.seat])


def _drift_moves(s: IceTeamState) -> Iterator[IceMove]:
    names = s.layout.names
    yield from (IceMove("drift", names[space]) for space in _sea_reach(s))
    yield from (IceMove("push", names[space]) for space in pushes(s))


def _dice_moves(kind: str) -> Callable[[IceTeamState], Iterator[IceMove]]:
    return lambda _s: iter((IceMove(kind, "1"), IceMove(kind, "2")))


_MOVES: dict[str, Callable[[IceTeamState], Iterator[IceMove]]] = {
    "setup": _setup_moves,
    "act": _bear_moves,
    "hop": _hop_moves,
    "turn-up": _turn_up_moves,
    "pick": _dice_moves("pick"),
    "roll": _roll_moves,
    "roll-both": _roll_moves,
    "choose": _dice_moves("choose"),
    "freeze": _freeze_moves,
    "drift": _drift_moves,
    "over": lambda _s: iter(()),
}


# --- the reason for a no -------------------------------------------------------------------------------------


def refusal(s: IceTeamState, move: IceMove) -> Reason | None:
    """Return why a step is refused in a position, or None when it is legal."""
    if s.phase == "over":
        return Reason("over", {}, ("ICE-E.3",) if s.loser >= 0 else ("ICE-E.1",))
    test = _TESTS.get((s.phase, move.kind))
    return Reason("not-now", {"step": move.kind, "phase": s.phase}) if test is None else test(s, move)


def _floe_test(s: IceTeamState, move: IceMove) -> Reason | None:
    space = s.layout.index(move.a)
    if move.b not in TILE_TEXT[FIRST_FACE:]:
        return Reason("no-face", {"face": move.b})
    here = s.bears[s.bear] if s.phase == "turn-up" else space
    if not 0 <= space < s.layout.start or space != here or s.tiles[space] != UNKNOWN:
        return Reason("no-floe-here", {"space": move.a})
    if not fits(s, TILE_TEXT.index(move.b)):
        return Reason("face-used-up", {"face": move.b})
    return None


def _first_test(s: IceTeamState, move: IceMove) -> Reason | None:
    if move.a not in s.colours:
        return Reason("no-team", {"team": move.a})
    return Reason("floes-missing", {"count": s.tiles.count(UNKNOWN)}) if UNKNOWN in s.tiles else None


def _act_test(s: IceTeamState, move: IceMove) -> Reason | None:
    layout = s.layout
    origin, target = layout.index(move.a), layout.index(move.b)
    if NO_SPACE in {origin, target}:
        return Reason("no-space", {"space": move.a if origin == NO_SPACE else move.b})
    if origin == layout.village:
        return Reason("stays-home", {"who": s.seat})
    if bear_at(s, origin) < 0:
        return Reason("no-bear", {"who": s.seat, "space": move.a})
    if s.again and origin != s.bears[s.bear]:
        return Reason("same-bear", {"who": s.seat, "space": layout.names[s.bears[s.bear]]})
    if target in ways_from(s, origin)[move.kind]:
        return None
    return _why_not(s, move, origin, target, s.occupied())


def _why_not(s: IceTeamState, move: IceMove, origin: int, target: int, occupied: int) -> Reason:
    facts = {"who": s.seat, "from": move.a, "to": move.b}
    if target == origin:
        return Reason("no-displacement", facts)
    if target < s.layout.start and s.tiles[target] == SEA:
        return Reason("ends-in-sea", facts)
    if target < s.layout.start and occupied >> target & 1:
        return Reason("occupied", facts)
    if move.kind == "walk":
        return Reason("not-adjacent", facts)
    if move.kind == "leap":
        return Reason("no-leap", facts)
    first = next((d for d, _ in s.layout.lines[origin] if target in _beyond(s, origin, d)), None)
    return Reason("not-straight" if first is None else "swim-blocked", facts)


def _beyond(s: IceTeamState, origin: int, direction: int) -> list[int]:
    """Return every space in a direction from a space, whatever lies there."""
    spaces = [space for d, space in s.layout.lines[origin] if d == direction]
    for space in spaces:
        if 0 <= space < s.layout.start and (ahead := s.layout.step[space][direction]) != NO_SPACE:
            spaces.append(ahead)
    return spaces


def _hop_test(s: IceTeamState, move: IceMove) -> Reason | None:
    origin, target = s.layout.index(move.a), s.layout.index(move.b)
    here = s.bears[s.bear]
    if origin != here or target == NO_SPACE:
        return Reason("leap-on", {"who": s.seat, "space": s.layout.names[here]})
    if target in _hops(s):
        return None
    if target in ways_from(s, here)["leap"]:
        return Reason("no-displacement", {"who": s.seat, "from": move.a, "to": move.b})
    return _why_not(s, move, origin, target, s.occupied())


def _roll_test(s: IceTeamState, move: IceMove) -> Reason | None:
    die = s.die_to_roll()
    if move.a != str(die + 1):
        return Reason("other-die", {"die": die + 1})
    if move.b not in DIE_FACES or DIE_FACES.index(move.b) not in s.box.dice[die]:
        return Reason("no-die-face", {"face": move.b})
    return None


def _freeze_test(s: IceTeamState, move: IceMove) -> Reason | None:
    most = _freezable(s)
    if int(move.a) <= most:
        return None
    penguins = PENGUINS[s.tiles[s.bears[s.bear]]]
    return Reason("freeze-too-many", {"who": s.seat, "penguins": penguins, "fresh": s.fresh[s.seat], "most": most})


def _drift_test(s: IceTeamState, move: IceMove) -> Reason | None:
    target = s.layout.index(move.a)
    if target in _sea_reach(s):
        return None
    if target == s.bears[s.bear]:
        return Reason("must-drift", {"space": move.a})
    return Reason("no-drift", {"to": move.a})


def _push_test(s: IceTeamState, move: IceMove) -> Reason | None:
    if s.layout.index(move.a) in pushes(s):
        return None
    space = s.layout.index(move.a)
    if space >= 0 and space == s.bears[s.bear]:
        return Reason("must-drift", {"space": move.a})
    return Reason("no-push", {"to": move.a})


def _always(s: IceTeamState, move: IceMove) -> Reason | None:
    del s, move
    return None


_TESTS: dict[tuple[str, str], Callable[[IceTeamState, IceMove], Reason | None]] = {
    ("setup", "floe"): _floe_test,
    ("setup", "first"): _first_test,
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


# --- the grounds of a yes ------------------------------------------------------------------------------------

_MOVED = {"walk": "ICE-1.1", "leap": "ICE-1.2", "swim": "ICE-1.3"}


def grounds(s: IceTeamState, move: IceMove) -> Reason:
    """Return what a legal step does, by which clauses."""
    kind = move.kind
    if kind in _MOVED:
        clauses = [_MOVED[kind]]
        origin = s.layout.index(move.a) if s.phase != "hop" else s.origin
        if origin < s.layout.start and FRAGILE[s.tiles[origin]]:
            clauses.append("ICE-1.4")
        if s.again:
            clauses.append("ICE-2.5")
        key = f"{kind}ed" if kind != "swim" else "swam"
        return Reason({"leaped": "leapt"}.get(key, key), {"who": s.seat, "from": move.a, "to": move.b}, tuple(clauses))
    if kind == "floe":
        return Reason("floe-shows", {"space": move.a, "face": move.b})
    if kind == "first":
        return Reason("begins", {"who": s.colours.index(move.a)})
    if kind == "roll":
        return Reason("rolled", {"die": int(move.a), "face": move.b}, ("ICE-2.2" if s.phase == "roll" else "ICE-2.7",))
    if kind == "choose":
        face = DIE_FACES[s.dice[int(move.a) - 1]]
        return Reason("chose", {"who": s.seat, "face": face})
    if kind == "freeze":
        return Reason("froze", {"who": s.seat, "fish": int(move.a)})
    if kind in {"drift", "push"}:
        return Reason("drifted" if kind == "drift" else "pushed", {"who": s.seat, "to": move.a})
    return Reason("picked" if kind == "pick" else "stopped", {"who": s.seat, "die": move.a})
