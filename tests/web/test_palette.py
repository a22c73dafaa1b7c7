"""What the page and the pictures of the rules are painted with: one table, by day and by night, all of it readable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.rules.drawing import COLOURS, LETTER_ON, PALETTE

STATIC = Path(__file__).parents[2] / "web" / "static"
CSS = (STATIC / "css" / "ice.css").read_text(encoding="utf-8")


def values(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[\da-f]{6});", block))


DAY = values(CSS.partition("@media")[0])
NIGHT = values(CSS.partition("@media screen and (prefers-color-scheme: dark)")[2].partition("\n}\n")[0])


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_rules_and_the_page_have_one_palette() -> None:
    assert {name: DAY[name] for name in PALETTE} == PALETTE
    assert NIGHT.keys() >= PALETTE.keys()


def test_what_is_shared_is_painted_with_it() -> None:
    shared = (STATIC / "js" / "share.js").read_text(encoding="utf-8")
    for kind in (r"\.piece\.COLOUR", r"\.COLOUR \.disc(?:, \.p\d \.disc)?"):
        for colour in ("red", "yellow", "green", "blue"):
            found = re.findall(kind.replace("COLOUR", colour) + r" \{ fill: (#\w+) \}", shared)
            assert set(found) == {COLOURS[colour]}, (kind, colour)


@pytest.mark.parametrize(("theme", "of"), [("day", DAY), ("night", NIGHT)])
def test_pieces_and_letters_stand_out(theme: str, of: dict[str, str]) -> None:
    for colour in COLOURS:
        assert contrast(of[colour], LETTER_ON[colour]) >= 4.5, (theme, colour)
    # The outline of a piece, and what is written on ice; the edges of floes; the lines on paper and on cards.
    assert contrast(of["dusk"], of["snow"]) >= 4.5
    assert min(contrast(of["dusk"], of[ground]) for ground in ("shade", "lit")) >= 3
    assert max(contrast(of["snow"], of["water"]), contrast(of["dusk"], of["water"])) >= 3
    for ground in ("paper", "paper-deep", "card"):
        assert contrast(of["ink"], of[ground]) >= 4.5
    assert contrast(of["ink-soft"], of["card"]) >= 4.5
    assert contrast(of["edge"], of["paper"]) >= 3
    # Who cannot tell red from green sees them apart.
    assert contrast(of["red"], of["green"]) >= 1.4


def test_the_night_is_dark_on_screens_only() -> None:
    for name in ("water", "depth", "paper", "card", "sky"):
        assert luminance(NIGHT[name]) < 0.12 < luminance(DAY[name])
    assert "\n@media (prefers-color-scheme: dark)" not in CSS, "paper is white"
