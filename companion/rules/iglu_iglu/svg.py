"""A position of Iglu Iglu as a picture: SVG that reads in print, in grey and for colour-blind people.

Nothing is told by colour alone: each tribe has a shape and a letter, each ground a pattern, each animal a form and its
number, and a refused move is marked with a cross and dashes, a legal one with a tick and full lines.
"""

from __future__ import annotations

from html import escape
from math import ceil, sqrt
from typing import Final

from companion.rules.core import Ruling
from companion.rules.drawing import (
    INK,
    LETTER_ON,
    badge,
    dashes,
    named,
    outline,
    paint,
    reason_outline,
    straight_arrow,
)
from companion.rules.drawing import caption as ruling_caption
from companion.rules.i18n import Words
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import CORNERS, SQUARES, numbers, stretches
from companion.rules.iglu_iglu.drifting import line
from companion.rules.iglu_iglu.moves import IgluMove
from companion.rules.iglu_iglu.position import IgluPosition
from companion.rules.iglu_iglu.state import IgluState
from companion.rules.iglu_iglu.svg_signs import DEFS, LETTER

CELL = 64
MARGIN = 24
SIZE = 8 * CELL + 2 * MARGIN
LINE = 20
WIDTH = 68
"""Characters of the caption in a line."""

GAPS = (14, 18)
"""Between an arrow and what stands at its ends."""

WORDS: Final = {"board": Words("Iglu Iglu, position")}


