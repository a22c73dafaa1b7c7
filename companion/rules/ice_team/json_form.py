"""Ice Team in the one form of a board, and in one line of text; :mod:`.json_reader` makes a position of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from companion.rules.core import CHANCE, JSON, NOBODY
from companion.rules.i18n import Words
from companion.rules.ice_team.components import (
    DIE_FACES,
    DRIFTS,
    FACES,
    FRAGILE,
    IGLOO,
    PAW,
    PENGUINS,
    SEA,
    SEARCHED,
    TILE_TEXT,
    UNKNOWN,
    default_box,
)
from companion.rules.ice_team.legality import PHASES, landing
from companion.rules.ice_team.moves import COLOURS
from companion.rules.ice_team.position import IcePosition
from companion.rules.position_form import (
    NEEDED,
    AnyObject,
    Anything,
    At,
    Boolean,
    ByName,
    DictRecord,
    Element,
    Field,
    Form,
    Items,
    Name,
    OneOf,
    PlaceRecord,
    Reading,
    Things,
    TupleRecord,
    Whole,
    numbered,
)

FLOES: Final = 24
MOST_FISH: Final = 999
"""Fish of a player: far more than any box has, so that a note kept for an empty bank is believed (ICE-Q.21)."""
_MOST_BEARS: Final = 8
_MOST: Final = 120
"""Entries of a list."""
_BY: Final = ("walk", "leap", "swim", "start", "")
_SIGNS: Final = {SEA: ".", IGLOO: "I", SEARCHED: "i", UNKNOWN: "?", PAW: "*"}

ACTIONS: Final = Whole(0, 2, Words("How many actions are left"))
_FRESH: Final = Whole(0, MOST_FISH, Words("How many fresh fish a team has"))
_FROZEN: Final = Whole(0, MOST_FISH, Words("How many frozen fish a team has"))
_BEARS: Final = Whole(0, _MOST_BEARS, Words("How many bears stand there"))
_DIE: Final = OneOf({1: 0, 2: 1}, Words("Which die is rolled"))
_FACE: Final = OneOf({face: TILE_TEXT.index(face) for face in FACES})
_PLAYER: Final = TupleRecord(
    Field("name", Name()),
    Field("colour", OneOf(COLOURS)),
    Field("fresh", _FRESH, 0),
    Field("frozen", _FROZEN, 0),
    says=Words("A player of Ice Team"),
)


def _players(s: IcePosition) -> list[tuple[str, str, int, int]]:
    return list(zip(s.table.names, s.table.colours, s.fresh, s.frozen, strict=True))


def _box(s: IcePosition) -> tuple[Any, ...]:
    box = s.table.box
    return box.real, list(box.warnings()), None if box is default_box() else box.to_json()


_HEAD: Final = (
    Field("players", Items(_PLAYER, _MOST), of=_players),
    Field("options", AnyObject(), of=lambda s: dict(s.table.options)),
    Field("layout", Anything(), of="table.said"),
    Field(
        "box",
        TupleRecord(Field("real", Anything()), Field("warnings", Anything()), Field("data", AnyObject(), brief=True)),
        (None, None, None),
        of=_box,
    ),
)
_SAYS: Final = Words("A position of Ice Team")
HEAD: Final = DictRecord(*_HEAD, says=_SAYS, part=True)
"""What the rest of a position depends on: who plays, and on which boards."""


class _Landing(Element):
    """A landing of a chain of leaps: ``a3 e``, a space and the direction of the leap."""

    wish = Words("a landing such as 'a3 e'")

    def __init__(self, space: OneOf, direction: OneOf) -> None:
        self._space, self._direction = space, direction
        name, way = space.words, direction.words
        self.writer = lambda held: f"{name[held[0]]} {way[held[1]]}"

    def read(self, value: JSON, at: At, reading: Reading) -> Any:
        if not isinstance(value, str):
            return self.refuse(value, at, reading)
        name, _, direction = value.partition(" ")
        return self._space.read(name, at, reading), self._direction.read(direction, at, reading)


@lru_cache(maxsize=16)
def form(names: tuple[str, ...], directions: tuple[str, ...], colours: tuple[str, ...]) -> Form:
    """Return the form of a position on a layout; a game holds the numbers of spaces, directions and seats."""
    there = Words("every name of the layout, such as {first}, start and village")
    a_space = Words("a name of the layout, such as {first}, start or village")
    space = OneOf(numbered(names), there=a_space)
    direction = OneOf(numbered(directions), Words("A direction"))
    seat = OneOf({**numbered(colours), None: -1})
    things = Things(
        {"bear": (Field("colour", OneOf(numbered(colours)), NEEDED), Field("count", _BEARS, 1))},
        _MOST,
        Words("A thing"),
    )
    a_place = Words("A place")
    floe = PlaceRecord(OneOf(numbered(TILE_TEXT)), things, None, a_place)
    beside = PlaceRecord(Anything(), things, None, a_place)
    spaces = {**dict.fromkeys(names[:-2], floe), **dict.fromkeys(names[-2:], beside)}
    return Form(
        "ice-team",
        _SAYS,
        *_HEAD,
        Field("places", ByName(spaces, there, places_of="Ice Team"), {}, of=_places),
        Field("phase", OneOf(PHASES)),
        Field("turn", seat, -1, of="seat"),
        Field("to_move", seat, -1, of=lambda s: -1 if s.to_move in (CHANCE, NOBODY) else s.to_move),
        Field("actions", ACTIONS),
        Field("removed", Items(_FACE, FLOES), (), of="gone"),
        Field("loser", seat, -1),
        Field("pending", _pending(space, direction), {}, of=_waiting, brief=True),
    )


def _pending(space: OneOf, direction: OneOf) -> DictRecord:
    return DictRecord(
        Field("bear", space, -1, of=lambda s: s.bears[s.bear] if s.bear >= 0 else -1, brief=True),
        Field("origin", space, -1, brief=True),
        Field("arrival", Items(direction, _MOST), (), of=_arrival, brief=True),
        Field("by", OneOf(_BY), of=lambda s: s.came if s.arrival else None, brief=True),
        Field("landed", Items(_Landing(space, direction), _MOST), (), of=_landed, brief=True),
        Field("again", Boolean(), False, brief=True),
        Field("die", _DIE, -1, brief=True),
        Field("dice", Items(OneOf(numbered(DIE_FACES), Words("A die")), _MOST), (), brief=True),
        says=Words("What is pending in Ice Team"),
    )


def _waiting(s: IcePosition) -> Any:
    """Return the position where anything of an action is pending, or else nothing."""
    pending = s.arrival or s.landed or s.again or s.dice or max(s.bear, s.origin, s.die) >= 0
    return s if pending else {}


def _arrival(s: IcePosition) -> tuple[int, ...]:
    return tuple(d for d in range(len(s.table.layout.directions)) if s.arrival >> d & 1) if s.arrival else ()


def _landed(s: IcePosition) -> tuple[tuple[int, int], ...]:
    if not s.landed:
        return ()
    return tuple(
        (space, d)
        for space in range(len(s.table.layout.names))
        for d in range(len(s.table.layout.directions))
        if s.landed & landing(space, 1 << d)
    )


def _places(s: IcePosition) -> dict[str, Any]:
    """Return what lies and stands on each space, in the order of the boards, then Start and Village."""
    layout = s.table.layout
    taken = {*s.bears, *(space for _, space in s.extra)}
    found: dict[str, Any] = {}
    for space, name in enumerate(layout.names):
        things: Any = ()
        if space in taken:
            counts = [(seat, s.count_on(space, seat)) for seat in (0, 1)]
            things = [("bear", seat, count) for seat, count in counts if count]
        found[name] = (s.tiles[space] if space < layout.start else name, things)
    return found


def to_json(s: IcePosition) -> dict[str, JSON]:
    """Return the whole position; the form is described in this folder's README."""
    found: dict[str, JSON] = form(s.table.layout.names, s.table.layout.directions, s.table.colours).write(s)
    return found


