"""The position of Iglu Iglu in the one form of a board, and in one line of text; :mod:`.json_reader` reads it back."""

from __future__ import annotations

from companion.rules.core import CHANCE, JSON, NOBODY
from companion.rules.iglu_iglu import components
from companion.rules.iglu_iglu.board import CORNERS, SQUARES, names
from companion.rules.iglu_iglu.position import PHASES, PLAYED, TO_FACE, UNKNOWN, IgluPosition, S

GAME = "iglu-iglu"


# --- writing --------------------------------------------------------------------------------------------------------


def to_json(s: IgluPosition) -> dict[str, JSON]:
    """Return the whole position; the form is described in this folder's README."""
    table = s.table
    mover = None if s.to_move in (CHANCE, NOBODY) else table.colours[s.to_move]
    found: dict[str, JSON] = {
        "game": GAME,
        "players": [{"name": n, "colour": c} for n, c in zip(table.names, table.colours, strict=True)],
        "options": dict(table.options),
        "places": places(s),
        "phase": PHASES[s.phase],
        "turn": table.colours[s.turn],
        "to_move": mover,
        "points": s.points,
        "melted": s.melted,
        "played": [name for bit, name in enumerate(PLAYED) if s.played >> bit & 1],
        "hands": {colour: _hand(s, seat) for seat, colour in enumerate(table.colours)},
        "trophies": {colour: _tokens(s.trophies[seat]) for seat, colour in enumerate(table.colours)},
        "piles": {
            "removed": _tokens(s.removed),
            "tiles": {face: count for face, count in zip(table.mix.faces, s.tiles, strict=True) if count},
        },
        "box": {"tiles": table.mix.to_json(), "real": table.mix.real},
        "first": table.colours[table.first],
    }
    pending: dict[str, JSON] = {}
    if s.square >= 0:
        pending["square"] = SQUARES[s.square]
    if s.remaining:
        pending["left"] = s.remaining
    if s.defender >= 0:
        pending["asked"] = table.colours[s.defender]
    if s.push is not None:
        pending["drift"] = [SQUARES[s.push[0]], s.push[1]]
    if s.looked:
        pending["looked"] = names(s.looked)
    if pending:
        found["pending"] = pending
    return found


def places(s: IgluPosition) -> dict[str, JSON]:
    """Return what lies on each square, in the order a1, b1 … h8."""
    found: dict[str, JSON] = {}
    for number, square in enumerate(SQUARES):
        bit = 1 << number
        ground = "land" if CORNERS & bit else "pack" if s.packs & bit else "floe" if s.floes & bit else "water"
        found[square] = {"ground": ground, "things": _things(s, number)}
    return found


def _things(s: IgluPosition, number: int) -> list[JSON]:
    bit = 1 << number
    found: list[JSON] = []
    for seat, colour in enumerate(s.table.colours):
        if s.inuit_at[seat] & bit:
            found.append({"kind": "inuit", "colour": colour, "count": s.inuit[seat].count(number)})
        if s.igloos[seat] & bit:
            found.append({"kind": "igloo", "colour": colour, "count": 1})
    for kind, codes in (("fish", s.fish), ("fox", s.fox)):
        values = [code & 3 for code in codes if code >> 2 == number]
        found.extend({"kind": kind, "value": v, "count": values.count(v)} for v in sorted(set(values)))
    if s.bears & bit:
        found.append({"kind": "bear", "value": 4, "count": 1})
    return found


def _hand(s: IgluPosition, seat: int) -> dict[str, JSON]:
    hand = s.hands[seat]
    faces = s.table.mix.faces
    tiles = {faces[place + TO_FACE]: hand[place] for place in range(1, len(hand)) if hand[place]}
    return {"tiles": tiles, "unknown": hand[UNKNOWN]}


def _tokens(packed: int) -> list[JSON]:
    return [
        {"kind": kind, "value": value, "count": components.counted(packed, number)}
        for number, (kind, value) in enumerate(components.TOKENS)
        if components.counted(packed, number)
    ]


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
