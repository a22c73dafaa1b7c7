"""The pieces of Arctic's picture: animals as silhouettes in shapes, cards, boxes, arrows."""

from __future__ import annotations

from html import escape

from companion.rules.arctic.components import ANIMALS, BOX, FACE_DOWN, KIND, UNKNOWN
from companion.rules.drawing import INK, dashes, paint

PALE = paint("paper-deep")
THICK = 2

# The colours that stay apart for colour-blind people; the shape and the silhouette say the same again.
FILL = ("#d55e00", "#e69f00", "#cc79a7", "#0072b2", "#f0e442", "#ffffff")
TINT = (FILL[0], FILL[1], FILL[2], FILL[3], FILL[4], paint("ripple"))
"""What a card of an animal is tinted with; the bear's, which is white, with ice."""
ON = ("#ffffff", INK, INK, "#ffffff", INK, INK)
_SHAPE = (
    '<path d="M0-17L16 12H-16z"/>',  # fox: triangle
    '<rect x="-14" y="-14" width="28" height="28"/>',  # moose: square
    '<circle r="15"/>',  # walrus: circle
    '<path d="M0-18L18 0 0 18-18 0z"/>',  # orca: diamond
    '<path d="M0-17L16-5 10 14H-10L-16-5z"/>',  # puffin: pentagon
    '<path d="M-7-16H7L16-7V7L7 16H-7L-16 7V-7z"/>',  # bear: octagon
)
SILHOUETTES = (
    # fox: head with pointed ears
    "M-7.5-1.5L-3.2 1.6Q0 .7 3.2 1.6L7.5-1.5Q9.5 5 3.8 8L0 11.2-3.8 8Q-9.5 5-7.5-1.5z"
    "M-4.05 4.4a0.95 0.95 0 1 0 1.9 0a0.95 0.95 0 1 0-1.9 0zM2.15 4.4a0.95 0.95 0 1 0 1.9 0"
    "a0.95 0.95 0 1 0-1.9 0z",
    # moose: antlers
    "M-3 11Q-4 6-3 1L-5-1Q-11-1-12.2-10L-9.5-6.5-8.5-11-6-6-4.5-9-3-3H3"
    "L4.5-9 6-6 8.5-11 9.5-6.5 12.2-10Q11-1 5-1L3 1Q4 6 3 11Q0 13-3 11z",
    # walrus: tusks
    "M-9 1Q-10-10 0-11Q10-10 9 1Q9 5 6 5.5L4.5 13 2.5 6H-2.5L-4.5 13-6 5.5Q-9 5-9 1zM-4.9 -4"
    "a1.3 1.3 0 1 0 2.6 0a1.3 1.3 0 1 0-2.6 0zM2.3 -4a1.3 1.3 0 1 0 2.6 0a1.3 1.3 0 1 0-2.6 0"
    "z",
    # orca: back fin and fluke
    "M-12.5 1Q-9-5-2-5L0-12 4-4.5Q8-3.5 9.5-.5L13-3 12.2 1 13 4 9.5 3Q4 7-4 6.5"
    "Q-11.5 5.5-12.5 1zM-9.5-.5a2 1.1 0 1 0 4 0a2 1.1 0 1 0-4 0z",
    # puffin: beak
    "M-1-12Q5-12 5-5Q9.5 1 7 8L9 11.5 4 11.3Q1 13-3 11.8Q-7 6-4-1Q-5-2.5-5-3.5L-11.5-4"
    "Q-11-9.5-5-9.5Q-4-12-1-12zM-2.2 -7.5a1.4 1.4 0 1 0 2.8 0a1.4 1.4 0 1 0-2.8 0z",
    # bear: head with round ears
    "M-10.5-7A4.3 4.3 0 0 1-3.5-11Q0-12 3.5-11A4.3 4.3 0 0 1 10.5-7Q10.5-5.5 9.5-4.5"
    "Q11.5 1 9 6Q6 11.5 0 11.5Q-6 11.5-9 6Q-11.5 1-9.5-4.5Q-10.5-5.5-10.5-7zM-5.4 -2"
    "a1.4 1.4 0 1 0 2.8 0a1.4 1.4 0 1 0-2.8 0zM2.6 -2a1.4 1.4 0 1 0 2.8 0a1.4 1.4 0 1 0-2.8 0"
    "zM-2.6 4a2.6 1.8 0 1 0 5.2 0a2.6 1.8 0 1 0-5.2 0z",
)
"""The animals as paths about their shape's middle; holes are eyes and noses."""

