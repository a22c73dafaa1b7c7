"""Arctic in the one form of a board: how each field stands in JSON; :mod:`.json_reader` makes a position of it."""

from __future__ import annotations

from typing import Any, Final

from companion.rules.arctic.components import (
    ANIMALS,
    BOX,
    FACE_DOWN,
    KIND,
    LANDSCAPE,
    NOT_DEALT,
    RIVER,
    TEXT,
    UNKNOWN,
    USED,
    card_text,
    cards_of,
    parse_card,
)
from companion.rules.arctic.position import PHASES, STAGES, ArcticPosition
from companion.rules.core import JSON
from companion.rules.i18n import Words
from companion.rules.position_form import (
    AnyObject,
    Anything,
    At,
    ByName,
    Field,
    Form,
    Items,
    Name,
    Notation,
    OneOf,
    PlaceRecord,
    Reading,
    Things,
    TupleRecord,
    Whole,
    numbered,
)

MAX_CARDS: Final = 120
_LANDS: Final = tuple(f"land{value}" for value in LANDSCAPE)
_RIVER: Final = tuple(f"river{n + 1}" for n in range(RIVER))
_PILE: Final = tuple(f"pile{n + 1}" for n in range(MAX_CARDS))

_A_CARD: Final = Words("a card such as fox-5-moose")
_CARD: Final = Notation(parse_card, TEXT.__getitem__, _A_CARD)
ANIMAL: Final = OneOf(ANIMALS)


def _pile_card(text: str) -> int:
    """Read a card of a pile: ``down:`` stands before one that lies face down; a bare animal is not fully read."""
    if text.startswith("down:"):
        return FACE_DOWN + parse_card(text[5:])
    return KIND + ANIMALS.index(text) if text in ANIMALS else parse_card(text)


_PILE_TEXT: Final = {card: card_text(card) for down in (0, FACE_DOWN) for card in range(down, down + len(TEXT))}


class _Zone(Items):
    """A hand or Penalty zone: a list of cards, ``?`` for an unseen one; or how many unseen ones there are."""

    wish = Words("a list of at most {most} cards, or how many unseen ones there are")

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        if type(value) is int and 0 <= value <= self.most:
            return (UNKNOWN,) * value
        return super().read(value, at, reading)


_ZONE: Final = _Zone(_CARD, MAX_CARDS)
_COUNT: Final = Field("count", Whole(0, MAX_CARDS), 1)
_LYING: Final = (Field("value", Whole(1, 5)), Field("companion", ANIMAL), _COUNT)
_LAND: Final = PlaceRecord(Anything(), Things(dict.fromkeys(ANIMALS, (_COUNT,)), MAX_CARDS))
_OPEN: Final = PlaceRecord(
    Anything(),
    Things({**dict.fromkeys(ANIMALS, _LYING), "face-down": _LYING}, MAX_CARDS),
)
_PLAYER: Final = TupleRecord(
    Field("name", Name()),
    Field("colour", Anything(), brief=True),
    Field("pile", Items(Notation(_pile_card, _PILE_TEXT.__getitem__, _A_CARD), MAX_CARDS), ()),
    Field("hand", _ZONE, ()),
    Field("penalty", _ZONE, ()),
    Field("unseen", _ZONE, ()),
    Field("totem", OneOf({**numbered(ANIMALS), "?": -1, None: NOT_DEALT}), -1, null=False),
    Field("powers", Items(ANIMAL, len(ANIMALS)), ()),
    says=Words("A player of Arctic"),
)


_TOKENS: Final = tuple((animal, 1) for animal in ANIMALS)
_RIVER_CARDS: Final[tuple[Any, ...]] = (
    *(("river", ((ANIMALS[main], placement, ANIMALS[companion], 1),)) for _, main, placement, _, companion in BOX),
    ("river", ()),
)
"""What a River place is with each card; the last one with none."""


