"""From a look at the board to evidence, and from the night's course to what the tracker asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from companion.rules.turns import Evidence, content
from vision.evidence import HIDDEN, belief_of_look
from vision.labels import Content, from_json
from vision.placelook import UNSURE
from vision.track import Tracker, turn_starts

if TYPE_CHECKING:
    from companion.night.night import Course
    from companion.rules.core import State
    from vision.layout import Layout
    from vision.look import BoardLook

REMEMBER = 6
"""So many turns may be gone back."""


@dataclass(frozen=True, slots=True)
class Story:
    """A course as the tracker sees it; ``marks`` tells of each of its positions after how many steps it was reached."""

    tracker: Tracker
    marks: tuple[int, ...]


def story_of(course: Course) -> Story:
    """Return the last turns of a course, with the state it is in, for the tracker."""
    marks = turn_starts(course.states)[-1 - REMEMBER :]
    turns = [tuple(course.moves[one:other]) for one, other in pairwise(marks)]
    return Story(Tracker([course.states[n] for n in marks], REMEMBER, turns), tuple(marks))


def evidence_of(seen: BoardLook, layout: Layout, taught: Mapping[int, int]) -> tuple[Evidence, int]:
    """Return what a look tells the tracker, and over how many places something else lies."""
    plain = {name: place for name, place in seen.places.items() if place.seen and place.odd < HIDDEN}
    covered = sum(place.seen and place.odd >= HIDDEN for place in seen.places.values())
    return Evidence({name: belief_of_look(place, layout, taught) for name, place in plain.items()}), covered


def certain(seen: BoardLook, *, doubtful: bool = False) -> Evidence:
    """Return what a look shows where it is sure (with ``doubtful`` everywhere), as positions are compared."""
    return Evidence(
        {
            name: {content(place.content.to_json(seen.layout)): 0.0}
            for name, place in seen.places.items()
            if place.seen and place.odd < HIDDEN and (doubtful or place.p >= UNSURE)
        }
    )


def contents_of(state: State[Any], layout: Layout) -> dict[str, Content]:
    """Return what lies in the places of a state, as the layout numbers it."""
    places = state.position()["places"]
    return from_json({name: place for name, place in places.items() if name in layout.index}, layout)
