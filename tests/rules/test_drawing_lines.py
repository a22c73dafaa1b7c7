"""Drawings are written line by line, so that a page reads of the next one only what was not there before."""

from __future__ import annotations

import re
from random import Random
from xml.etree import ElementTree

import pytest

from companion.rules import game, games
from companion.rules.drawing import picture

MOVES = 60
WHOLE = r"\s*<svg[^>]*>\s*(?:<title>[^<]*</title>\s*)?(?:<defs>.*?</defs>)?(.*)</svg>\s*"
"""The drawing's own tag, its title, its definitions; then what is drawn."""


def lines(drawn: str) -> list[str]:
    """Return what a drawing says behind its definitions, as `drawing.js` takes it apart: a group on several is one."""
    whole = re.fullmatch(WHOLE, drawn, re.DOTALL)
    assert whole is not None
    found: list[str] = []
    deep = 0
    for line in whole[1].splitlines():
        if deep:
            found[-1] += f"\n{line}"
        elif line:
            found.append(line)
        deep += line.count("<g>") + line.count("<g ") - line.count("</g>")
    return found


@pytest.mark.parametrize("name", games(examples=True))
def test_each_line_of_a_drawing_stands_by_itself(name: str) -> None:
    chance = Random(7)
    played = game(name)
    state = played.start(played.seats(played.players[0]))
    kept = []
    for _ in range(MOVES):
        moves = list(state.moves())
        if not moves:
            break
        before = set(lines(picture(state)))
        state = state.play(chance.choice(moves))
        now = lines(picture(state))
        for line in now:
            ElementTree.fromstring(f"<g>{line}</g>")  # noqa: S314 - drawn by ourselves
        kept.append(len(before & set(now)) / len(set(now)))
    # Most moves leave most of a board as it is.
    assert sorted(kept)[len(kept) // 2] > 0.7
