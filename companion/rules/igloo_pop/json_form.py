"""Igloo Pop in the one form of a board, and in one line of text; :mod:`.json_reader` makes a position of it.

The form is documented in ``companion/rules/README.md``.
"""

from __future__ import annotations

from typing import Any, Final

from companion.rules.core import JSON
from companion.rules.i18n import Words
from companion.rules.igloo_pop.components import CARD_INDEX, CARD_TEXT, COLOURS, IGLOOS, PLACES
from companion.rules.igloo_pop.parts import EMPTY, ENDS, PHASES, UNKNOWN
from companion.rules.igloo_pop.position import PopPosition
from companion.rules.position_form import (
    NEEDED,
    AnyObject,
    Anything,
    Boolean,
    ByName,
    DictRecord,
    Field,
    Form,
    Group,
    Items,
    Name,
    Notation,
    OneOf,
    PlaceRecord,
    Things,
    TupleRecord,
    Whole,
    numbered,
)

_SILLY: Final = 1000
"""No count of anything on the table is larger; a larger number is a broken form."""
_MOST: Final = 120
"""Entries of a list."""

_COUNTED: Final = Whole(-_SILLY, _SILLY)
"""A count below nothing is read as none, and told by ``problems()``."""


_BY_TEXT: Final = numbered(CARD_TEXT)


def _card(text: str) -> int | str:
    """Return the index of a card, or the text of one that the box does not have.

    :raises ValueError: when it is no card.
    """
    if text in _BY_TEXT:
        return _BY_TEXT[text]
    if len(text) > 20:
        raise ValueError
    return CARD_INDEX.get(tuple(map(int, text.split("/"))), text)


def _ground(text: str) -> int | str:
    return EMPTY if text == "empty" else _card(text)


_A_CARD: Final = Words("a card written like 4/5")
_CARD: Final = Notation(_card, CARD_TEXT.__getitem__, _A_CARD)
_GROUND: Final = Notation(_ground, {**dict(enumerate(CARD_TEXT)), EMPTY: "empty", UNKNOWN: None}.__getitem__, _A_CARD)
_END: Final = OneOf(tuple(ENDS), says=Words("The end of a game of Igloo Pop"))
_COLOUR: Final = OneOf(COLOURS)
_IGLOO: Final = (Field("colour", _COLOUR, NEEDED), Field("count", _COUNTED, 1), Field("value", _COUNTED, brief=True))
_PLACE: Final = PlaceRecord(_GROUND, Things({"igloo": _IGLOO}, _MOST), UNKNOWN)
_PLAYER: Final = TupleRecord(
    Field("name", Name()),
    Field("colour", _COLOUR, NEEDED),
    Field("own", _COUNTED),
    Field("captured", _COUNTED, 0),
    Field("cards", Items(_CARD, _MOST), ()),
    Field("in_hand", Boolean(), False),
    Field("passed", Boolean(), False),
    Field("removed", _COUNTED, brief=True),
    says=Words("A player of Igloo Pop"),
)
_RESULT: Final = TupleRecord(
    Field("place", OneOf(numbered(PLACES)), NEEDED),
    Field("card", _CARD, NEEDED),
    Field(
        "igloos",
        Items(
            Group(
                _COLOUR,
                OneOf(IGLOOS),
                wish=Words("a pair such as ['red', 4]"),
            ),
            _MOST,
        ),
        NEEDED,
    ),
    Field("winner", Anything()),
)


def _places(s: PopPosition) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for where, (name, here) in enumerate(s.igloos.items()):
        card = s.card_at(where)
        things = [("igloo", colour, 1, number) for colour, number in here]
        found[name] = (card, things) if things or card != UNKNOWN else None
    return found


def _players(s: PopPosition) -> list[tuple[Any, ...]]:
    removed, hands, passed, own, captured = s.removed, s.hands, s.passed, s.own, s.captured
    return [
        (
            name,
            colour,
            own[colour],
            captured[colour],
            s.won_cards(COLOURS.index(colour)),
            colour in hands,
            colour in passed,
            None if removed is None else removed[colour],
        )
        for name, colour in zip(s.names, s.colours, strict=True)
    ]


def _results(s: PopPosition) -> list[tuple[Any, ...]]:
    return [(PLACES.index(r.place), CARD_INDEX[r.card], r.igloos, r.winner) for r in s.last_results]


def _ends(s: PopPosition) -> list[str]:
    return [end for end, bit in ENDS.items() if s.ended & bit] if s.ended else []


FORM: Final = Form(
    "igloo-pop",
    Words("A position of Igloo Pop"),
    Field("phase", OneOf(PHASES)),
    Field("round", _COUNTED, 1),
    Field("to_move", Anything()),
    Field("places", ByName(dict.fromkeys(PLACES, _PLACE), places_of="Igloo Pop"), {}, of=_places, null=False),
    Field("players", Items(_PLAYER, _MOST), NEEDED, of=_players),
    Field(
        "piles",
        DictRecord(Field("stack", _COUNTED, of="stack_left"), Field("village", Anything(), of="village_left")),
        {"stack": None},
        of=lambda s: s,
    ),
    Field("options", AnyObject()),
    Field("short_round", Boolean(), False),
    Field(
        "ended_by",
        Items(_END, _MOST),
        (),
        of=_ends,
    ),
    Field("results", Items(_RESULT, _MOST), (), of=_results),
)


def to_position(s: PopPosition) -> dict[str, JSON]:
    """Return the position of a state."""
    found: dict[str, JSON] = FORM.write(s)
    return found


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
