"""What every drawn position shares: the sheet, the caption with the ruling, the marks of yes and no.

Pictures must read in print, in grey and for colour-blind people: colours never stand alone, each has a shape and a
letter; a refused move has a cross and dashes, a legal one a tick and full lines, and dots lie round what else decided.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from math import hypot
from textwrap import wrap
from typing import Any, Final

from companion.rules import package_name
from companion.rules.core import JSON, Move, Ruling, State
from companion.rules.i18n import Words
from companion.rules.names import told_apart
from companion.rules.rulebook import rulebook

Point = tuple[float, float]

INK = "#1a1a1a"
COLOURS: Final = {
    "red": "#c9303a",
    "yellow": "#e8b31d",
    "green": "#3a9d52",
    "blue": "#2464c4",
    "violet": "#7c47b3",
    "black": "#23262d",
}
"""What pieces are painted with, by what people call it: in all games, and on the page."""
LETTER_ON: Final = dict.fromkeys(COLOURS, "#ffffff") | {"yellow": INK, "green": "#000000"}
"""What is written with on a colour. Red is as dark as blue, green and yellow are light, so
that who cannot tell red from green sees them apart."""
PALETTE: Final = COLOURS | {
    "ink": "#10263a",
    "ink-soft": "#45596b",
    "paper": "#fffdf8",
    "paper-deep": "#f4f1e8",
    "card": "#fffefb",
    "line": "#b9cad5",
    "edge": "#7d93a3",
    "sky": "#cfe7f5",
    "far": "#a9cbe0",
    "water": "#6cb6dc",
    "depth": "#3d8cb9",
    "ripple": "#b0dcf1",
    "snow": "#f3f9fc",
    "lit": "#ffffff",
    "shade": "#b4d0e0",
    "dusk": "#12344d",
    "rock": "#8f8578",
    "cliff": "#5d554b",
    "aurora": "#7ccfa8",
    "orange": "#df7a2a",
}
"""All that is painted with, by day, as the page calls it; at night the page has other values for the same names."""
LINE = 20
"""Height of a caption's line."""

VERDICTS = (Words("refused"), Words("legal"))


def paint(name: str) -> str:
    """Return a colour of the palette as an attribute has it: the page's own, and by itself that of the day.

    Raises KeyError for a name that the palette does not have.
    """
    return f"var(--{name},{PALETTE[name]})"


def drawn_names(game_id: str, names: Iterable[str], colours: Sequence[str], lang: str) -> tuple[str, ...]:
    """Return what players are called in a picture: who has only a colour's English name, by the colour in ``lang``."""
    book = rulebook(game_id)
    plain = {colour.capitalize(): book.words(colour).of(lang).capitalize() for colour in colours}
    return told_apart([plain.get(name, name) for name in names])


def caption(move: Move, ruling: Ruling, lang: str, width: int) -> list[str]:
    """Return the lines below a picture: the move with its verdict, then the sentence with its clauses."""
    sentence = ruling.words.of(lang)
    return [f"{move}: {VERDICTS[ruling.legal].of(lang)}", *wrap(f"{sentence} [{', '.join(ruling.clauses)}]", width)]


def sheet(
    width: int, height: int, title: str, parts: Iterable[str], lines: Sequence[str] = (), definitions: str = ""
) -> str:
    """Return a whole SVG: a sheet of paper with a title for screen readers, the parts, and a caption below.

    ``definitions``: the element of what the parts use; it stands behind the title, where the page looks for it.
    """
    full = height + (LINE * len(lines) + 8 if lines else 0)
    box = f'viewBox="0 0 {width} {full}"'
    text = [
        f'<text class="caption" x="16" y="{height + LINE * row + 12}" font-size="15" '
        f'font-weight="{"normal" if row else "bold"}">{escape(line)}</text>'
        for row, line in enumerate(lines)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" font-family="sans-serif">',
            f"<title>{escape(title)}</title>",
            *([definitions] if definitions else []),
            *([f"<desc>{escape(' '.join(lines))}</desc>"] if lines else []),
            f'<rect width="{width}" height="{full}" fill="{paint("paper")}"/>',
            *parts,
            *text,
            "</svg>",
            "",
        ]
    )


