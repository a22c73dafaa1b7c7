"""A position of Igloo Pop as a picture: the circle of cards round the village, the igloos with their thalers."""

from __future__ import annotations

from html import escape
from math import cos, pi, sin
from typing import TYPE_CHECKING, Final

from companion.rules.drawing import badge, caption, drawn_names, named, outline, paint, reason_outline, sheet
from companion.rules.i18n import Words
from companion.rules.names import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from companion.rules.core import Ruling
    from companion.rules.igloo_pop.moves import IglooPopMove
    from companion.rules.igloo_pop.position import PopPosition

WIDTH, HEIGHT = 600, 690
CARD_W, CARD_H = 112, 76
RADIUS_X, RADIUS_Y = 236, 262
ROW = 30
ACROSS = 4
"""Igloos in a row below a card."""

# Each thaler has a shape besides its colour.
SHAPE = {
    "red": '<circle r="8"/>',
    "yellow": '<path d="M0-9L9 7H-9z"/>',
    "green": '<rect x="-7.5" y="-7.5" width="15" height="15"/>',
    "blue": '<path d="M0-10L8 0 0 10-8 0z"/>',
    "violet": '<path d="M0-10l3 6.500 7 .6-5.300 4.600 1.700 6.900L0 5l-6.400 3.600 1.700-6.900L-10-2.900l7-.6z"/>',
    "black": '<path d="M-3-9h6v6h6v6h-6v6h-6v-6h-6v-6h6z"/>',
}
_DUSK, _SHADE = paint("dusk"), paint("shade")
_TINT: Final = {1: paint("shade"), 2: paint("aurora"), 3: paint("yellow")}
"""What a card is tinted with, by what it is worth."""
WORDS: Final = {
    "title": Words("Igloo Pop"),
    "village": Words("village"),
    "stack": Words("stack"),
    "round": Words("round"),
    "has": Words("{name}: thalers {own} + {captured} · cards {cards}"),
}


def _definitions(colours: Iterable[str]) -> str:
    """Return what a picture is drawn with: the igloo, cards by their worth, and each player's thaler."""
    size = f'width="{CARD_W}" height="{CARD_H}" rx="8"'
    return "".join(
        [
            '<defs><g id="po-igloo">',
            f'<ellipse class="shadow" cy="12" rx="19" ry="4" fill="{_DUSK}" opacity=".35"/>',
            f'<path d="M-15 12v-6a15 17 0 0 1 30 0v6z" fill="{paint("lit")}" stroke="{_DUSK}" stroke-width="1.4"/>',
            f'<path d="M-14.5 5h29M-11-4h22M0-11v7M-5 5v-9M5 5v-9M-10 12v-7M10 12v-7" fill="none" stroke="{_SHADE}"/>',
            f'<path d="M-5 12v-3a5 5 0 0 1 10 0v3z" fill="{_DUSK}"/></g><g id="po-card">',
            f'<rect class="shadow" x="1" y="4" {size} fill="{_DUSK}" opacity=".3"/>',
            f'<rect {size} fill="{paint("card")}" stroke="{paint("edge")}" stroke-width="1.6"/></g>',
            *(
                f'<g id="po-card{worth}"><use href="#po-card"/><rect x="4" y="4" width="{CARD_W - 8}" '
                f'height="{CARD_H - 8}" rx="5" fill="{tint}" opacity=".3"/></g>'
                for worth, tint in _TINT.items()
            ),
            *(f'<g id="po-{colour}" fill="{paint(colour)}">{SHAPE[colour]}</g>' for colour in colours),
            "</defs>",
        ]
    )


def draw(
    state: PopPosition, move: IglooPopMove | None = None, lang: str = "en", *, ruling: Ruling | None = None
) -> str:
    """Return the table as SVG text; with a move also its mark, and below the table the ruling with its clauses.

    ``ruling``: that of a move that was judged elsewhere.
    """
    ruling = None if move is None else ruling or state.check(move)
    parts = [*_village(state, lang), *_players(state, lang)]
    for index, (place, numbers) in enumerate(state.cards.items()):
        x, y = _centre(index)
        parts += _card(place, numbers, x, y)
        for nth, (colour, number) in enumerate(state.igloos[place]):
            parts.append(_igloo(colour, number, x, y, nth, len(state.igloos[place])))
    lines: list[str] = []
    if move is not None and ruling is not None:
        parts += _marks(state, move, ruling)
        lines = caption(move, ruling, lang, 72)
    return sheet(
        WIDTH,
        HEIGHT + ROW * len(state.colours) + 4,
        f"{WORDS['title'].of(lang)}: {state}",
        parts,
        lines,
        _definitions(state.colours),
    )


def _centre(index: int) -> tuple[float, float]:
    """Return the middle of a card; card1 lies at the top, the others follow clockwise."""
    angle = 2 * pi * index / 9 - pi / 2
    return WIDTH / 2 + RADIUS_X * cos(angle), HEIGHT / 2 - 14 + RADIUS_Y * sin(angle)


