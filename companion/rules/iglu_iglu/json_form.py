"""Iglu Iglu in the one form of a board, and in one line of text; :mod:`.json_reader` makes a position of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from companion.rules.core import CHANCE, JSON, NOBODY
from companion.rules.i18n import Words
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNER_SQUARES, CORNERS, DIRECTIONS, NUMBER, SQUARES, numbers
from companion.rules.iglu_iglu.position import PHASES, PLAYED, TO_FACE, UNKNOWN, IgluPosition, S
from companion.rules.position_form import (
    NEEDED,
    AnyObject,
    Boolean,
    ByName,
    DictRecord,
    Field,
    Form,
    Group,
    Items,
    Name,
    OneOf,
    PlaceRecord,
    Things,
    TupleRecord,
    Whole,
    numbered,
)

GAME: Final = "iglu-iglu"
_MOST: Final = 64
TOKENS: Final = Whole(0, 31)
"""More than the box has of any token: a wrong count is read, and answered by a problem."""
COLOUR: Final = OneOf(components.COLOURS)
_COUNT: Final = Field("count", Whole(0, _MOST), 1)
_VALUE: Final = Field("value", Whole(1, 3, Words("The value of fish and foxes")), NEEDED)
_BEAR: Final = Field("value", OneOf((4,), Words("The value of a bear")), 4)
_OWNED: Final = (Field("colour", COLOUR, NEEDED), _COUNT)
_THINGS: Final = Things(
    {"inuit": _OWNED, "igloo": _OWNED, "fish": (_VALUE, _COUNT), "fox": (_VALUE, _COUNT), "bear": (_BEAR, _COUNT)},
    _MOST,
)
_TOKEN_COUNT: Final = Field("count", TOKENS, 1)
_TROPHIES: Final = Things(
    {"fish": (_VALUE, _TOKEN_COUNT), "fox": (_VALUE, _TOKEN_COUNT), "bear": (_BEAR, _TOKEN_COUNT)}, _MOST
)
_GROUNDS: Final = OneOf(("water", "floe", "pack", "land"))
_SQUARE: Final = PlaceRecord(_GROUNDS, _THINGS, NEEDED)
_CORNER: Final = PlaceRecord(_GROUNDS, _THINGS, "land")
A_SQUARE: Final = OneOf(NUMBER, there=Words("a square from a1 to h8"))
_SQUARES: Final = Words("the squares a1 to h8")

# --- what the rest depends on -----------------------------------------------------------------------------------------

BOX: Final = DictRecord(Field("tiles", AnyObject(), of=lambda mix: mix.to_json()), Field("real", Boolean(), True))
_PLAYER: Final = TupleRecord(
    Field("name", Name()),
    Field("colour", COLOUR, NEEDED),
    says=Words("A player of Iglu Iglu"),
)


def _places(s: IgluPosition) -> dict[str, Any]:
    """Return what lies on each square, in the order a1, b1 … h8."""
    found: dict[str, Any] = {}
    floes, packs = s.floes, s.packs
    busy = s.inuit_squares | s.igloo_squares | s.shoals | s.foxes | s.bears
    for number, square in enumerate(SQUARES):
        bit = 1 << number
        ground = "land" if CORNERS & bit else "pack" if packs & bit else "floe" if floes & bit else "water"
        found[square] = (ground, _things(s, number) if busy & bit else ())
    return found


def _things(s: IgluPosition, number: int) -> list[tuple[Any, ...]]:
    bit = 1 << number
    found: list[tuple[Any, ...]] = []
    for seat, colour in enumerate(s.table.colours):
        if s.inuit_at[seat] & bit:
            found.append(("inuit", colour, s.inuit[seat].count(number)))
        if s.igloos[seat] & bit:
            found.append(("igloo", colour, 1))
    for kind, codes in (("fish", s.fish), ("fox", s.fox)):
        values = [code & 3 for code in codes if code >> 2 == number]
        found.extend((kind, value, values.count(value)) for value in sorted(set(values)))
    if s.bears & bit:
        found.append(("bear", 4, 1))
    return found


_HEAD: Final = (
    Field("players", Items(_PLAYER, _MOST), of=lambda s: list(zip(s.table.names, s.table.colours, strict=True))),
    Field("options", AnyObject(), of=lambda s: dict(s.table.options)),
    Field(
        "places",
        ByName(
            {name: _CORNER if number in CORNER_SQUARES else _SQUARE for number, name in enumerate(SQUARES)},
            _SQUARES,
            places_of="Iglu Iglu",
        ),
        NEEDED,
        of=_places,
    ),
    Field("box", BOX, {"tiles": None, "real": True}, of="table.mix"),
)
_SAYS: Final = Words("A position of Iglu Iglu")
HEAD: Final = DictRecord(*_HEAD, says=_SAYS, part=True)
"""What the rest of a position depends on: who plays (or whose figures stand there), and with which tiles."""

# --- the whole --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def form(colours: tuple[str, ...], faces: tuple[str, ...]) -> Form:
    """Return the form of a position of these tribes, with tiles that show these faces."""
    seat = OneOf(numbered(colours))
    players, options, places, box = _HEAD
    red = faces[components.RED :]
    hand = TupleRecord(
        Field("tiles", ByName(dict.fromkeys(red, Whole(0, _MOST))), {}), Field("unknown", Whole(0, _MOST), 0)
    )
    return Form(
        GAME,
        _SAYS,
        players,
        options,
        places,
        Field("phase", OneOf(numbered(PHASES))),
        Field("turn", seat),
        Field("to_move", OneOf({**numbered(colours), None: None}), of=_mover),
        Field("points", Whole(0, _MOST)),
        Field("melted", Boolean()),
        Field("played", Items(OneOf(numbered(PLAYED)), _MOST), (), of=_played),
        Field("hands", ByName(dict.fromkeys(colours, hand)), {}, of=_hands),
        Field(
            "trophies",
            ByName(dict.fromkeys(colours, _TROPHIES)),
            {},
            of=lambda s: dict(zip(s.table.colours, map(_tokens, s.trophies), strict=True)),
        ),
        Field(
            "piles",
            DictRecord(
                Field("removed", _TROPHIES, (), of=lambda s: _tokens(s.removed)),
                Field("tiles", ByName(dict.fromkeys(faces, Whole(0, _MOST))), of=_tiles),
            ),
            {"removed": (), "tiles": None},
            of=lambda s: s,
        ),
        box,
        Field("first", seat, 0, of="table.first"),
        Field("pending", _pending(seat), {}, of=_waiting, brief=True),
    )


def _pending(seat: OneOf) -> DictRecord:
    drift = Group(
        A_SQUARE,
        OneOf(tuple(DIRECTIONS)),
        wish=Words("a square and a direction, such as ['d3', 'n']"),
    )
    return DictRecord(
        Field("square", A_SQUARE, -1, brief=True),
        Field("left", Whole(0, 3), 0, of="remaining", brief=True),
        Field("asked", seat, -1, of="defender", brief=True),
        Field("drift", drift, of="push", brief=True),
        Field("looked", Items(A_SQUARE, _MOST), (), of=lambda s: tuple(numbers(s.looked)), brief=True),
    )


def _waiting(s: IgluPosition) -> Any:
    """Return the position where anything is asked, or else nothing."""
    return s if max(s.square, s.defender) >= 0 or s.remaining or s.push is not None or s.looked else {}


def _mover(s: IgluPosition) -> int | None:
    return None if s.to_move in (CHANCE, NOBODY) else s.to_move


def _played(s: IgluPosition) -> list[int]:
    return [bit for bit in range(len(PLAYED)) if s.played >> bit & 1]


def _hands(s: IgluPosition) -> dict[str, Any]:
    faces = s.table.mix.faces
    return {
        colour: (
            {faces[place + TO_FACE]: hand[place] for place in range(1, len(hand)) if hand[place]},
            hand[UNKNOWN],
        )
        for colour, hand in zip(s.table.colours, s.hands, strict=True)
    }


def _tiles(s: IgluPosition) -> dict[str, int]:
    return {face: count for face, count in zip(s.table.mix.faces, s.tiles, strict=True) if count}


def _tokens(packed: int) -> list[tuple[str, int, int]]:
    return [
        (kind, value, count)
        for number, (kind, value) in enumerate(components.TOKENS)
        if (count := components.counted(packed, number))
    ]


def to_json(s: IgluPosition) -> dict[str, JSON]:
    """Return the whole position; the form is described in this folder's README."""
    found: dict[str, JSON] = form(s.table.colours, s.table.mix.faces).write(s)
    return found


