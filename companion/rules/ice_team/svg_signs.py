"""The signs of Ice Team's pictures: patterns, tiles and bears, each about its own middle."""

from __future__ import annotations

from typing import Final

from companion.rules.drawing import INK, LETTER_ON, paint
from companion.rules.i18n import Words

# Each team has a shape and a letter besides its colour.
LETTER: Final = {"green": Words("G"), "red": Words("R")}
SHAPE: Final = {"green": '<circle r="13"/>', "red": '<path d="M0-15.5L15.5 0 0 15.5-15.5 0z"/>'}

_DUSK, _LIT, _SNOW, _SHADE = paint("dusk"), paint("lit"), paint("snow"), paint("shade")
_DOME: Final = "M-19 12v-6a19 20 0 0 1 38 0v6z"
_DOOR: Final = "M-7 12v-6a7 7 0 0 1 14 0v6z"
_SHADOW: Final = f'<ellipse class="shadow" cy="13" rx="17" ry="4.5" fill="{_DUSK}" opacity=".35"/>'


def sign(name: str, kind: str = "") -> str:
    """Return a sign of ``definitions``; ``kind``: its class, where that is not its name."""
    return f'<use class="{kind or name}" href="#it-{name}"/>'


def definitions(floe: str, grid: str) -> str:
    """Return what a picture is drawn with; ``floe``: a floe's corners about its middle, as an attribute has them."""
    path = f"M{floe}z"
    return "".join(
        [
            '<defs><pattern id="it-sea" width="44" height="30" patternUnits="userSpaceOnUse">',
            f'<path d="M0 0h44v30H0z" fill="{paint("water")}"/><g fill="none" stroke="{paint("ripple")}" '
            'stroke-linecap="round" stroke-width="1.5" opacity=".8"><path d="M5 8q4-4 8 0t8 0M27 22q4-4 8 0t8 0"/></g>',
            '</pattern><linearGradient id="it-ice" x2=".3" y2="1">',
            f'<stop offset=".5" stop-color="{_SNOW}"/><stop offset="1" stop-color="{_SHADE}"/></linearGradient>',
            '<pattern id="it-land" width="40" height="26" patternUnits="userSpaceOnUse">',
            f'<path d="M0 0h40v26H0z" fill="{_SNOW}"/><path d="M3 10q7-6 14 0M22 21q7-6 14 0" fill="none" '
            f'stroke="{_SHADE}" stroke-width="2" stroke-linecap="round"/></pattern>',
            f'<g id="it-under-{grid}"><path class="shadow" d="{path}" transform="translate(0 7)" fill="{_DUSK}" '
            f'opacity=".3"/><path d="{path}" transform="translate(0 4)" fill="{_SHADE}" stroke="{_DUSK}" '
            'stroke-linejoin="round"/></g>',
            f'<g id="it-cracks"><path d="M-25-6l8 3-2 7 7 3M25-8l-7 4 3 6-8 5M-4-25l3 7-5 4M-9 24l4-7 6 1M16 19l-5-5" '
            f'fill="none" stroke="{_DUSK}" stroke-width="1.5"/></g>',
            f'<g id="it-penguin"><ellipse class="shadow" cy="11" rx="7" ry="2" fill="{_DUSK}" opacity=".35"/>'
            f'<path d="M-5.4-2a5.4 6.5 0 0 1 10.8 0v5a5.4 7.5 0 0 1-10.8 0z" fill="{INK}"/>'
            f'<ellipse cy="4" rx="3.4" ry="6" fill="#ffffff"/><path d="M-2-4.500l2 3.5 2-3.500z" fill="#f0a030"/>'
            f'<path d="M-5 10.500h4M1 10.500h4" stroke="#f0a030" stroke-width="2.2" stroke-linecap="round"/></g>',
            f'<g id="it-pad" fill="{_DUSK}"><path d="M-8 8q0-9 8-9t8 9q0 6-8 3-8 3-8-3z"/>'
            '<ellipse cx="-9" cy="-3" rx="3" ry="4"/><ellipse cx="-3.4" cy="-8" rx="3" ry="4.2"/>'
            '<ellipse cx="3.4" cy="-8" rx="3" ry="4.2"/><ellipse cx="9" cy="-3" rx="3" ry="4"/></g>',
            f'<g id="it-waves" fill="none" stroke="{paint("depth")}" stroke-width="2.8" stroke-linecap="round">'
            '<path d="M-17-5q5-6 10 0t10 0 9-1"/>'
            '<path d="M8-11l6 4-4 6"/><path d="M17 8q-5-6-10 0t-10 0-9-1"/><path d="M-8 14l-6-4 4-6"/></g>',
            f'<g id="it-dome"><use href="#it-shadow"/><path d="{_DOME}" fill="{_LIT}" stroke="{_DUSK}" '
            f'stroke-width="1.8"/><path d="M-18 4H18M-12-6H12M-9 4v8M9 4v8M0-14v8M-12-6v10M12-6v10" fill="none" '
            f'stroke="{_SHADE}" stroke-width="1.5"/><path d="M-12 0q9-11 17-1l6-5v12l-6-5q-8 8-17-1z" fill="#f6a27c" '
            f'stroke="{_DUSK}" stroke-width="1.3"/><circle cx="-7.5" cy="-1" r="1.2" fill="{_DUSK}"/></g>',
            f'<g id="it-empty"><use href="#it-shadow"/><path d="{_DOME}" fill="{_SHADE}" stroke="{_DUSK}" '
            f'stroke-width="1.8" stroke-dasharray="3 2.5"/><path d="{_DOOR}" fill="{_DUSK}"/></g>',
            f'<g id="it-shadow">{_SHADOW}</g>',
            *(_bear(colour) for colour in SHAPE),
            "</defs>",
        ]
    )


def _bear(colour: str) -> str:
    """Return a team's bear, as a symbol: ears and the team's shape."""
    fill, edge = paint(colour), f'stroke="{_DUSK}" stroke-width="1.6" stroke-linejoin="round"'
    return (
        f'<g id="it-{colour}"><use href="#it-shadow"/><g transform="translate(0 2.5)" fill="{_DUSK}">'
        f"{SHAPE[colour]}</g>"
        f'<g fill="{fill}" {edge}><circle cx="-9" cy="-10" r="4.5"/><circle cx="9" cy="-10" r="4.5"/>'
        f"{SHAPE[colour]}</g></g>"
    )


def bear(colour: str, count: int, at: tuple[float, float], lang: str) -> str:
    """Return a team's bears at a place: ears, the team's shape with its letter, and the number where it is not one."""
    number = (
        f'<text y="25" font-size="13" font-weight="bold" text-anchor="middle" stroke="#ffffff" stroke-width="3.5" '
        f'paint-order="stroke" fill="{INK}">×{count}</text>'
        if count > 1
        else ""
    )
    return (
        f'<g class="bear {colour}" transform="translate({at[0]:.1f} {at[1]:.1f})">'
        f'<use href="#it-{colour}"/><text y="5" font-size="14" font-weight="bold" text-anchor="middle" '
        f'fill="{LETTER_ON[colour]}">{LETTER[colour].of(lang)}</text>{number}</g>'
    )
