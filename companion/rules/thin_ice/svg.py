"""A position of Thin Ice as a picture: floes, water, and penguins with a letter each, so that colour is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from companion.rules.drawing import LETTER_ON, badge, caption, outline, paint, sheet
from companion.rules.i18n import Words
from companion.rules.rulebook import rulebook
from companion.rules.thin_ice.json_form import FREE, SQUARES, WATER
from companion.rules.thin_ice.state import ThinIceMove, ThinIceState

if TYPE_CHECKING:
    from companion.rules.core import Ruling

SIDE: Final = 100
WORDS: Final = Words("Board")
_DUSK: Final = paint("dusk")
_SHADOW: Final = f'class="shadow" fill="{_DUSK}" opacity=".35"/>'
DEFS: Final = (
    f'<defs><linearGradient id="ti-ice" x2=".3" y2="1"><stop offset=".5" stop-color="{paint("snow")}"/>'
    f'<stop offset="1" stop-color="{paint("shade")}"/></linearGradient><radialGradient id="ti-sea" r=".75">'
    f'<stop stop-color="{paint("water")}"/><stop offset="1" stop-color="{paint("depth")}"/></radialGradient>'
    f'<g id="ti-floe"><path d="M6 24h88v56a20 20 0 0 1-20 20h-48a20 20 0 0 1-20-20z" {_SHADOW}'
    f'<path d="M3 23h94v54a22 22 0 0 1-22 22h-50a22 22 0 0 1-22-22z" fill="{paint("shade")}" '
    f'stroke="{_DUSK}"/></g></defs>'
)


def _corner(square: str) -> tuple[int, int]:
    return 10 + "abc".index(square[0]) * SIDE, 10 + "321".index(square[1]) * SIDE


def _square(state: ThinIceState, square: str) -> str:
    x, y = _corner(square)
    there = state.at(square)
    water = there == WATER
    found = f'<g id="{square}" class="{"water" if water else "floe"}">'
    if not water:
        found += f'<use href="#ti-floe" x="{x}" y="{y}"/>'
    found += f'<rect x="{x + 3}" y="{y + 3}" width="{SIDE - 6}" height="{SIDE - 10}" rx="{2 if water else 22}" ' + (
        'fill="none"/>' if water else f'fill="url(#ti-ice)" stroke="{_DUSK}"/>'
    )
    if there not in (FREE, WATER):
        letter = rulebook(state.game.id).words(there).en[0].upper()
        found += (
            f'<ellipse cx="{x + 50}" cy="{y + 80}" rx="30" ry="9" {_SHADOW}'
            f'<circle cx="{x + 50}" cy="{y + 50}" r="30" fill="{paint(there)}" stroke="{_DUSK}" stroke-width="2"/>'
            f'<text x="{x + 50}" y="{y + 60}" font-size="28" text-anchor="middle" '
            f'fill="{LETTER_ON[there]}">{letter}</text>'
        )
    ink = paint("snow" if water else "dusk")
    return f'{found}<text x="{x + 10}" y="{y + 20}" font-size="12" fill="{ink}">{square}</text></g>'


def draw(
    state: ThinIceState, move: ThinIceMove | None = None, lang: str = "en", *, ruling: Ruling | None = None
) -> str:
    """Return the board as SVG text; with a move also its marks, and below the board the ruling with its clauses."""
    sea = f'<rect x="10" y="10" width="{3 * SIDE}" height="{3 * SIDE}" rx="8" fill="url(#ti-sea)"/>'
    parts = [sea, *(_square(state, square) for square in SQUARES)]
    lines = []
    if move is not None:
        ruling = ruling or state.check(move)
        x, y = _corner(move.what if move.kind == "put" else state.last or "a1")
        parts += outline(f'rect x="{x + 3}" y="{y + 3}" width="{SIDE - 6}" height="{SIDE - 6}"', legal=ruling.legal)
        parts.append(badge(x + SIDE - 12, y + 12, legal=ruling.legal))
        lines = caption(move, ruling, lang, 38)
    return sheet(3 * SIDE + 20, 3 * SIDE + 20, f"{WORDS.of(lang)}: {state}", parts, lines, DEFS)
