"""What lies over the board: an arm, a strange piece; and the course of a game as the tracker asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from companion.night.answers import TABLE
from companion.night.hub import Hub
from companion.night.journal import Journal
from companion.night.night import Night
from companion.service.sight.reading import certain, contents_of, covered, is_hand, story_of
from tests.worlds.boards import players
from tests.worlds.filmed import FISH, GAME, Filmed
from vision.layout import open_layout
from vision.look import BoardLook
from vision.placelook import PlaceLook, members_of

LAYOUT = open_layout(GAME)


def seen(*strange: str) -> BoardLook:
    """A look at empty floes, with something else over some places."""
    members = members_of(LAYOUT)
    ground = np.array([1.0 if name == "floe" else 0.0 for name in LAYOUT.grounds])
    places = {
        place.name: PlaceLook(ground, tuple({(): 1.0} for _ in members), members, 0.9 if place.name in strange else 0.0)
        for place in LAYOUT.places
    }
    return BoardLook(LAYOUT, None, places)


@pytest.mark.parametrize(
    ("strange", "hand"),
    [
        ((), False),
        (("e6", "e5", "e7"), False),  # a new igloo in the middle, and its shadow
        (("a8", "a7"), False),
        (("d4", "c6", "f2", "g7"), False),  # strange tokens here and there
        (("e1", "e2", "e3", "d3"), True),  # an arm from the near side
        (tuple(f"{c}{r}" for c in "cdef" for r in (3, 4, 5)), True),
    ],
)
def test_a_hand_is_told_from_a_strange_piece(strange: tuple[str, ...], hand: bool) -> None:
    look = seen(*strange)
    assert is_hand(look) is hand
    assert set(covered(look)) == set(strange)
    assert set(certain(look).places) == {place.name for place in LAYOUT.places} - set(strange)


def test_the_course_of_a_night_is_a_story_of_turns(tmp_path: Path) -> None:
    film = Filmed(8, 3, kept=1.0)
    night = Night(Journal(tmp_path / "journal.sqlite"), Hub())
    opening: dict[str, Any] = {"game": GAME, "players": players(GAME), "setup": {"fish": FISH}}
    for number, (command, body) in enumerate(
        [("open-match", opening), ("moves", {"moves": film.set_up}), *(("moves", {"moves": m}) for m in film.played)]
    ):
        assert night.do(command, body, by=TABLE, action_id=f"step-{number}").ok
    course = night.course()
    assert course is not None
    story = story_of(course)
    begun = len(film.set_up)
    ends = [begun + sum(len(moves) for moves in film.played[:n]) for n in range(4)]
    assert story.marks[-4:] == tuple(ends)
    assert [list(map(str, turn)) for turn in story.tracker.turns_entered[-3:]] == film.played
    assert story.tracker.state is course.states[-1]
    assert contents_of(course.states[-1], LAYOUT) == contents_of(film.states[-1], LAYOUT)
