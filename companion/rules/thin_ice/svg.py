"""A position of Thin Ice as a picture: floes, water, and penguins with a letter each, so that colour is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from companion.rules.drawing import INK, badge, caption, outline, sheet
from companion.rules.i18n import Words
from companion.rules.rulebook import rulebook
from companion.rules.thin_ice.json_form import FREE, SQUARES, WATER
from companion.rules.thin_ice.state import ThinIceMove, ThinIceState

if TYPE_CHECKING:
    from companion.rules.core import Ruling

SIDE: Final = 100
WORDS: Final = Words("Board")
FILL: Final = {"red": "#d55e00", "blue": "#0072b2"}


def _corner(square: str) -> tuple[int, int]:
    return 10 + "abc".index(square[0]) * SIDE, 10 + "321".index(square[1]) * SIDE


def _square(state: ThinIceState, square: str) -> str:
    x, y = _corner(square)
    there = state.at(square)
    water = there == WATER
    found = (
        f'<g id="{square}" class="{"water" if water else "floe"}"><rect x="{x + 3}" y="{y + 3}" width="{SIDE - 6}"'
        f' height="{SIDE - 6}" rx="{2 if water else 22}" fill="{"#3b8bbf" if water else "#eef6fb"}" stroke="{INK}"/>'
    )
    if there not in (FREE, WATER):
        letter = rulebook(state.game.id).words(there).en[0].upper()
        found += (
            f'<circle cx="{x + 50}" cy="{y + 50}" r="30" fill="{FILL[there]}" stroke="{INK}" stroke-width="2"/>'
            f'<text x="{x + 50}" y="{y + 60}" font-size="28" text-anchor="middle" fill="#ffffff">{letter}</text>'
        )
    return f'{found}<text x="{x + 10}" y="{y + 20}" font-size="12" fill="{INK}">{square}</text></g>'


def draw(
    state: ThinIceState, move: ThinIceMove | None = None, lang: str = "en", *, ruling: Ruling | None = None
) -> str:
    """Return the board as SVG text; with a move also its marks, and below the board the ruling with its clauses."""
    parts = [_square(state, square) for square in SQUARES]
    lines = []
    if move is not None:
        ruling = ruling or state.check(move)
        x, y = _corner(move.what if move.kind == "put" else state.last or "a1")
        parts += outline(f'rect x="{x + 3}" y="{y + 3}" width="{SIDE - 6}" height="{SIDE - 6}"', legal=ruling.legal)
        parts.append(badge(x + SIDE - 12, y + 12, legal=ruling.legal))
        lines = caption(move, ruling, lang, 38)
    return sheet(3 * SIDE + 20, 3 * SIDE + 20, f"{WORDS.of(lang)}: {state}", parts, lines)
