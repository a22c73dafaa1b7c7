"""Arctic's score: runs of a pile with face-down cards assigned at their best, totem, penalties (ARC-V.*)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from companion.rules.arctic.cards import ANIMALS, FACE_DOWN, LANDSCAPE, MAIN, RUN_POINTS
from companion.rules.core import PlayerScore, ScoreLine, ScoreSheet

if TYPE_CHECKING:
    from companion.rules.arctic.state import ArcticState

ANY = -1
"""An animal code for a face-down card, and for a card nobody has shown us (which then counts as nothing)."""

NOTHING = -2


class Assignment(NamedTuple):
    """The best reading of a pile: points of the runs, each animal's longest run, and every card's animal."""

    points: int
    longest: tuple[int, ...]
    animals: tuple[int, ...]


def points_of(longest: tuple[int, ...]) -> int:
    """Return the points of six longest runs, with the bonus for different animals (ARC-V.1, ARC-V.2)."""
    return sum(RUN_POINTS[length] for length in longest) + RUN_POINTS[sum(length >= 2 for length in longest)]


class _Reading(NamedTuple):
    """A partial reading of a pile: the run that is open, and the longest counted runs so far (capped at 6)."""

    animal: int
    length: int
    shown: bool
    longest: tuple[int, ...]


class _Choice(NamedTuple):
    """What a face-down card was taken for, and the choices before it."""

    animal: int
    before: _Choice | None


def best_assignment(kinds: Sequence[int], *, alone: bool = True) -> Assignment:
    """Return the reading of a pile that scores most.

    ``kinds`` are the main animals from bottom to top, ANY for a face-down card, NOTHING for an unknown one.
    A search over partial readings, of which only distinct ones are kept: the longest runs are capped at six
    and forced cards branch once, so a whole pile takes milliseconds. ``alone``: whether neighbouring
    face-down cards may be a run without a face-up card (``arc.facedown_alone``).
    """
    readings: dict[_Reading, _Choice | None] = {_Reading(NOTHING, 0, False, (0,) * 6): None}
    for kind in kinds:
        following: dict[_Reading, _Choice | None] = {}
        for reading, choice in readings.items():
            for animal in range(6) if kind == ANY else (kind,):
                step = _extend(reading, animal, shown=kind != ANY, alone=alone)
                if step not in following:
                    following[step] = _Choice(animal, choice) if kind == ANY else choice
        readings = following
    best = max(readings, key=lambda reading: (points_of(reading.longest), reading.longest))
    chosen: list[int] = []
    last = readings[best]
    while last is not None:
        chosen.append(last.animal)
        last = last.before
    animals = tuple(chosen.pop() if kind == ANY else kind for kind in kinds)
    return Assignment(points_of(best.longest), best.longest, animals)


def _extend(reading: _Reading, animal: int, *, shown: bool, alone: bool) -> _Reading:
    if animal < 0:
        return _Reading(NOTHING, 0, False, reading.longest)
    same = animal == reading.animal
    length = min(6, reading.length + 1) if same else 1
    shown = shown or (same and reading.shown)
    longest = reading.longest
    if length >= 2 and (shown or alone) and length > longest[animal]:
        longest = (*longest[:animal], length, *longest[animal + 1 :])
    return _Reading(animal, length, shown, longest)


def kinds_of(pile: tuple[int, ...]) -> list[int]:
    """Return the main animals of a pile's cards for :func:`best_assignment`."""
    return [ANY if card >= FACE_DOWN else MAIN[card] if MAIN[card] >= 0 else NOTHING for card in pile]


def sheet(s: ArcticState) -> ScoreSheet:
    """Return the score sheets of a position; a tie goes to the first in turn order from the footprint (ARC-V.4)."""
    return ScoreSheet(tuple(_player(s, seat) for seat in range(s.players)))


def _player(s: ArcticState, seat: int) -> PlayerScore:
    best = best_assignment(kinds_of(s.piles[seat]), alone=bool(s.options["arc.facedown_alone"]))
    lines = [
        ScoreLine("run", RUN_POINTS[length], ("ARC-V.1",), {"animal": ANIMALS[animal], "length": length})
        for animal, length in enumerate(best.longest)
        if length >= 2
    ]
    runs = len(lines)
    lines.append(ScoreLine("different-runs", RUN_POINTS[runs], ("ARC-V.2",), {"runs": runs}))
    down = [ANIMALS[best.animals[i]] for i, card in enumerate(s.piles[seat]) if card >= FACE_DOWN]
    if down:
        lines.append(ScoreLine("face-down", 0, ("ARC-V.5",), {"animals": down}))
    totem = s.totems[seat]
    if totem >= 0:
        at = LANDSCAPE[s.tokens[totem]]
        lines.append(ScoreLine("totem", at, ("ARC-V.3",), {"animal": ANIMALS[totem]}))
    else:
        lines.append(ScoreLine("totem-secret", 0, ("ARC-V.3",), {}))
    penalty = len(s.penalties[seat])
    lines.append(ScoreLine("penalties", -penalty, ("ARC-V.3",), {"cards": penalty}))
    # Earlier in turn order is better; without a footprint holder the seats stand in their own order.
    return PlayerScore(seat, tuple(lines), (-((seat - max(s.first, 0)) % s.players),))