Rect = tuple[float, float, float, float]
"""x, y, width, height."""


def _symbol(number: int) -> str:
    """Return an animal as a symbol: its shadow, its shape, its colour, its silhouette."""
    shape, line = _SHAPE[number], f'stroke="{paint("ink")}" stroke-width="1.6" stroke-linejoin="round"'
    return (
        f'<g id="ar-{ANIMALS[number]}"><g class="shadow" transform="translate(1 3)" fill="{paint("dusk")}" '
        f'opacity=".35">{shape}</g><g fill="{FILL[number]}" {line}>{shape}</g>'
        f'<path d="{SILHOUETTES[number]}" fill="{ON[number]}" fill-rule="evenodd"/></g>'
    )


DEFS = "".join(
    [
        '<defs><pattern id="ar-back" width="16" height="16" patternUnits="userSpaceOnUse"><path d="M0 0h16v16H0z" '
        f'fill="{paint("depth")}"/><path d="M8 2v12M2.8 5l10.4 6M13.2 5L2.8 11" stroke="{paint("ripple")}" '
        'stroke-width="1.2" stroke-linecap="round" opacity=".8"/></pattern>',
        '<pattern id="ar-land" x="20" y="52" width="148" height="104" patternUnits="userSpaceOnUse"><path '
        f'd="M0 0h148v104H0z" fill="{paint("sky")}"/><path d="M0 78L24 54 40 68 66 42 92 70 112 52 148 80v24H0z" '
        f'fill="{paint("far")}"/><path d="M0 72q40-10 74-2t74-6v40H0z" fill="{paint("snow")}"/><path '
        f'd="M0 92q50-12 90 2t58-6v16H0z" fill="{paint("shade")}"/></pattern>',
        *(_symbol(number) for number in range(6)),
        "</defs>",
    ]
)


def text(
    x: float, y: float, words: str, size: float, *, anchor: str = "start", bold: bool = False, fill: str = ""
) -> str:
    """Return a line of text; ``y`` is its base line."""
    look = (' font-weight="bold"' if bold else "") + (f' fill="{fill}"' if fill else "")
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"{look}>{escape(words)}</text>'


def box(rect: Rect, *, fill: str = paint("card"), width: float = 1.2, dash: str = "", radius: float = 6) -> str:
    """Return a rectangle with round corners; a line of ``THICK`` or more is drawn in ink."""
    x, y, w, h = rect
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}" fill="{fill}" '
        f'stroke="{paint("edge" if width < THICK else "ink")}" stroke-width="{width:g}"{dashes}/>'
    )


def shaded(rect: Rect, *, fill: str = paint("card")) -> str:
    """Return a card with its shadow on the table."""
    x, y, w, h = rect
    shadow = f'<rect class="shadow" x="{x + 1:g}" y="{y + 3:g}" width="{w:g}" height="{h:g}" rx="7" '
    return f'{shadow}fill="{paint("dusk")}" opacity=".3"/>{box(rect, fill=fill)}'


def animal(number: int, x: float, y: float, scale: float = 1) -> str:
    """Return an animal: its shape, its colour, its silhouette."""
    place = f"translate({x:g} {y:g}) scale({scale:g})"
    return f'<g class="{ANIMALS[number]}" transform="{place}"><use href="#ar-{ANIMALS[number]}"/></g>'


