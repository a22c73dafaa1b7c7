"""Ice Team read from the one form of a board; the form is described in this folder's README."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from companion.rules.core import JSON, Game, SetupError, only_fields
from companion.rules.i18n import Words
from companion.rules.ice_team import drifting
from companion.rules.ice_team.components import DIE_FACES, DRIFTS, FACES, PENGUINS, TILE_TEXT, UNKNOWN
from companion.rules.ice_team.legality import PHASES, landing
from companion.rules.ice_team.moves import IceMove
from companion.rules.ice_team.position import TEAM, mask_of
from companion.rules.ice_team.state import IceTeamState
from companion.rules.ice_team.table import make_table

FIELDS: Final = (
    *("game", "players", "options", "layout", "box", "places", "phase", "turn", "to_move", "actions", "removed"),
    *("loser", "pending"),
)
PLAYER: Final = ("name", "colour", "fresh", "frozen")
PENDING: Final = ("bear", "origin", "arrival", "by", "landed", "again", "die", "dice")
MOST_FISH: Final = 999
"""Fish of a player: far more than any box has, so that a note kept for an empty bank is believed (ICE-Q.21)."""
_MOST_BEARS: Final = 8
_BY: Final = ("walk", "leap", "swim", "start", "")


def from_json(game: Game[IceMove], data: Mapping[str, Any]) -> IceTeamState:
    """Return the state that a position describes; a floe that it does not name is unknown.

    :raises SetupError: when the form is broken, in one sentence.
    """
    if not isinstance(data, Mapping):
        raise SetupError("A position is an object.", "Une position est un objet.")
    players = data.get("players", [{"name": "Green", "colour": "green"}, {"name": "Red", "colour": "red"}])
    if not isinstance(players, list):
        raise SetupError("players is a list.", "players est une liste.")
    only_fields(data, FIELDS, "A position of Ice Team", "Une position d’Ice Team")
    options = data.get("options")
    if options is not None:
        _object(options, "options")
    box = _object(data.get("box", {}), "box")
    given = {"box": box["data"]} if "data" in box else {}
    if data.get("layout") is not None:
        given["layout"] = data["layout"]
    s = IceTeamState(make_table(game, players, options, given))
    for player in players:
        only_fields(player, PLAYER, "A player of Ice Team", "Un joueur d’Ice Team")
    s.fresh = (_fish(players[0], "fresh"), _fish(players[1], "fresh"))
    s.frozen = (_fish(players[0], "frozen"), _fish(players[1], "frozen"))
    removed = data.get("removed", [])
    if not isinstance(removed, list) or len(removed) > len(s.table.box.tiles):
        raise SetupError("removed is a list of faces.", "removed est une liste de faces.")
    s.gone = tuple(TILE_TEXT.index(_one_of(face, FACES, "removed")) for face in removed)
    _read_places(s, _object(data.get("places", {}), "places"))
    _read_turn(s, data)
    _read_pending(s, _object(data.get("pending", {}), "pending"))
    _require(s)
    if not any(s.home(seat) == TEAM for seat in (0, 1)):
        s.settle()
    return s


# --- values -----------------------------------------------------------------------------------------------------------


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SetupError("{what} is an object.", "{what} est un objet.", what=what)
    return value


_COUNTED: Final = {
    "count": Words("How many bears stand there", "Le nombre d’ours qui s’y trouvent"),
    "fresh": Words("How many fresh fish a team has", "Le nombre de poissons frais d’une équipe"),
    "frozen": Words("How many frozen fish a team has", "Le nombre de poissons congelés d’une équipe"),
    "actions": Words("How many actions are left", "Le nombre d’actions qui restent"),
    "die": Words("Which die is rolled", "Le dé qui est lancé"),
}
"""What is counted, as people say it."""


def _whole(value: Any, low: int, high: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SetupError(
            "{what} is a number from {low} to {high}.",
            "{what} va de {low} à {high}.",
            what=_COUNTED[what],
            low=low,
            high=high,
        )
    return value


def _one_of(value: Any, known: tuple[str, ...], what: str) -> str:
    if not isinstance(value, str) or value not in known:
        there = ", ".join(word for word in known if word)
        raise SetupError("{what} is one of {there}.", "{what} est parmi {there}.", what=what, there=there)
    return value


def _fish(player: Mapping[str, Any], kind: str) -> int:
    return _whole(player.get(kind, 0), 0, MOST_FISH, kind)


def _seat(s: IceTeamState, value: Any, what: str) -> int:
    return -1 if value is None else s.colours.index(_one_of(value, s.colours, what))


def _space(s: IceTeamState, value: Any) -> int:
    space = s.table.layout.index(value) if isinstance(value, str) else -1
    if space < 0:
        first = s.table.layout.names[0]
        raise SetupError(
            "A space has a name of the layout, such as {first}, start or village.",
            "Une case a un nom de la disposition, par exemple {first}, start ou village.",
            first=first,
        )
    return space


def _directions(s: IceTeamState, value: Any) -> int:
    names = s.table.layout.directions
    if not isinstance(value, list):
        raise SetupError("arrival is a list of directions.", "arrival est une liste de directions.")
    return sum({1 << names.index(_one_of(name, names, "A direction")) for name in value})


# --- what lies where --------------------------------------------------------------------------------------------------


def _read_places(s: IceTeamState, places: Mapping[str, Any]) -> None:
    start = s.table.layout.start
    bears: list[list[int]] = [[], []]
    tiles = list(s.tiles)
    for name, content in places.items():
        space = _space(s, name)
        if content is None:
            continue
        place = _object(content, "A place")
        ground = place.get("ground")
        if space < start and ground is not None:
            tiles[space] = TILE_TEXT.index(_one_of(ground, TILE_TEXT, "ground"))
        things = place.get("things", [])
        if not isinstance(things, list):
            raise SetupError("things is a list.", "things est une liste.")
        for item in things:
            thing = _object(item, "A thing")
            _one_of(thing.get("kind"), ("bear",), "kind")
            seat = s.colours.index(_one_of(thing.get("colour"), s.colours, "colour"))
            bears[seat] += [space] * _whole(thing.get("count", 1), 0, _MOST_BEARS, "count")
    s.tiles = tuple(tiles)
    s.sea = mask_of(s.tiles)
    # Bears that nobody mentions wait on Start; more than four are kept for problems() to speak of.
    first, second = ((team + [start] * TEAM)[:TEAM] for team in bears)
    s.bears = (*first, *second)
    s.extra = tuple((seat, space) for seat in (0, 1) for space in bears[seat][TEAM:])
    s.taken = s.standing()
    used = s.table.box.matched(s.seen()) or frozenset()
    s.left = tuple(tile for tile in range(len(s.table.box.tiles)) if tile not in used)


# --- whose step it is, and which --------------------------------------------------------------------------------------


def _read_turn(s: IceTeamState, data: Mapping[str, JSON]) -> None:
    turn = data.get("to_move") if data.get("turn") is None else data["turn"]
    mover = _seat(s, turn, "turn")
    home = [seat for seat in (0, 1) if s.home(seat) == TEAM]
    # A team that is home has ended the game in its own turn: nobody need say so.
    ended = len(home) == 1 and mover in (-1, home[0])
    s.phase = _one_of(data.get("phase", "over" if ended else "act"), PHASES, "phase")
    if s.phase == "setup":
        return
    s.seat = home[0] if ended and s.phase == "over" else max(mover, 0)
    s.actions = _whole(data.get("actions", 2), 1 if s.phase != "over" else 0, 2, "actions")
    s.loser = _seat(s, data.get("loser"), "loser")


def _read_pending(s: IceTeamState, pending: Mapping[str, Any]) -> None:
    only_fields(pending, PENDING, "What is pending in Ice Team", "Ce qui reste à faire dans Ice Team")
    if "bear" in pending:
        space = _space(s, pending["bear"])
        team = s.bears[TEAM * s.seat : TEAM * s.seat + TEAM]
        if s.seat < 0 or space not in team:
            raise SetupError(
                "The bear of the action is not where the position says.",
                "L’ours de l’action n’est pas où le dit la position.",
            )
        s.bear = TEAM * s.seat + team.index(space)
    if "origin" in pending:
        s.origin = _space(s, pending["origin"])
    s.arrival = _directions(s, pending.get("arrival", []))
    came = _one_of(pending.get("by", "walk"), _BY, "by")
    s.came = came if s.arrival else ""
    s.again = pending.get("again", False)
    if not isinstance(s.again, bool):
        raise SetupError("again is true or false.", "again vaut true ou false.")
    if "die" in pending:
        s.die = _whole(pending["die"], 1, 2, "die") - 1
    landed, dice = pending.get("landed", []), pending.get("dice", [])
    if not isinstance(landed, list) or not isinstance(dice, list) or not all(isinstance(e, str) for e in landed):
        raise SetupError("landed and dice are lists.", "landed et dice sont des listes.")
    for text in landed:
        name, _, direction = text.partition(" ")
        s.landed |= landing(_space(s, name), _directions(s, [direction]))
    s.dice = tuple(DIE_FACES.index(_one_of(face, DIE_FACES, "A die")) for face in dice)


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
        raise SetupError(
            "The position does not say what the phase {phase} needs.",
            "La position ne dit pas ce que demande la phase {phase}.",
            phase=s.phase,
        )
