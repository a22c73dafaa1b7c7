"""Where a position that somebody lays by hand begins, and what may be laid in it; the rules read it from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from companion.night.games import game_view
from companion.night.messages import Words
from companion.rules import game
from companion.rules.core import JSON
from companion.rules.i18n import same

_Things = list[tuple[str, Words]]


def beginning(game_id: str, options: Mapping[str, JSON], setup: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return ``{"position", "things": [{"id", "en", "fr"}]}``: where laying begins, and the names of what is laid.

    The position is in the one form of a board, in the middle of a game in which nothing has happened yet; ``options``
    are those of the house, ``setup`` is what an owner entered of the box, and the ``layout`` of its boards. Things are
    the cards of Igloo Pop and Arctic and the faces of the floes of Ice Team; Iglu Iglu names its pieces by kind and
    colour.

    :raises companion.rules.core.SetupError: for a game that is not known, or a layout that it does not have.
    """
    rules = game(game_id)
    begun = _BEGINNINGS.get(game_id)
    if begun is not None:
        position, things = begun(setup)
    else:
        position, things = rules.start(rules.seats(2), None, setup).position(), []
    complete = {**position, "options": rules.settled_options(options)}
    return {"position": complete, "things": [{"id": name, **words.to_json()} for name, words in things]}


def _igloo_pop(setup: Mapping[str, JSON]) -> tuple[dict[str, JSON], _Things]:
    """Return a round of which no card is named: one is named where it matters."""
    del setup
    from companion.rules.igloo_pop.components import CARD_TEXT, PLACES  # noqa: PLC0415 - a game is imported when it is played

    position = {
        "game": "igloo-pop",
        "places": {place: {"ground": None, "things": []} for place in PLACES},
        "players": [{"name": colour, "colour": colour} for colour in ("red", "yellow", "green")],
        "phase": "shaking",
    }
    return position, [(text, same(text)) for text in CARD_TEXT]


def _ice_team(setup: Mapping[str, JSON]) -> tuple[dict[str, JSON], _Things]:
    """Return the boards with their floes not read and no bear on them: all wait on Start; green is to move."""
    from companion.rules.ice_team.components import FACES  # noqa: PLC0415

    rules = game("ice-team")
    view: Any = game_view("ice-team")
    start: Any = rules.start(rules.seats(2), None, setup).position()
    kept = {key: start[key] for key in ("game", "layout", "places")}
    # Bears that a position does not name wait on Start: whoever lays one elsewhere takes it from there.
    kept["places"]["start"]["things"] = []
    players = [{"name": one["colour"], "colour": one["colour"], "fresh": 0, "frozen": 0} for one in start["players"]]
    box = {"box": {"data": setup["box"]}} if "box" in setup else {}
    return {**kept, **box, "players": players, "turn": "green", "actions": 2}, [
        (face, view.both(face)) for face in FACES
    ]


def _arctic(setup: Mapping[str, JSON]) -> tuple[dict[str, JSON], _Things]:
    """Return two players with three cards each that nobody named, all tokens on 3, and one card of each animal."""
    del setup
    from companion.rules.arctic.components import ANIMALS, LANDSCAPE, RIVER, TEXT, UNKNOWN  # noqa: PLC0415

    view: Any = game_view("arctic")
    lands = {
        f"land{value}": {"ground": "landscape", "things": _tokens(ANIMALS if value == 3 else ())} for value in LANDSCAPE
    }
    river = {}
    for index in range(RIVER):
        main, value, companion = TEXT[5 * index + index % 5].split("-")
        card = {"kind": main, "value": int(value), "companion": companion, "count": 1}
        river[f"river{index + 1}"] = {"ground": "river", "things": [card]}
    players = [{"name": name, "pile": [], "hand": ["?"] * 3, "penalty": 0, "powers": []} for name in ("P1", "P2")]
    position = {"game": "arctic", "places": {**lands, **river}, "players": players, "phase": "A", "to_move": 1}
    return position, [(TEXT[card], view.card(card)) for card in range(UNKNOWN)]


def _tokens(animals: tuple[str, ...]) -> list[dict[str, JSON]]:
    return [{"kind": animal, "count": 1} for animal in animals]


_BEGINNINGS: Mapping[str, Callable[[Mapping[str, JSON]], tuple[dict[str, JSON], _Things]]] = {
    "igloo-pop": _igloo_pop,
    "ice-team": _ice_team,
    "arctic": _arctic,
}