def _places(s: ArcticPosition) -> dict[str, Any]:
    found: dict[str, Any] = {name: ("landscape", []) for name in _LANDS}
    for token, index in zip(_TOKENS, s.tokens, strict=True):
        found[_LANDS[index]][1].append(token)
    river = (*s.river, -1, -1, -1, -1, -1, -1)
    for name, card in zip(_RIVER, river, strict=False):
        found[name] = _RIVER_CARDS[card]
    return found


def _players(s: ArcticPosition) -> list[tuple[Any, ...]]:
    owners = tuple(zip(ANIMALS, s.owners, strict=True))
    rows = enumerate(zip(s.names, s.piles, s.hands, s.penalties, s.veiled, s.totems, strict=True))
    return [
        (name, None, pile, hand, penalty, cards_of(veiled), totem, [one for one, owner in owners if owner == seat])
        for seat, (name, pile, hand, penalty, veiled, totem) in rows
    ]


def _held(s: ArcticPosition) -> list[str]:
    return [ANIMALS[a] for a in range(6) if s.held >> a & 1] if s.held else []


def _used(s: ArcticPosition) -> list[str]:
    return [name for name, bit in USED.items() if s.used & bit] if s.used else []


FORM: Final = Form(
    "arctic",
    Words("A position of Arctic"),
    Field(
        "places",
        ByName(
            {**dict.fromkeys(_LANDS, _LAND), **dict.fromkeys((*_RIVER, *_PILE), _OPEN)},
            places_of="Arctic",
            there=Words("land0, land1, land3, land6, land10, land15, river1 to river6 and pile1, pile2 and so on"),
        ),
        {},
        of=_places,
    ),
    Field("players", Items(_PLAYER, 4), (), of=_players),
    Field("options", AnyObject(), of=lambda s: dict(s.options)),
    Field("phase", OneOf(PHASES), "A"),
    Field("stage", OneOf(STAGES), "normal"),
    Field("to_move", Whole(1, 4), of=lambda s: s.seat + 1 if s.seat >= 0 else None),
    Field("first", Whole(1, 4), of=lambda s: s.first + 1 if s.first >= 0 else None),
    Field("packs", Items(Whole(1, 4), 4)),
    Field(
        "powers",
        ByName(dict.fromkeys(ANIMALS, Whole(0, 12))),
        {},
        of=lambda s: {ANIMALS[a]: power for a, power in enumerate(s.powers) if power},
    ),
    Field(
        "held",
        Items(ANIMAL, len(ANIMALS)),
        of=_held,
    ),
    Field("value", Whole(0, 12)),
    Field("count", Whole(0, 12), 0),
    Field(
        "used",
        Items(OneOf(tuple(USED)), len(USED)),
        (),
        of=_used,
    ),
    Field("pile_left", Whole(0, MAX_CARDS)),
    Field("reserve", Whole(0, 15)),
)


def hidden_from(s: ArcticPosition, viewer: int | None) -> ArcticPosition:
    """Return the position as a seat (None: a bystander) may see it, to be written; it is not to be played on."""
    new = s.copy()
    hands, penalties, piles, totems = list(s.hands), list(s.penalties), list(s.piles), list(s.totems)
    for seat in set(range(s.players)) - {viewer}:
        hands[seat] = (UNKNOWN,) * len(hands[seat])
        penalties[seat] = (UNKNOWN,) * len(penalties[seat])
        piles[seat] = tuple([FACE_DOWN + UNKNOWN if card >= FACE_DOWN else card for card in piles[seat]])
        # Totems are shown when the last turn is played (ARC-V.3), the other hidden things never.
        if totems[seat] >= 0 and s.phase not in {"totems", "over"}:
            totems[seat] = -1
    new.hands, new.penalties, new.piles, new.totems = tuple(hands), tuple(penalties), tuple(piles), tuple(totems)
    return new


def to_json(s: ArcticPosition) -> dict[str, JSON]:
    """Return the whole position."""
    found: dict[str, JSON] = FORM.write(s)
    return found
