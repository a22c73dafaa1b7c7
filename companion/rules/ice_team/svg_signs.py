"""The signs of Ice Team's pictures: patterns, tiles and bears, each about its own middle."""

from __future__ import annotations

from typing import Final

from companion.rules.i18n import Words

INK: Final = "#1a1a1a"

# Colours that stay apart for colour-blind people (Okabe and Ito); each team has a shape and a letter besides.
FILL: Final = {"green": "#009e73", "red": "#d55e00"}
LETTER: Final = {"green": Words("G"), "red": Words("R")}
SHAPE: Final = {"green": '<circle r="13"/>', "red": '<path d="M0-15.5L15.5 0 0 15.5-15.5 0z"/>'}

DEFS: Final = """<defs>
<pattern id="sea" width="16" height="12" patternUnits="userSpaceOnUse"><rect width="16" height="12" fill="#bfe0f2"/>\
<path d="M0 6q4-4 8 0t8 0" fill="none" stroke="#6aa9cf" stroke-width="1.2"/></pattern>
<pattern id="ice" width="14" height="14" patternUnits="userSpaceOnUse"><rect width="14" height="14" fill="#ffffff"/>\
<circle cx="7" cy="7" r="0.9" fill="#c3ccd3"/></pattern>
<pattern id="land" width="14" height="14" patternUnits="userSpaceOnUse"><rect width="14" height="14" fill="#d8cfc0"/>\
<path d="M0 14L14 0" stroke="#b3a58f" stroke-width="1.4"/></pattern>
</defs>"""

CRACKS: Final = (
    f'<path class="cracks" d="M-25-6l8 3-2 7 7 3M25-8l-7 4 3 6-8 5M-4-25l3 7-5 4M-9 24l4-7 6 1M16 19l-5-5" '
    f'fill="none" stroke="{INK}" stroke-width="1.5"/>'
)

PENGUIN: Final = (
    f'<g class="penguin"><ellipse cy="1" rx="5.4" ry="9.5" fill="{INK}"/><ellipse cy="4" rx="3" ry="6" '
    f'fill="#ffffff"/><path d="M-2-6l2 4 2-4z" fill="#e69f00"/><path d="M-5 10h4M1 10h4" stroke="{INK}" '
    'stroke-width="2"/></g>'
)

PAW_SIGN: Final = (
    f'<g class="pad" fill="{INK}"><path d="M-8 8q0-9 8-9t8 9q0 6-8 3-8 3-8-3z"/>'
    '<ellipse cx="-9" cy="-3" rx="3" ry="4"/><ellipse cx="-3.4" cy="-8" rx="3" ry="4.2"/>'
    '<ellipse cx="3.4" cy="-8" rx="3" ry="4.2"/><ellipse cx="9" cy="-3" rx="3" ry="4"/></g>'
)

DRIFT: Final = (
    '<g class="waves" fill="none" stroke="#005b8f" stroke-width="2.6"><path d="M-17-5q5-6 10 0t10 0 9-1"/>'
    '<path d="M8-11l6 4-4 6"/><path d="M17 8q-5-6-10 0t-10 0-9-1"/><path d="M-8 14l-6-4 4-6"/></g>'
)

_DOME: Final = "M-19 12v-6a19 20 0 0 1 38 0v6h-12v-6a7 7 0 0 0-14 0v6z"
_FISH: Final = '<path class="caught" d="M-9-2q7-9 13-1l5-4v10l-5-4q-6 8-13-1z" fill="#ffffff" stroke="#1a1a1a"/>'
IGLOO_SIGN: Final = (
    f'<g class="dome"><path d="{_DOME}" fill="#9ccbe6" stroke="{INK}" stroke-width="1.8"/>'
    f'<g transform="translate(0 -5) scale(0.95)">{_FISH}</g></g>',
    f'<g class="dome empty"><path d="{_DOME}" fill="#ffffff" stroke="{INK}" stroke-width="1.8" '
    f'stroke-dasharray="3 2.5"/><path d="M-7 12v-6a7 7 0 0 1 14 0v6z" fill="{INK}"/></g>',
)
"""An igloo with its fish, and one that was searched: a dashed dome with an open door."""


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
        f'<g fill="{FILL[colour]}" stroke="{INK}" stroke-width="1.8"><circle cx="-9" cy="-10" r="4.5"/>'
        f'<circle cx="9" cy="-10" r="4.5"/>{SHAPE[colour]}</g>'
        f'<text y="5" font-size="14" font-weight="bold" text-anchor="middle" fill="#ffffff">{LETTER[colour].of(lang)}'
        f"</text>{number}</g>"
    )
