"""What every drawn position shares: the sheet, the caption with the ruling, the marks of yes and no.

Pictures must read in print, in grey and for colour-blind people: colours are those of Okabe and Ito and never stand
alone, a refused move has a cross and dashes, a legal one a tick and a full line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import hypot
from textwrap import wrap

from companion.rules.core import Move, Ruling

Point = tuple[float, float]

INK = "#1a1a1a"
LINE = 20
"""Height of a caption's line."""

VERDICTS = {"en": ("refused", "legal"), "fr": ("refusé", "permis")}
LEGAL, REFUSED = "#00664d", "#a31f00"


def caption(move: Move, ruling: Ruling, lang: str, width: int) -> list[str]:
    """Return the lines below a picture: the move with its verdict, then the sentence with its clauses."""
    sentence = ruling.fr if lang == "fr" else ruling.en
    return [f"{move}: {VERDICTS[lang][ruling.legal]}", *wrap(f"{sentence} [{', '.join(ruling.clauses)}]", width)]


def sheet(width: int, height: int, title: str, parts: Iterable[str], lines: Sequence[str] = ()) -> str:
    """Return a whole SVG: a white sheet with a title for screen readers, the parts, and a caption below."""
    full = height + (LINE * len(lines) + 8 if lines else 0)
    box = f'viewBox="0 0 {width} {full}"'
    text = [
        f'<text x="16" y="{height + LINE * row + 12}" font-size="15" font-weight="{"normal" if row else "bold"}">'
        f"{escape(line)}</text>"
        for row, line in enumerate(lines)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" font-family="sans-serif">',
            f"<title>{escape(title)}</title>",
            *([f"<desc>{escape(' '.join(lines))}</desc>"] if lines else []),
            f'<rect width="{width}" height="{full}" fill="#ffffff"/>',
            *parts,
            *text,
            "</svg>",
            "",
        ]
    )


def verdict_mark(x: float, y: float, *, legal: bool) -> str:
    """Return a tick or a cross on a white disc."""
    path = "M-7 0l5 6l9-12" if legal else "M-6-6L6 6M6-6L-6 6"
    return (
        f'<g transform="translate({x:.1f} {y:.1f})"><circle r="13" fill="#ffffff" stroke="{INK}"/>'
        f'<path d="{path}" fill="none" stroke="{LEGAL if legal else REFUSED}" stroke-width="4"/></g>'
    )


def frame(x: float, y: float, width: float, height: float, *, legal: bool) -> str:
    """Return the frame round what a move is about: full for legal, dashed for refused."""
    dash = "" if legal else ' stroke-dasharray="9 6"'
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="10" fill="none" '
        f'stroke="{LEGAL if legal else REFUSED}" stroke-width="4"{dash}/>'
    )


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
