"""The signs of Iglu Iglu's pictures: sea and ice, tribes, animals, each about its own middle and with its shadow."""

from __future__ import annotations

from typing import Final

from companion.rules.drawing import paint
from companion.rules.i18n import Words

# Each tribe has a shape and a letter besides its colour.
LETTER: Final = {
    "red": Words("R"),
    "blue": Words("B"),
    "yellow": Words("Y"),
    "green": Words("G"),
}
SHAPE: Final = {
    "red": "M-11.5 0a11.5 11.5 0 1 1 23 0 11.5 11.5 0 1 1-23 0z",
    "blue": "M-10.5-10.5h21v21h-21z",
    "yellow": "M0-14L13 10H-13z",
    "green": "M0-14L14 0 0 14-14 0z",
}

_DUSK, _LIT, _SNOW, _SHADE = paint("dusk"), paint("lit"), paint("snow"), paint("shade")
_WATER, _DEPTH, _RIPPLE, _ROCK, _CLIFF = (paint(name) for name in ("water", "depth", "ripple", "rock", "cliff"))
_FLOE = "M13 3L49 3.5 60 12 61 42 51 53 15 54 4 45 3 14z"
_BLOCK = "M18 9L46 9.5 54 16 54 35 46 43 19 44 11 36 11 16z"
_SHADOW = f'<ellipse class="shadow" cy="13" rx="14" ry="4.5" fill="{_DUSK}" opacity=".35"/>'


def _ground(name: str, body: str) -> str:
    """Return a pattern that has what is drawn of a square, as large as one."""
    return (
        f'<pattern id="ig-{name}" x="24" y="24" width="64" height="64" patternUnits="userSpaceOnUse">{body}</pattern>'
    )


def _tile(path: str, deep: int) -> str:
    """Return ice: its shadow in the water, its edge that is ``deep`` pixels high, and the snow on it."""
    return (
        f'<path class="shadow" d="{path}" transform="translate(0 {deep + 4})" fill="{_DUSK}" opacity=".3"/>'
        f'<path d="{path}" transform="translate(0 {deep})" fill="{_SHADE}" stroke="{_DUSK}" stroke-width="1.2"/>'
        f'<path d="{path}" fill="{_SNOW}" stroke="{_DUSK}" stroke-width="1.2" stroke-linejoin="round"/>'
    )


def _tribe(colour: str) -> str:
    """Return an inuit and an igloo of a tribe, as symbols."""
    fill = f'fill="{paint(colour)}" stroke="{_DUSK}" stroke-width="1.5" stroke-linejoin="round"'
    return (
        f'<g id="ig-inuit-{colour}">{_SHADOW}<path d="{SHAPE[colour]}" transform="translate(0 2.5)" fill="{_DUSK}" '
        f'stroke="{_DUSK}"/><path d="{SHAPE[colour]}" {fill}/></g>'
        f'<g id="ig-igloo-{colour}"><use href="#ig-shadow"/><path d="M-15 12v-7a15 18 0 0 1 30 0v7z" {fill}/>'
        '<use href="#ig-blocks"/></g>'
    )


DEFS: Final = "".join(
    [
        '<defs><radialGradient id="ig-sea" r=".75">',
        f'<stop stop-color="{_WATER}"/><stop offset="1" stop-color="{_DEPTH}"/></radialGradient>',
        _ground(
            "water",
            f'<g fill="none" stroke="{_RIPPLE}" stroke-linecap="round"><path d="M0 0H64M0 0V64" opacity=".5"/>'
            '<path stroke-width="1.6" opacity=".8" d="M9 20q5-4.5 10 0t10 0M35 47q5-4.5 10 0t10 0M42 13q3-3 6 0t6 0'
            'M8 52q3-3 6 0t6 0"/></g>',
        ),
        _ground(
            "floe",
            _tile(_FLOE, 4) + f'<path d="M10 14l5-6h11M54 40l-5 6" fill="none" stroke="{_LIT}" '
            f'stroke-width="2.5"/><path d="M12 42l7-3 4 5M47 10l-2 6 6 3" fill="none" stroke="{_SHADE}"/>',
        ),
        _ground("pack", _tile(_FLOE, 7) + _tile(_BLOCK, 4)),
        _ground(
            "land",
            f'<path d="M0 0h64v64H0z" fill="{_ROCK}"/><path d="M2 60L22 12 35 42 45 24 62 60z" '
            f'fill="{_CLIFF}"/><path d="M22 12L14 31l6-4 4 5 5-3zM45 24l-7 13 5-2 3 4 5-3z" fill="{_SNOW}"/>',
        ),
        f'<g id="ig-shadow">{_SHADOW}</g>',
        f'<g id="ig-blocks"><path d="M-14.5 5h9M5.5 5h9M-13-4h4M9-4h4M-10 5v7M10 5v7M-10.5-4v9M10.5-4v9" '
        f'fill="none" stroke="{_LIT}" opacity=".7"/><path d="M-4.5 12v-2a4.5 4.5 0 0 1 9 0v2z" fill="{_DUSK}"/></g>',
        *(_tribe(colour) for colour in SHAPE),
        f'<g id="ig-fish">{_SHADOW}<path d="M-15 0q11-17 21-2l9-8-2 10 2 10-9-8q-10 15-21-2z" fill="#bfe3ee" '
        f'stroke="{_DUSK}" stroke-width="1.5"/><path d="M-7-5q3 5 0 9" fill="none" stroke="{_DUSK}"/>'
        f'<circle cx="-10.5" cy="-1.5" r="1.3" fill="{_DUSK}"/></g>',
        f'<g id="ig-fox">{_SHADOW}<path d="M-12-13l7 4h10l7-4-2 14-10 12-10-12z" fill="#f09a4e" stroke="{_DUSK}" '
        f'stroke-width="1.5" stroke-linejoin="round"/><path d="M-9.5 0Q-4 0-3 4L0 12.5 3 4Q4 0 9.5 0L0 12.500z" '
        f'fill="#ffffff"/><circle cx="-5" cy="-3.5" r="1.3" fill="{_DUSK}"/><circle cx="5" cy="-3.5" r="1.3" '
        f'fill="{_DUSK}"/></g>',
        f'<g id="ig-bear">{_SHADOW}<path d="M-9-8a5 5 0 1 1 6-4a12 12 0 0 1 6 0a5 5 0 1 1 6 4a12 12 0 1 1-18 0z" '
        f'fill="#ffffff" stroke="{_DUSK}" stroke-width="1.8"/><circle cx="-4.5" cy="-6" r="1.5" fill="{_DUSK}"/>'
        f'<circle cx="4.5" cy="-6" r="1.5" fill="{_DUSK}"/><ellipse cy="-2" rx="2.5" ry="1.8" fill="{_DUSK}"/></g>',
        "</defs>",
    ]
)