def _players(s: PopPosition, lang: str) -> list[str]:
    """Return a player a row with what they have: own and captured thalers, and cards."""
    found = []
    for seat, (name, colour) in enumerate(
        zip(drawn_names("igloo-pop", s.names, s.colours, lang), s.colours, strict=True)
    ):
        x, y = 28, HEIGHT + ROW * seat
        facts = {"own": s.own[colour], "captured": s.captured[colour], "cards": len(s.won[colour])}
        text = escape(WORDS["has"].of(lang).format(name=shortened(name, 20), **facts))
        thaler = f'<use href="#po-{colour}" x="{x}" y="{y}" stroke="{paint("ink")}"/>'
        found += [thaler, f'<text class="player" x="{x + 20}" y="{y + 7}" font-size="21">{text}</text>']
    return found


def _frame(index: int) -> str:
    """Return the outline of a card as far as its place goes."""
    x, y = _centre(index)
    left, top = x - CARD_W / 2 - 6, y - CARD_H / 2 - 6
    return f'rect x="{left:.1f}" y="{top:.1f}" width="{CARD_W + 12}" height="{CARD_H + 12}" rx="10"'


def _marks(s: PopPosition, move: IglooPopMove, ruling: Ruling) -> list[str]:
    """Return the marks of a move and of the cards its ruling names; a move without a card is marked in the village."""
    places = list(s.cards)
    found = []
    for place in named(ruling.facts, places):
        if place != move.place:
            found += reason_outline(_frame(places.index(place)))
    if move.place not in places:
        return [*found, badge(WIDTH / 2, HEIGHT / 2 - 62, legal=ruling.legal)]
    index = places.index(move.place)
    x, y = _centre(index)
    corner = x + CARD_W / 2 + 2, y - CARD_H / 2 - 2
    return [*found, *outline(_frame(index), legal=ruling.legal), badge(*corner, legal=ruling.legal)]


def _village(s: PopPosition, lang: str) -> list[str]:
    words = {key: one.of(lang) for key, one in WORDS.items()}
    x, y = WIDTH / 2, HEIGHT / 2
    facts = (f"{words['village']} {s.village_left}", f"{words['stack']} {s.stack_left}", f"{words['round']} {s.round}")
    text = [
        f'<text x="{x}" y="{y + 18 + 26 * row}" font-size="22" text-anchor="middle" '
        f'fill="{_DUSK}">{escape(fact)}</text>'
        for row, fact in enumerate(facts)
    ]
    return [
        f'<ellipse cx="{x}" cy="{y + 7}" rx="141" ry="113" fill="{_SHADE}"/>'
        f'<ellipse cx="{x}" cy="{y}" rx="140" ry="112" fill="{paint("snow")}"/>',
        f'<g transform="translate({x} {y - 32}) scale(1.8)"><use href="#po-igloo"/></g>',
        *text,
    ]


def _card(place: str, numbers: tuple[int, ...] | None, x: float, y: float) -> list[str]:
    left, top = x - CARD_W / 2, y - CARD_H / 2
    number = place.removeprefix("card")
    line = "" if numbers else f' stroke="{paint("edge")}" stroke-dasharray="4 4"'
    found = [
        f'<rect id="{place}" x="{left:.1f}" y="{top:.1f}" width="{CARD_W}" height="{CARD_H}" rx="8" '
        f'fill="none"{line}/>',
        f'<text x="{left + 8:.1f}" y="{top + 18:.1f}" font-size="16" fill="{paint("ink")}">{number}</text>',
    ]
    if numbers:
        found.insert(0, f'<use href="#po-card{4 - len(numbers)}" x="{left:.1f}" y="{top:.1f}"/>')
        shown = "/".join(map(str, numbers))
        eskimos = "●" * (4 - len(numbers))
        size = 32 if len(numbers) < 3 else 22
        found += [
            f'<text x="{x:.1f}" y="{y + 22:.1f}" font-size="{size}" font-weight="bold" '
            f'text-anchor="middle">{shown}</text>',
            f'<text x="{left + CARD_W - 8:.1f}" y="{top + 18:.1f}" font-size="14" text-anchor="end">{eskimos}</text>',
        ]
    return found


def _igloo(colour: str, number: int | None, x: float, y: float, nth: int, total: int) -> str:
    row, column = divmod(nth, ACROSS)
    in_row = min(ACROSS, total - row * ACROSS)
    at_x = x + 36 * (column - (in_row - 1) / 2)
    at_y = y + CARD_H / 2 + 18 + 34 * row
    found = (
        ""
        if number is None
        else f'<text y="-8" font-size="17" font-weight="bold" text-anchor="middle" fill="{_DUSK}" '
        f'stroke="{paint("lit")}" stroke-width="3" paint-order="stroke">{number}</text>'
    )
    thaler = f'<use href="#po-{colour}" transform="translate(0 3) scale(.8)" stroke="{_DUSK}"/>'
    return (
        f'<g class="{colour}" transform="translate({at_x:.1f} {at_y:.1f})"><use href="#po-igloo"/>{thaler}{found}</g>'
    )
