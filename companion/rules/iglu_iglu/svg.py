"""A position of Iglu Iglu as a picture: SVG that reads in print, in grey and for colour-blind people.

Nothing is told by colour alone: each tribe has a shape and a letter, each ground a pattern, each animal a form and its
number, and a refused move is marked with a cross and dashes, a legal one with a tick and full lines.
"""

from __future__ import annotations

from html import escape
from math import ceil, sqrt
from typing import Final

from companion.rules.core import Ruling
from companion.rules.drawing import badge, dashes, named, outline, reason_outline, straight_arrow
from companion.rules.drawing import caption as ruling_caption
from companion.rules.i18n import Words
from companion.rules.iglu_iglu import moves as m
from companion.rules.iglu_iglu.board import CORNERS, SQUARES, numbers, stretches
from companion.rules.iglu_iglu.drifting import line
from companion.rules.iglu_iglu.moves import IgluMove
from companion.rules.iglu_iglu.position import IgluPosition
from companion.rules.iglu_iglu.state import IgluState

CELL = 64
MARGIN = 24
SIZE = 8 * CELL + 2 * MARGIN
LINE = 20
WIDTH = 68
"""Characters of the caption in a line."""

GAPS = (14, 18)
"""Between an arrow and what stands at its ends."""

# Colours that stay apart for colour-blind people (Okabe and Ito), with the letter of each tribe by language.
INK = "#1a1a1a"
FILL = {"red": "#d55e00", "blue": "#0072b2", "yellow": "#f0e442", "green": "#009e73"}
TEXT_ON = {"red": "#ffffff", "blue": "#ffffff", "yellow": INK, "green": "#ffffff"}
LETTER: Final = {
    "red": Words("R"),
    "blue": Words("B"),
    "yellow": Words("Y"),
    "green": Words("G"),
}
WORDS: Final = {"board": Words("Iglu Iglu, position")}

_DEFS = """<defs>
<pattern id="water" width="16" height="12" patternUnits="userSpaceOnUse"><rect width="16" height="12" fill="#bfe0f2"/>\
<path d="M0 6q4-4 8 0t8 0" fill="none" stroke="#6aa9cf" stroke-width="1.2"/></pattern>
<pattern id="floe" width="14" height="14" patternUnits="userSpaceOnUse"><rect width="14" height="14" fill="#ffffff"/>\
<circle cx="7" cy="7" r="0.9" fill="#9aa7b0"/></pattern>
<pattern id="pack" width="10" height="10" patternUnits="userSpaceOnUse"><rect width="10" height="10" fill="#e6eaed"/>\
<path d="M0 10L10 0M0 0L10 10" stroke="#8b98a3" stroke-width="1"/></pattern>
<pattern id="land" width="12" height="12" patternUnits="userSpaceOnUse"><rect width="12" height="12" fill="#a89a86"/>\
<path d="M2 10l4-7 4 7z" fill="#6d604c"/></pattern>
</defs>"""


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
        *([f"<desc>{escape(' '.join(caption))}</desc>"] if caption else []),
        _DEFS,
        f'<rect width="{SIZE}" height="{height}" fill="#ffffff"/>',
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
            f'fill="url(#{ground})" stroke="#4d5a63" stroke-width="0.8"/>'
        )
        if ground in ("floe", "pack"):
            thick = 3.5 if ground == "pack" else 1.6
            found.append(
                f'<rect x="{x + 3}" y="{y + 3}" width="{CELL - 6}" height="{CELL - 6}" rx="9" fill="none" '
                f'stroke="{INK}" stroke-width="{thick}"/>'
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


_SHAPE = {
    "red": '<circle r="11.5"/>',
    "blue": '<rect x="-10.5" y="-10.5" width="21" height="21"/>',
    "yellow": '<path d="M0-14L13 10H-13z"/>',
    "green": '<path d="M0-14L14 0 0 14-14 0z"/>',
}
_IGLOO = '<path d="M-15 12v-7a15 18 0 0 1 30 0v7h-5v-5h-7v5z"/>'
_ANIMAL = {
    "fish": '<path d="M-15 0q11-17 21-2l9-8v20l-9-8q-10 15-21-2z" fill="#ffffff"/>',
    "fox": '<path d="M-12-13l7 4h10l7-4-2 14-10 12-10-12z" fill="#ffffff"/>',
    "bear": '<path d="M-9-8a5 5 0 1 1 6-4a12 12 0 0 1 6 0a5 5 0 1 1 6 4a12 12 0 1 1-18 0z" fill="#1a1a1a"/>',
}


def _piece(kind: str, what: str, count: int, x: float, y: float, scale: float, lang: str) -> str:
    if kind in ("inuit", "igloo"):
        fill, ink = FILL[what], TEXT_ON[what]
        body = _IGLOO if kind == "igloo" else _SHAPE[what]
        mark, drop = LETTER[what].of(lang), (3 if kind == "igloo" else 5)
    else:
        fill, ink = "#ffffff", "#ffffff" if kind == "bear" else INK
        body, mark, drop = _ANIMAL[kind], what, 5
    number = (
        f'<text x="13" y="15" font-size="11" font-weight="bold" text-anchor="end" stroke="#ffffff" stroke-width="3" '
        f'paint-order="stroke" fill="{INK}">×{count}</text>'
        if count > 1
        else ""
    )
    return (
        f'<g class="{kind} {what}" transform="translate({x:g} {y:g}) scale({scale:.3g})">'
        f'<g fill="{fill}" stroke="{INK}" stroke-width="1.6">{body}</g>'
        f'<text y="{drop}" font-size="13" font-weight="bold" text-anchor="middle" fill="{ink}">{mark}</text>'
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