def draw(state: IgluState, move: IgluMove | None = None, lang: str = "en", *, ruling: Ruling | None = None) -> str:
    """Return the board as SVG text; with a move also its marks, and below the board the ruling with its clauses.

    ``ruling``: that of a move that was judged elsewhere.
    """
    ruling = None if move is None else ruling or state.check(move)
    caption = [] if ruling is None or move is None else ruling_caption(move, ruling, lang, WIDTH)
    height = SIZE + LINE * len(caption) + (14 if caption else 0)
    title = f"{WORDS['board'].of(lang)}: {state}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {height}" role="img" font-family="sans-serif">',
        f"<title>{escape(title)}</title>",
        DEFS,
        *([f"<desc>{escape(' '.join(caption))}</desc>"] if caption else []),
        f'<rect width="{SIZE}" height="{height}" fill="{paint("paper")}"/>',
        f'<rect x="{MARGIN}" y="{MARGIN}" width="{8 * CELL}" height="{8 * CELL}" fill="url(#ig-sea)"/>',
        *_grounds(state),
        *_names(),
        *(piece for number in range(64) for piece in _pieces(state, number, lang)),
    ]
    if move is not None and ruling is not None:
        parts += _marks(state, move, ruling)
    for row, text in enumerate(caption):
        y = SIZE + LINE * row + 14
        weight = "bold" if row == 0 else "normal"
        parts.append(f'<text x="{MARGIN}" y="{y}" font-size="15" font-weight="{weight}">{escape(text)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _corner(number: int) -> tuple[int, int]:
    """Return the upper left corner of a square; a1 is at the bottom left."""
    return MARGIN + CELL * (number % 8), MARGIN + CELL * (7 - number // 8)


def _centre(number: int) -> tuple[float, float]:
    x, y = _corner(number)
    return x + CELL / 2, y + CELL / 2


def _grounds(s: IgluPosition) -> list[str]:
    found = []
    for number in range(64):
        x, y = _corner(number)
        bit = 1 << number
        ground = "land" if CORNERS & bit else "pack" if s.packs & bit else "floe" if s.floes & bit else "water"
        found.append(
            f'<rect id="{SQUARES[number]}" class="{ground}" x="{x}" y="{y}" width="{CELL}" height="{CELL}" '
            f'fill="url(#ig-{ground})"/>'
        )
    return found


def _names() -> list[str]:
    found = []
    for index in range(8):
        along = MARGIN + CELL * index + CELL / 2
        column, row = "abcdefgh"[index], str(8 - index)
        for y in (MARGIN - 8, SIZE - 8):
            found.append(f'<text x="{along}" y="{y}" font-size="14" text-anchor="middle">{column}</text>')
        for x in (MARGIN / 2, SIZE - MARGIN / 2):
            found.append(f'<text x="{x}" y="{along + 5}" font-size="14" text-anchor="middle">{row}</text>')
    return found


def _pieces(s: IgluPosition, number: int, lang: str) -> list[str]:
    """Return what is on a square, each kind once with its count, in a small grid."""
    bit = 1 << number
    items: list[tuple[str, str, int]] = []
    for seat, colour in enumerate(s.table.colours):
        if s.igloos[seat] & bit:
            items.append(("igloo", colour, 1))
        if s.inuit_at[seat] & bit:
            items.append(("inuit", colour, s.inuit[seat].count(number)))
    for kind, codes in (("fish", s.fish), ("fox", s.fox)):
        values = [code & 3 for code in codes if code >> 2 == number]
        items += [(kind, str(value), values.count(value)) for value in sorted(set(values))]
    if s.bears & bit:
        items.append(("bear", "4", 1))
    if not items:
        return []
    across = ceil(sqrt(len(items)))
    slot = (CELL - 8) / max(across, 1.4)
    left, top = _corner(number)
    rows = ceil(len(items) / across)
    found = []
    for index, (kind, what, count) in enumerate(items):
        in_row = min(across, len(items) - across * (index // across))
        x = left + CELL / 2 + slot * (index % across - (in_row - 1) / 2)
        y = top + CELL / 2 + slot * (index // across - (rows - 1) / 2)
        found.append(_piece(kind, what, count, x, y, slot / 30, lang))
    return found


_DROP: Final = {"igloo": 3, "bear": 10.5}
"""How far below the middle of a piece its writing stands, where that is not 5."""


def _piece(kind: str, what: str, count: int, x: float, y: float, scale: float, lang: str) -> str:
    tribe = kind in ("inuit", "igloo")
    sign = f"{kind}-{what}" if tribe else kind
    ink = LETTER_ON[what] if tribe else INK
    mark, drop = LETTER[what].of(lang) if tribe else what, _DROP.get(kind, 5)
    number = (
        f'<text x="13" y="15" font-size="11" font-weight="bold" text-anchor="end" stroke="#ffffff" stroke-width="3" '
        f'paint-order="stroke" fill="{INK}">×{count}</text>'
        if count > 1
        else ""
    )
    return (
        f'<g class="{kind} {what}" transform="translate({x:g} {y:g}) scale({scale:.3g})">'
        f'<use href="#ig-{sign}"/>'
        f'<text y="{drop}" font-size="{11 if kind == "bear" else 13}" font-weight="bold" text-anchor="middle" '
        f'fill="{ink}">{mark}</text>'
        f"{number}</g>"
    )


# --- the move in question -------------------------------------------------------------------------------------------


def marked(s: IgluPosition, move: IgluMove) -> tuple[list[int], tuple[int, int] | None]:
    """Return the squares that a move is about, and where an arrow leads from and to."""
    if isinstance(move, m.Walk | m.Kayak | m.Step | m.Displace):
        return [move.origin, move.target], (move.origin, move.target)
    if isinstance(move, m.Flee):
        return [move.square, move.corner], (move.square, move.corner)
    if isinstance(move, m.Drift):
        if move.square < 0:
            return [], None
        row, end = line(s, move.square, move.direction)
        return list(numbers(row)), (move.square, end) if end >= 0 else None
    square = getattr(move, "square", s.square)
    return ([square] if square >= 0 else []), None


def _marks(s: IgluPosition, move: IgluMove, ruling: Ruling) -> list[str]:
    squares, way = marked(s, move)
    reasons = {SQUARES.index(name) for name in named(ruling.facts, SQUARES)}
    found = _stretch(s, move) if isinstance(move, m.Kayak) else []
    for square in sorted(reasons.difference(squares)):
        found += reason_outline(_outline(square))
    for square in squares:
        found += outline(_outline(square), legal=ruling.legal)
    if way is not None:
        found += straight_arrow(_centre(way[0]), _centre(way[1]), GAPS, dash=dashes(legal=ruling.legal))
    spot = way[1] if way is not None else squares[-1] if squares else -1
    if spot >= 0:
        x, y = _corner(spot)
        found.append(badge(x + CELL - 10, y + 10, legal=ruling.legal))
    return found


def _outline(square: int) -> str:
    x, y = _corner(square)
    return f'rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}"'


def _stretch(s: IgluPosition, move: m.Kayak) -> list[str]:
    """Return dots round the water that an inuit can paddle: what lies on its shore is within reach (IGLU-2.A.4)."""
    found = []
    for water, shore in stretches(s.water & ~s.bears):
        if shore >> move.origin & 1:
            for square in numbers(water):
                found += reason_outline(_outline(square))
    return found
