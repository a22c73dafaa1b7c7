"""Ice Team in the one form of a board: to JSON, from JSON, and everything that may be wrong with a position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from companion.rules.core import JSON, Problem, SetupError
from companion.rules.ice_team.box import (
    FIRST_FACE,
    IGLOO,
    SEA,
    SEARCHED,
    TILE_TEXT,
    UNKNOWN,
)

if TYPE_CHECKING:
    from companion.rules.ice_team.game import IceTeam
    from companion.rules.ice_team.state import IceTeamState

PHASES = ("setup", "act", "hop", "turn-up", "pick", "roll", "freeze", "drift", "roll-both", "choose", "over")
GROUND = {SEA: "sea", IGLOO: "igloo", SEARCHED: "igloo"}


def to_json(s: IceTeamState) -> dict[str, JSON]:
    """Return the position."""
    places: dict[str, JSON] = {}
    for space, name in enumerate(s.layout.names):
        here = [
            {"kind": "bear", "colour": colour, "count": count}
            for seat, colour in enumerate(s.colours)
            if (count := s.bears[4 * seat : 4 * seat + 4].count(space))
        ]
        if space >= s.layout.start:
            places[name] = {"ground": name, "things": here}
        else:
            tile = s.tiles[space]
            places[name] = {"ground": GROUND.get(tile, "floe"), "tile": TILE_TEXT[tile], "things": here}
    names = s.layout.names
    return {
        "game": "ice-team",
        "places": places,
        "players": [
            {"name": name, "colour": colour, "fresh": s.fresh[seat], "frozen": s.frozen[seat]}
            for seat, (name, colour) in enumerate(zip(s.names, s.colours, strict=True))
        ],
        "options": dict(s.options),
        "phase": s.phase,
        "to_move": s.colours[s.seat] if s.seat >= 0 else None,
        "actions": s.actions,
        "bear": names[s.bears[s.bear]] if s.bear >= 0 else None,
        "origin": names[s.origin] if s.origin >= 0 else None,
        "arrival": s.arrival,
        "been": [names[space] for space in range(s.layout.start) if s.been >> space & 1],
        "again": s.again,
        "dice": list(s.dice),
        "loser": s.colours[s.loser] if s.loser >= 0 else None,
    }


def _whole(value: Any, low: int, high: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SetupError(
            f"{what} is a whole number from {low} to {high}, not {value!r}.",
            f"{what} est un nombre entier de {low} à {high}, pas {value!r}.",
        )
    return value


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SetupError(f"{what} is an object, not {value!r}.", f"{what} est un objet, pas {value!r}.")
    return value


def _colour(s: IceTeamState, value: Any, what: str) -> int:
    if value is None:
        return -1
    if value not in s.colours:
        raise SetupError(f"{what} is one of {', '.join(s.colours)}.", f"{what} est parmi {', '.join(s.colours)}.")
    return s.colours.index(value)


def _space(s: IceTeamState, value: Any) -> int:
    if value is None:
        return -1
    space = s.layout.index(str(value))
    if space < 0:
        raise SetupError(f"There is no space {value!r}.", f"Il n'y a pas de case {value!r}.")
    return space


def from_json(game: IceTeam, data: Mapping[str, Any]) -> IceTeamState:
    """Return the state that a position describes; a floe that it does not name is unknown.

    :raises SetupError: when the form is broken, in one sentence.
    """
    players = data.get("players", [{"name": "Green", "colour": "green"}, {"name": "Red", "colour": "red"}])
    if not isinstance(players, list):
        raise SetupError("players is a list.", "players est une liste.")
    given = {key: data[key] for key in ("box", "layout") if key in data}
    s = game.empty([_object(player, "A player") for player in players], data.get("options"), given)
    _read_places(s, _object(data.get("places", {}), "places"))
    fish = [
        tuple(_whole(_object(player, "A player").get(key, 0), 0, 999, key) for player in players)
        for key in ("fresh", "frozen")
    ]
    s.fresh, s.frozen = (fish[0][0], fish[0][1]), (fish[1][0], fish[1][1])
    phase = data.get("phase", "act")
    if phase not in PHASES:
        raise SetupError(f"The phase is one of {', '.join(PHASES)}.", f"La phase est parmi {', '.join(PHASES)}.")
    s.phase = str(phase)
    s.seat = _colour(s, data.get("to_move", s.colours[0]), "to_move")
    if s.seat < 0 and s.phase != "setup":
        raise SetupError("to_move is missing.", "to_move manque.")
    s.loser = _colour(s, data.get("loser"), "loser")
    s.actions = _whole(data.get("actions", 2 if s.phase != "setup" else 0), 0, 2, "actions")
    s.origin = _space(s, data.get("origin"))
    s.arrival = _whole(data.get("arrival", 0), 0, 63, "arrival")
    s.again = bool(data.get("again", False))
    been, dice = data.get("been", []), data.get("dice", [])
    if not isinstance(been, list) or not isinstance(dice, list) or len(dice) > 2:
        raise SetupError("been and dice are lists.", "been et dice sont des listes.")
    s.been = sum(1 << space for space in {_space(s, name) for name in been} if space >= 0)
    s.dice = tuple(_whole(face, 0, 4, "A die") for face in dice)
    bear = _space(s, data.get("bear"))
    if bear >= 0:
        own = [index for index in range(4 * s.seat, 4 * s.seat + 4) if s.bears[index] == bear]
        if not own:
            raise SetupError("The bear of the action is not there.", "L'ours de l'action n'est pas là.")
        s.bear = own[0]
    elif s.phase not in {"setup", "act", "over"}:
        raise SetupError(f"Phase {s.phase} needs its bear.", f"La phase {s.phase} demande son ours.")
    return s


def _read_places(s: IceTeamState, places: Mapping[str, Any]) -> None:
    bears: dict[str, list[int]] = {colour: [] for colour in s.colours}
    tiles = list(s.tiles)
    for name, content in places.items():
        space = _space(s, name)
        if content is None:
            continue
        place = _object(content, f"Place {name}")
        if space < s.layout.start:
            text = place.get("tile", {"sea": "sea", "igloo": "igloo"}.get(str(place.get("ground")), "?"))
            if text not in TILE_TEXT:
                raise SetupError(f"{text!r} is no tile of Ice Team.", f"{text!r} n'est pas une tuile d'Ice Team.")
            tiles[space] = TILE_TEXT.index(text)
        things = place.get("things", [])
        if not isinstance(things, list):
            raise SetupError(f"Place {name} has a list of things.", f"La case {name} a une liste de choses.")
        for item in things:
            thing = _object(item, "A thing")
            colour = thing.get("colour")
            if thing.get("kind") != "bear" or colour not in bears:
                raise SetupError(
                    f"On {name} only bears of the two teams may stand.", f"Sur {name} : seulement des ours."
                )
            bears[colour] += [space] * _whole(thing.get("count", 1), 0, 8, "count")
    s.tiles = tuple(tiles)
    # Bears that nobody mentions wait on Start; more than four are kept for problems() to speak of.
    filled = [(bears[colour] + [s.layout.start] * 4)[: max(4, len(bears[colour]))] for colour in s.colours]
    s.bears = tuple(filled[0][:4] + filled[1][:4] + filled[0][4:] + filled[1][4:])
    s.seen = tuple(tile for tile in tiles if tile >= FIRST_FACE)
    used = s.box.matched(s.seen) or frozenset()
    s.left = tuple(tile for tile in range(len(s.box.tiles)) if tile not in used)


def problems(s: IceTeamState) -> tuple[Problem, ...]:
    """Return everything that is wrong: bears, floes that the box does not have, bears at sea."""
    found: list[Problem] = []
    teams = {0: list(range(4)), 1: list(range(4, 8))}
    extra = len(s.bears) - 8
    if extra:
        found.append(Problem("too-many-bears", {"count": len(s.bears)}, ("ICE-K.8",)))
    for space in sorted({space for space in s.bears if space < s.layout.start}):
        name = s.layout.names[space]
        if s.bears.count(space) > 1:
            found.append(Problem("bears-together", {"space": name, "count": s.bears.count(space)}, ("ICE-0.3",)))
        if s.tiles[space] == SEA:
            found.append(Problem("bear-at-sea", {"space": name}, ("ICE-1.1", "ICE-1.3")))
    for space, tile in enumerate(s.tiles):
        printed = s.layout.kinds[space]
        if (printed == "igloo") != (tile in {IGLOO, SEARCHED}):
            found.append(Problem("igloo-moved", {"space": s.layout.names[space]}, ("ICE-K.7",)))
    floes = sum(tile >= UNKNOWN for tile in s.tiles)
    if floes > len(s.box.tiles):
        found.append(Problem("too-many-floes", {"count": floes}, ("ICE-K.5",)))
    if s.box.matched([tile for tile in s.tiles if tile >= FIRST_FACE]) is None:
        found.append(Problem("foreign-floes", {}, ("ICE-K.5", "ICE-K.6")))
    homes = [all(s.bears[bear] == s.layout.village for bear in team) for team in teams.values()]
    if all(homes) or (any(homes) and s.phase == "act"):
        found.append(Problem("game-was-over", {}, ("ICE-E.1",)))
    return tuple(found)