def outline(shape: str, *, legal: bool) -> list[str]:
    """Return the outline of what a move is about: full for a legal one, dashed for a refused one, with a white rim.

    ``shape`` is an element as far as its attributes of place go: ``rect x="3" …`` or ``polygon points="…"``.
    """
    return [
        f'<{shape} class="mark" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>'
        for width, colour, dash in ((8, "#ffffff", ""), (4, INK, dashes(legal=legal)))
    ]


def reason_outline(shape: str) -> list[str]:
    """Return the dotted outline of what a ruling names beside the move, with a white rim."""
    return [
        f'<{shape} class="reason" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linecap="round"{dots}/>'
        for width, colour, dots in ((7, "#ffffff", ""), (4, INK, ' stroke-dasharray="0.1 8"'))
    ]


def dashes(*, legal: bool) -> str:
    """Return the attribute that makes a line of a refused move dashed."""
    return "" if legal else ' stroke-dasharray="9 6"'


def badge(x: float, y: float, *, legal: bool) -> str:
    """Return the tick of a legal move on white, or the cross of a refused one on black."""
    sign = "M-6 0l4 5 8-10" if legal else "M-6-6L6 6M6-6L-6 6"
    ink, ground = (INK, "#ffffff") if legal else ("#ffffff", INK)
    return (
        f'<g class="{"legal" if legal else "refused"}" transform="translate({x:g} {y:g})">'
        f'<circle r="11" fill="{ground}" stroke="{INK}" stroke-width="2"/>'
        f'<path d="{sign}" fill="none" stroke="{ink}" stroke-width="3"/></g>'
    )


def named(facts: Mapping[str, JSON], places: Container[str]) -> list[str]:
    """Return the places that the facts of a ruling name, in their order, each once."""
    found: dict[str, None] = {}
    for value in facts.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one in places:
                found[one] = None
    return list(found)


def picture(state: State[Any], move: Move | None = None, lang: str = "en", *, ruling: Ruling | None = None) -> str:
    """Return a position as SVG text; with a move also its marks, and below the board the ruling with its clauses.

    The move need not be legal here: what it is about is outlined (dashed where it is refused), and what else the ruling
    names is dotted. ``ruling``: that of a move that was judged elsewhere.
    """
    drawing = import_module(f"companion.rules.{package_name(state.game.id)}.svg")
    return str(drawing.draw(state, move, lang, ruling=ruling))


def straight_arrow(begin: Point, end: Point, gaps: tuple[float, float], *, dash: str) -> list[str]:
    """Return an arrow with a white rim between two points; none where both are one.

    ``gaps``: how far off the beginning and short of the end, so that it leads from rim to rim of what stands there.
    """
    (x0, y0), (x1, y1) = begin, end
    length = hypot(x1 - x0, y1 - y0)
    if not length:
        return []
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    off, short = gaps
    x0, y0, x1, y1 = x0 + off * ux, y0 + off * uy, x1 - short * ux, y1 - short * uy
    tip = f"M{x1 - 14 * ux - 7 * uy:.1f} {y1 - 14 * uy + 7 * ux:.1f}L{x1:.1f} {y1:.1f}"
    tip += f"L{x1 - 14 * ux + 7 * uy:.1f} {y1 - 14 * uy - 7 * ux:.1f}"
    shaft = f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"
    found = []
    for width, colour in ((8, "#ffffff"), (3.5, INK)):
        dashes = dash if colour == INK else ""
        style = f'fill="none" stroke="{colour}" stroke-width="{width}"'
        found.append(f'<path class="arrow" d="{shaft}" {style}{dashes}/><path d="{tip}" {style}/>')
    return found
