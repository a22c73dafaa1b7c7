"""Igloo Pop in the one form of a board, and in one line of text; :mod:`.json_reader` reads it back.

The form is documented in ``companion/rules/README.md``.
"""

from __future__ import annotations

from companion.rules.core import JSON
from companion.rules.igloo_pop.components import CARD_TEXT, card_text
from companion.rules.igloo_pop.parts import EMPTY, ENDS, UNKNOWN
from companion.rules.igloo_pop.position import PopPosition


def to_position(state: PopPosition) -> dict[str, JSON]:
    """Return the position of a state."""
    places: dict[str, JSON] = {}
    for where, (place, here) in enumerate(state.igloos.items()):
        card = state.card_at(where)
        things = []
        for colour, number in here:
            thing: dict[str, JSON] = {"kind": "igloo", "colour": colour, "count": 1}
            if number:
                thing["value"] = number
            things.append(thing)
        if card == UNKNOWN and not things:
            places[place] = None
        else:
            ground = {EMPTY: "empty", UNKNOWN: None}.get(card) if card < 0 else CARD_TEXT[card]
            places[place] = {"ground": ground, "things": things}
    removed = state.removed
    players = []
    for name, colour in zip(state.names, state.colours, strict=True):
        player: dict[str, JSON] = {
            "name": name,
            "colour": colour,
            "own": state.own[colour],
            "captured": state.captured[colour],
            "cards": [card_text(card) for card in state.won[colour]],
            "in_hand": colour in state.hands,
            "passed": colour in state.passed,
        }
        if removed is not None:
            player["removed"] = removed[colour]
        players.append(player)
    return {
        "game": "igloo-pop",
        "phase": state.phase,
        "round": state.round,
        "to_move": state.to_move,
        "places": places,
        "players": players,
        "piles": {"stack": state.stack_left, "village": state.village_left},
        "options": state.options,
        "short_round": state.short_round,
        "ended_by": [name for name, bit in ENDS.items() if state.ended & bit],
        "results": [
            {"place": r.place, "card": card_text(r.card), "igloos": [list(i) for i in r.igloos], "winner": r.winner}
            for r in state.last_results
        ],
    }


def to_line(state: PopPosition) -> str:
    """Return a position in one line for messages: phase, cards with their igloos, thalers."""
    cards = []
    for where, (place, here) in enumerate(state.igloos.items()):
        card = state.card_at(where)
        text = "-" if card == EMPTY else "?" if card == UNKNOWN else CARD_TEXT[card]
        stakes = ",".join(f"{colour}:{number or '?'}" for colour, number in here)
        cards.append(f"{place.removeprefix('card')}={text}{f'({stakes})' if stakes else ''}")
    thalers = " ".join(f"{colour} {state.own[colour]}+{state.captured[colour]}" for colour in state.colours)
    return (
        f"igloo-pop round {state.round} {state.phase}: {' '.join(cards)}; thalers {thalers}; stack {state.stack_left}"
    )
