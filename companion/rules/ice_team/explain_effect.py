"""What the referee says about a legal step of Ice Team. Nothing here is quick."""

from __future__ import annotations

from companion.rules.core import JSON, Reason
from companion.rules.ice_team import drifting
from companion.rules.ice_team.components import (
    DIE_FACES,
    DRIFTS,
    IGLOO,
    PAW,
    PENGUINS,
    SEARCHED,
    STEAL,
    TILE_TEXT,
    UNKNOWN,
)
from companion.rules.ice_team.legality import together
from companion.rules.ice_team.moves import IceMove
from companion.rules.ice_team.position import IcePosition

_MOVED = {"walk": "walked", "leap": "leapt", "swim": "swam"}


def what_it_does(s: IcePosition, move: IceMove) -> Reason:
    """Return what a legal step does, by which clauses, and all that follows from it by itself."""
    new = s.after(move)
    facts: dict[str, JSON] = {"who": s.colours[s.seat]} if s.seat >= 0 else {}
    keys = _SAYINGS[move.kind](s, move, facts, new)
    return together(facts, [*keys, *_what_follows(s, new, facts)])


def _what_follows(s: IcePosition, new: IcePosition, facts: dict[str, JSON]) -> list[str]:
    """Return what a finished action brings: a second action that is lost, the end of the game."""
    keys = []
    if new.seat != s.seat >= 0 and s.actions > 1:
        facts["who"] = s.colours[s.seat]
        keys.append("second-lost")
    if new.phase == "over":
        if new.loser < 0:
            keys.append("ended-home")
        else:
            facts["loser"] = s.colours[new.loser]
            keys.append("blocked-second" if new.loser == s.seat else "blocked")
    return keys


# --- one a kind of step: the keys of its sentences; facts are added ---------------------------------------------------


def _floe(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    facts.update(space=move.a, face=move.b)
    if s.phase == "setup":
        return ["floe-laid"]
    if s.origin >= 0:
        # It is the tile that the bear left: what happens where it arrived comes now.
        return ["floe-shows", *_left_and_reached(s, s.bears[s.bear], s.origin, facts, new)]
    return ["floe-shows", *_reached(s.bears[s.bear], TILE_TEXT.index(move.b), facts, new)]


def _first(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    del new
    facts["who"] = move.a
    return ["begins", *s.table.box.warnings()]


def _movement(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    layout = s.table.layout
    origin, target = layout.index(move.a), layout.index(move.b)
    facts.update({"from": move.a, "to": move.b})
    keys = [_MOVED[move.kind]]
    if move.kind != "walk" and origin == layout.start:
        keys.append("line-from-start")
    if move.kind != "walk" and target == layout.village:
        keys.append("village-is-a-floe")
    if target == layout.start:
        keys.append("back-to-start")
    if s.again:
        keys.append("extra-action")
    if new.phase == "hop":
        return [*keys, "may-leap-on"]
    return [*keys, *_left_and_reached(s, target, s.origin if s.phase == "hop" else origin, facts, new)]


def _stop(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    del move
    return ["stopped", *_left_and_reached(s, s.bears[s.bear], s.origin, facts, new)]


def _left_and_reached(s: IcePosition, space: int, origin: int, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    """Return what becomes of the tile that was left, and of the one that was reached."""
    names = s.table.layout.names
    if new.phase == "turn-up" and new.origin >= 0:
        facts["due"] = names[new.origin]
        return ["tile-to-read"]
    keys = []
    if new.gone != s.gone:
        facts["left"] = names[origin]
        keys.append("tile-goes")
    tile = s.tiles[space] if space < s.table.layout.start else -1
    return [*keys, *_reached(space, tile, facts, new)]


def _reached(space: int, tile: int, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    """Return the effect of the tile that was reached; ``tile`` is as the bear found it, -1 for Start and Village."""
    layout = new.table.layout
    facts["due"] = layout.names[space]
    if tile < 0:
        return ["both-dice"] if space == layout.village else []
    if tile == UNKNOWN:
        return ["tile-to-read"]
    if tile == IGLOO:
        return ["igloo-fish", "pick-a-die"] if new.phase == "pick" else ["igloo-fish"]
    if tile == SEARCHED:
        return ["igloo-searched"]
    if PENGUINS[tile]:
        facts["penguins"] = PENGUINS[tile]
        return ["may-freeze" if new.phase == "freeze" else "nothing-to-freeze"]
    if DRIFTS[tile]:
        return ["drift-due" if new.phase == "drift" else "drift-ignored"]
    if tile == PAW:
        return ["paw-acts" if new.again else "paw-lost"]
    return ["no-effect"]


def _pick(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    del s, new
    facts["die"] = int(move.a)
    return ["picked"]


def _roll(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    facts.update(die=int(move.a), face=move.b)
    if s.phase == "roll-both":
        return ["rolled-in-village"]
    return ["rolled", _die(s, DIE_FACES.index(move.b), facts, new)]


def _choose(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    face = s.dice[int(move.a) - 1]
    facts.update(die=int(move.a), face=DIE_FACES[face])
    return ["chose", _die(s, face, facts, new)]


def _die(s: IcePosition, face: int, facts: dict[str, JSON], new: IcePosition) -> str:
    fish = new.fresh[s.seat] - s.fresh[s.seat]
    facts.update(fish=fish, other=s.colours[1 - s.seat])
    if face != STEAL:
        return "found-fish"
    return "stole" if fish else "nothing-to-steal"


def _freeze(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    del s, new
    facts["fish"] = int(move.a)
    return ["froze" if facts["fish"] else "froze-nothing"]


def _drift(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    del new
    target = s.table.layout.index(move.a)
    facts.update({"from": s.table.layout.names[s.bears[s.bear]], "to": move.a})
    return ["drifted"] if target in drifting.straight_reach(s) else ["drifted", "drift-turned"]


def _push(s: IcePosition, move: IceMove, facts: dict[str, JSON], new: IcePosition) -> list[str]:
    del new
    layout, target = s.table.layout, s.table.layout.index(move.a)
    here = s.bears[s.bear]
    shifts = drifting.pushes(s)[target]
    facts.update({"from": layout.names[here], "to": move.a, "floes": len(shifts) - 1})
    keys = ["pushed"]
    if s.came != "walk":
        keys.append("pushed-on")
    if any(target in drifting.block(s, d).joined for d in range(len(layout.directions)) if s.arrival >> d & 1):
        keys.append("floe-joined")
    if any(space in s.bears for space, _ in shifts if space != here):
        keys.append("bears-travel")
    return keys


_SAYINGS = {
    "floe": _floe,
    "first": _first,
    "walk": _movement,
    "leap": _movement,
    "swim": _movement,
    "stop": _stop,
    "pick": _pick,
    "roll": _roll,
    "choose": _choose,
    "freeze": _freeze,
    "drift": _drift,
    "push": _push,
}
