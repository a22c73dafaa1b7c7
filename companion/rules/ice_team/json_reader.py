"""Makes a position of Ice Team of the one form of a board; the form is described in this folder's README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.rules.core import JSON, Game, SetupError
from companion.rules.ice_team import drifting
from companion.rules.ice_team.components import DRIFTS, PENGUINS, UNKNOWN
from companion.rules.ice_team.json_form import ACTIONS, HEAD, form
from companion.rules.ice_team.legality import landing
from companion.rules.ice_team.moves import COLOURS, IceMove
from companion.rules.ice_team.position import TEAM, mask_of
from companion.rules.ice_team.state import IceTeamState
from companion.rules.ice_team.table import IceSetup, box_of, seats_of
from companion.rules.position_form import Reading, Whole

# Who plays where a position does not say.
_TEAMS = (("Green", "green", 0, 0), ("Red", "red", 0, 0))


def from_json(game: Game[IceMove], data: Mapping[str, Any]) -> IceTeamState:
    """Return the state that a position describes; a floe that it does not name is unknown.

    :raises SetupError: when the form is broken, with all that is wrong with it, or says too little for its phase.
    """
    table, told = _read_form(game, data)
    s = IceTeamState(table)
    (_, _, *first), (_, _, *second) = told["players"]
    s.fresh, s.frozen = zip(first, second, strict=True)
    s.gone = told["removed"]
    _read_places(s, told["places"])
    _read_turn(s, told)
    _read_pending(s, told["pending"])
    _require(s)
    if not any(s.home(seat) == TEAM for seat in (0, 1)):
        s.settle()
    return s


def _people(players: Sequence[tuple[str | None, str | None, int, int]]) -> list[dict[str, JSON]]:
    """Return players as a set-up has them: what is left out is not there."""
    return [
        {key: value for key, value in (("name", name), ("colour", colour)) if value is not None}
        for name, colour, *_ in players
    ]


def _read_form(game: Game[IceMove], data: Mapping[str, Any]) -> tuple[IceSetup, dict[str, Any]]:
    """Return the boards, the box and the people, and all that a position tells."""
    reading = Reading()
    told = HEAD.read(data, None, reading)
    options = reading.options(game, told["options"])
    box = reading.keep((None, "box"), lambda: box_of(told["box"][2]))
    layout = None if box is None else reading.keep((None, "layout"), lambda: box.layout(told["layout"]))
    players = told["players"] = _TEAMS if told["players"] is None else told["players"]
    seats = None
    if reading.sound("players"):
        seats = reading.keep((None, "players"), lambda: seats_of(_people(players)))
    if layout is None or box is None:
        raise reading.error()  # without its boards nobody knows which spaces there are
    body = form(layout.names, layout.directions, COLOURS if seats is None else seats[1])
    told = body.read(data, None, reading, told)
    if reading.faults or seats is None:
        raise reading.error()
    said = next(iter(box.layouts)) if told["layout"] is None else told["layout"]
    return IceSetup(game, layout, said, box, *seats, options), told


# --- what lies where --------------------------------------------------------------------------------------------------


def _read_places(s: IceTeamState, places: Mapping[str, Any]) -> None:
    layout = s.table.layout
    bears: list[list[int]] = [[], []]
    tiles = list(s.tiles)
    for name, (ground, things) in places.items():
        space = layout.numbers[name]
        if ground is not None and space < layout.start:
            tiles[space] = ground
        for _, seat, count in things:
            bears[seat] += [space] * count
    s.tiles = tuple(tiles)
    s.sea = mask_of(s.tiles)
    # Bears that nobody mentions wait on Start; more than four are kept for problems() to speak of.
    first, second = ((team + [layout.start] * TEAM)[:TEAM] for team in bears)
    s.bears = (*first, *second)
    s.extra = tuple((seat, space) for seat in (0, 1) for space in bears[seat][TEAM:])
    s.taken = s.standing()
    used = s.table.box.matched(s.seen()) or frozenset()
    s.left = tuple(tile for tile in range(len(s.table.box.tiles)) if tile not in used)


# --- whose step it is, and which --------------------------------------------------------------------------------------


def _read_turn(s: IceTeamState, told: Mapping[str, Any]) -> None:
    mover = told["to_move"] if told["turn"] < 0 else told["turn"]
    home = [seat for seat in (0, 1) if s.home(seat) == TEAM]
    # A team that is home has ended the game in its own turn: nobody need say so.
    ended = len(home) == 1 and mover in (-1, home[0])
    s.phase = told["phase"] or ("over" if ended else "act")
    if s.phase == "setup":
        return
    s.seat = home[0] if ended and s.phase == "over" else max(mover, 0)
    s.actions = 2 if told["actions"] is None else told["actions"]
    if not s.actions and s.phase != "over":
        reading = Reading()
        Whole(1, 2, ACTIONS.says).refuse(s.actions, (None, "actions"), reading)
        reading.finish()
    s.loser = told["loser"]


def _read_pending(s: IceTeamState, pending: Mapping[str, Any]) -> None:
    if not pending:
        return
    if pending["bear"] >= 0:
        team = s.bears[TEAM * s.seat : TEAM * s.seat + TEAM]
        if s.seat < 0 or pending["bear"] not in team:
            raise SetupError("The bear of the action is not where the position says.")
        s.bear = TEAM * s.seat + team.index(pending["bear"])
    s.origin, s.again, s.die, s.dice = pending["origin"], pending["again"], pending["die"], pending["dice"]
    s.arrival = sum(1 << direction for direction in set(pending["arrival"]))
    came = "walk" if pending["by"] is None else pending["by"]
    s.came = came if s.arrival else ""
    for space, direction in pending["landed"]:
        s.landed |= landing(space, 1 << direction)


def _require(s: IceTeamState) -> None:
    """Refuse a phase without what its step needs: no step would be possible then."""
    start = s.table.layout.start
    at = s.bears[s.bear] if s.bear >= 0 else -1
    tile = s.tiles[at] if 0 <= at < start else -1
    moved = at >= 0 and 0 <= s.origin <= start and s.origin != at
    fitting = {
        "act": not s.again or at >= 0,
        "hop": moved,
        "turn-up": tile == UNKNOWN if s.origin < 0 else moved and s.origin < start and s.tiles[s.origin] == UNKNOWN,
        "roll": s.die >= 0,
        "freeze": tile >= 0 and PENGUINS[tile] > 0,
        "drift": tile >= 0 and DRIFTS[tile] and drifting.can_drift(s),
        "roll-both": len(s.dice) < 2,
        "choose": len(s.dice) == 2,
    }
    if not fitting.get(s.phase, True):
        raise SetupError("The position does not say what the phase {phase} needs.", phase=s.phase)