def hidden_from(s: S, seat: int | None) -> S:
    """Return the state as a seat (None: a bystander) may know it: the tiles of other hands are unknown tiles."""
    new = s.copy()
    tiles = list(s.tiles)
    hands = []
    for other, hand in enumerate(s.hands):
        if other == seat:
            hands.append(hand)
            continue
        for place in range(1, len(hand)):
            tiles[place + TO_FACE] += hand[place]
        hands.append((sum(hand), *(0 for _ in hand[1:])))
    new.tiles = tuple(tiles)
    new.hands = tuple(hands)
    return new


_GROUND = {"floe": "#", "pack": "P", "water": ".", "land": "+"}


def describe(s: IgluPosition) -> str:
    """Return the position in one line: rows from 8 down to 1, then whose step, phase and points.

    ``#`` floe, ``P`` pack, ``.`` water, ``+`` land; behind it in brackets what is there: ``r`` red inuit, ``R`` red
    igloo (b, y, g likewise), ``1 2 3`` fish, ``f1`` foxes, ``X`` bear.
    """
    rows = []
    for row in range(7, -1, -1):
        cells = []
        for number in range(8 * row, 8 * row + 8):
            bit = 1 << number
            ground = "land" if CORNERS & bit else "pack" if s.packs & bit else "floe" if s.floes & bit else "water"
            marks = ""
            for seat, colour in enumerate(s.table.colours):
                marks += colour[0] * s.inuit[seat].count(number) + (colour[0].upper() if s.igloos[seat] & bit else "")
            marks += "".join(str(code & 3) for code in s.fish if code >> 2 == number)
            marks += "".join(f"f{code & 3}" for code in s.fox if code >> 2 == number)
            marks += "X" if s.bears & bit else ""
            cells.append(_GROUND[ground] + (f"({marks})" if marks else ""))
        rows.append("".join(cells))
    mover = {CHANCE: "chance", NOBODY: "nobody"}.get(s.to_move) or s.table.colours[s.to_move]
    return f"{'/'.join(rows)} {mover} {PHASES[s.phase]} {s.points}"