def describe(s: IcePosition) -> str:
    """Return the position in one line: boards, Start and Village, fish (fresh+frozen), whose step it is.

    ``.`` sea, ``I`` igloo with its fish, ``i`` searched, ``?`` floe not read, ``o`` plain, ``2`` penguins, ``~``
    drift, ``*`` paws, ``!`` cracks, and bears in brackets.
    """
    layout = s.table.layout
    boards: dict[str, list[str]] = {}
    for space, tile in enumerate(s.tiles):
        sign = _SIGNS.get(tile) or ("~" if DRIFTS[tile] else str(PENGUINS[tile] or "o"))
        sign += "!" if FRAGILE[tile] and tile != PAW else ""
        bears = _bears(s, space)
        boards.setdefault(layout.names[space].rstrip("0123456789"), []).append(sign + (f"({bears})" if bears else ""))
    parts = [f"{name} {''.join(signs)}" for name, signs in boards.items()]
    parts += [f"{layout.names[space]} {_bears(s, space) or '-'}" for space in (layout.start, layout.village)]
    parts += [f"{colour} {s.fresh[seat]}+{s.frozen[seat]}" for seat, colour in enumerate(s.colours)]
    who = f"{s.colours[s.seat]} " if s.seat >= 0 else ""
    return ", ".join([*parts, f"{who}{s.phase} {s.actions}"])


def _bears(s: IcePosition, space: int) -> str:
    return "".join(colour[0] * s.count_on(space, seat) for seat, colour in enumerate(s.colours))