def tinted(number: int, rect: Rect) -> str:
    """Return the tint of a card that has an animal: within its rim, and with a snowy ground below."""
    x, y, w, h = rect
    return (
        f'<rect x="{x + 4:g}" y="{y + 4:g}" width="{w - 8:g}" height="{h - 8:g}" rx="4" fill="{TINT[number]}" '
        'fill-opacity=".22"/>'
    )


def card(number: int, rect: Rect) -> list[str]:
    """Return a whole card: its animal, the companion, and with a triangle each the placement (down) and draw value."""
    x, y, w, h = rect
    if number >= FACE_DOWN or number == UNKNOWN:
        return [shaded(rect, fill="url(#ar-back)"), text(x + w / 2, y + h / 2 + 8, "?", 24, anchor="middle", bold=True)]
    if number >= KIND:
        return [shaded(rect), tinted(number - KIND, rect), animal(number - KIND, x + w / 2, y + h / 2, 1.3)]
    _, main, placement, draw, companion = BOX[number]
    left, right, low = x + w * 0.26, x + w * 0.74, y + h - 12
    return [
        shaded(rect),
        tinted(main, rect),
        animal(main, x + w / 2, y + 28, 1.15),
        text(x + w / 2 - 12, y + 68, "+", 15, anchor="middle"),
        animal(companion, x + w / 2 + 8, y + 64, 0.68),
        f'<path d="M{left - 17:g} {low - 11:g}h12l-6 10z" fill="{paint("ink")}"/>',
        text(left - 1, low, str(placement), 20, bold=True),
        f'<path d="M{right - 17:g} {low - 1:g}h12l-6-10z" fill="none" stroke="{paint("ink")}" stroke-width="1.4"/>',
        text(right - 1, low, str(draw), 20, bold=True),
    ]


def small_card(number: int, read: int, rect: Rect) -> list[str]:
    """Return a card of a fanned pile: its animal; one that lies face down is hatched, with what it counts as."""
    x, y, w, h = rect
    hidden = number >= FACE_DOWN or number == UNKNOWN
    parts = [box(rect, fill="url(#ar-back)" if hidden else PALE, width=1)]
    if read >= 0:
        parts.append(animal(read, x + w / 2, y + h / 2, 0.68 if hidden else 0.82))
    else:
        parts.append(text(x + w / 2, y + h / 2 + 6, "?", 17, anchor="middle", bold=True))
    return parts


def footprint(x: float, y: float) -> str:
    """Return the footprint of the starting player."""
    toes = "".join(f'<circle cx="{dx}" cy="{dy}" r="2.6"/>' for dx, dy in ((-7, -3), (-2.5, -8), (3.5, -8), (8, -3)))
    sole = '<ellipse cy="4" rx="6" ry="5"/>'
    return f'<g class="footprint" transform="translate({x:g} {y:g})" fill="{paint("ink")}">{sole}{toes}</g>'


def frame(rect: Rect) -> str:
    """Return the outline around what a step is about, as far as its place goes."""
    x, y, w, h = rect
    return f'rect x="{x - 3:g}" y="{y - 3:g}" width="{w + 6:g}" height="{h + 6:g}" rx="8"'


def arrow(x0: float, y0: float, x1: float, y1: float, *, legal: bool) -> list[str]:
    """Return an arrow that bows upwards from one point to another."""
    dash = dashes(legal=legal)
    top = min(y0, y1) - 30
    way = 1 if x1 > x0 else -1
    shaft = f"M{x0:g} {y0:g}Q{(x0 + x1) / 2:g} {top:g} {x1:g} {y1:g}"
    tip = f"M{x1 - 13 * way:g} {y1 - 11:g}L{x1:g} {y1:g}L{x1 - 2 * way:g} {y1 - 17:g}"
    return [
        f'<path class="arrow" d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"'
        f"{dash if colour == INK and path is shaft else ''}/>"
        for path in (shaft, tip)
        for width, colour in ((8, "#ffffff"), (3.5, INK))
    ]
