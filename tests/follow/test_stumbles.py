"""What happens at a table beside turns, on a drawn game of Iglu Iglu: nothing is entered that was not played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from companion.follow.evidence import contents_of
from companion.follow.following import FollowState
from companion.follow.table_model import SeenTable
from companion.lab.bench.vision.sighted import LEARNING_S, SightedTable
from companion.lab.worlds.board import RenderedBoard, shoot
from companion.lab.worlds.filmed import GAME, Filmed
from companion.lab.worlds.table import of_jpeg
from companion.night.answers import TABLE
from companion.rules.inference.turns import content
from vision.track.candidate import TAKEBACK, TWO

# The first of them waits for two lessons.
pytestmark = [pytest.mark.learning, pytest.mark.timeout(900)]

FILM = Filmed(14, 12, kept=1.0)
HERE = 6
"""After so many turns people begin to stumble; what lay there in these was taught."""


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> SeenTable:
    """Return a table that knows the set-up and what lies there later, and learns nothing more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vision.read.learn_process.NICE", 0)
        table = SeenTable(GAME, tmp_path_factory.mktemp("taught"), on_change=lambda: None)
        table.calibrate(of_jpeg(FILM.picture(0)), None)
        for number in (0, HERE):
            table.teach(of_jpeg(FILM.picture(number)), contents_of(FILM.states[number], table.layout))
        assert table.wait(LEARNING_S)
    assert table.taught, table.note
    table.worth_teaching = lambda seen, contents: False  # type: ignore[method-assign]
    table.teach = lambda image, contents: None  # type: ignore[method-assign]
    return table


class Stumbles:
    """A table at which the record stands after some turns, and whatever the test likes is seen."""

    def __init__(self, folder: Path, taught: SeenTable) -> None:
        self.pictures: list[Callable[[int], Any]] = [lambda noise: drawn(FILM.states[0], noise)]
        self.table = SightedTable(folder, FILM, taught, lambda number, noise: self.pictures[number](noise))
        for moves in FILM.played[:HERE]:
            self.table.do("moves", {"moves": moves})
        self.see(lambda noise: drawn(FILM.states[HERE], noise))
        assert self.now.state is FollowState.WATCHING, self.now.note

    def see(self, picture: Callable[[int], Any], seconds: float = 8.0) -> None:
        """Let hands come and go, and then such pictures be seen, each with a noise of its own."""
        self.pictures.append(picture)
        self.table.show(len(self.pictures) - 1)
        self.table.wait(seconds)

    @property
    def now(self) -> Any:
        return self.table.follower.now

    def stands(self) -> int | None:
        """Return after how many turns of the film the board is as the record has it; None: after none."""
        board = laid(self.table.state)
        return next((n for n in range(HERE + 3) if laid(FILM.states[n]) == board), None)

    def answer(self, number: int) -> Any:
        """Answer the open question with what was played after so many turns; return the candidate."""
        question = self.now.question
        assert question is not None, self.now.note
        right = [n for n, one in enumerate(question.candidates) if laid(one.state) == laid(FILM.states[number])]
        assert right, [list(map(str, one.moves)) for one in question.candidates]
        assert self.table.follower.answer(question.id, right[0], TABLE).ok
        return question.candidates[right[0]]

    def played(self, number: int) -> None:
        """Check that a turn is entered by the camera, or asked about with the truth among what is offered."""
        if self.now.question is not None:
            self.answer(number)
        assert self.stands() == number, self.now.note


def laid(state: Any) -> dict[str, Any]:
    return {name: content(place) for name, place in state.position()["places"].items()}


def drawn(state: Any, noise: int, **changed: Any) -> Any:
    """Return a picture (h, w, 3) of a position; ``camera`` and ``light`` may be changed, ``arms`` lie over it."""
    camera, light = FILM._view
    board = RenderedBoard(
        state.position()["places"], art=FILM._art, seed=1000 * FILM.seed, hands=changed.pop("arms", ())
    )
    camera, light = replace(camera, **changed.get("camera", {})), replace(light, **changed.get("light", {}))
    return shoot(board, camera, light, noise).image


def middle_of(place: str) -> tuple[int, int]:
    """Return where a place lies in the picture, in pixels."""
    columns, rows = 8, 8
    corners = FILM.photo(FILM.states[0].position()["places"]).grid.astype(np.float32)
    flat = np.array([[0, 0], [columns, 0], [columns, rows], [0, rows]], np.float32)
    at = np.array([[["abcdefgh".index(place[0]) + 0.5, rows - int(place[1]) + 0.5]]], np.float32)
    x, y = cv2.perspectiveTransform(at, cv2.getPerspectiveTransform(flat, corners))[0, 0]
    return round(float(x)), round(float(y))


@pytest.fixture
def scene(tmp_path: Path, taught: SeenTable) -> Iterator[Stumbles]:
    scene = Stumbles(tmp_path, taught)
    yield scene
    scene.table.journal.close()


def test_a_turn_is_entered_and_taken_back(scene: Stumbles) -> None:
    scene.see(lambda noise: drawn(FILM.states[HERE + 1], noise))
    scene.played(HERE + 1)
    scene.see(lambda noise: drawn(FILM.states[HERE], noise))
    if scene.now.question is not None:
        assert scene.answer(HERE).kind == TAKEBACK
    assert scene.stands() == HERE


def test_a_turn_that_people_named_is_taken_back_as_well(scene: Stumbles) -> None:
    """The board showed what they said, so a board that does not is no board that is yet to show it."""
    scene.see(lambda noise: drawn(FILM.states[HERE + 2], noise))
    scene.answer(HERE + 2)
    scene.see(lambda noise: drawn(FILM.states[HERE], noise))
    assert scene.now.state is not FollowState.BEHIND
    assert scene.now.question is not None, scene.now.note


def test_a_turn_is_played_with_pauses(scene: Stumbles) -> None:
    """Whoever plays takes the hand away between two steps: what is entered too early is put right by what follows."""
    state, parts = FILM.states[HERE], []
    for text in FILM.played[HERE]:
        state = state.after(state.game.parse(text))
        if laid(state) not in [laid(FILM.states[HERE]), *map(laid, parts)]:
            parts.append(state)
    assert len(parts) > 1, FILM.played[HERE]
    for part in parts:
        scene.see(lambda noise, part=part: drawn(part, noise))
    scene.played(HERE + 1)


def test_two_turns_at_once_are_asked_about(scene: Stumbles) -> None:
    scene.see(lambda noise: drawn(FILM.states[HERE + 2], noise))
    assert scene.stands() == HERE, "nothing is entered that two turns explain"
    assert scene.answer(HERE + 2).kind == TWO
    assert scene.stands() == HERE + 2
    assert scene.table.state.turn == FILM.states[HERE + 2].turn


def test_a_piece_is_put_on_a_wrong_place_and_corrected(scene: Stumbles) -> None:
    wrong = {name: dict(place) for name, place in FILM.states[HERE + 1].position()["places"].items()}
    here = next(n for n, p in wrong.items() if any(t["kind"] == "inuit" for t in p["things"]))
    there = next(n for n, p in wrong.items() if p["ground"] == "floe" and not p["things"] and n[0] not in here)
    wrong[there] = {**wrong[there], "things": [t for t in wrong[here]["things"] if t["kind"] == "inuit"][:1]}

    class Wrong:
        def position(self) -> dict[str, Any]:
            return {"places": wrong}

    scene.see(lambda noise: drawn(Wrong(), noise))
    assert scene.stands() == HERE
    scene.see(lambda noise: drawn(FILM.states[HERE + 1], noise))
    scene.played(HERE + 1)


def test_a_piece_is_knocked_over_and_stood_up(scene: Stumbles) -> None:
    places = FILM.states[HERE].position()["places"]
    here = next(n for n, p in places.items() if [t["kind"] for t in p["things"]] == ["inuit"])
    x, y = middle_of(here)
    size = abs(middle_of("b4")[0] - middle_of("a4")[0])

    def fallen(noise: int) -> Any:
        bare = {**places, here: {**places[here], "things": []}}

        class Bare:
            def position(self) -> dict[str, Any]:
                return {"places": bare}

        image = drawn(Bare(), noise).copy()
        standing = drawn(FILM.states[HERE], noise)
        half = round(0.4 * size)
        piece = standing[y - half : y + half, x - half : x + half]
        # It lies across the line, on its side.
        across = x + size // 2
        image[y - half : y + half, across - half : across + half] = np.rot90(piece)
        return image

    scene.see(fallen)
    assert scene.stands() == HERE
    scene.see(lambda noise: drawn(FILM.states[HERE], noise))
    assert (scene.stands(), scene.now.state) == (HERE, FollowState.WATCHING)


def test_a_camera_is_pushed_while_a_turn_is_played(scene: Stumbles) -> None:
    x, y = FILM._view[0].target
    pushed = {"camera": {"azimuth": FILM._view[0].azimuth + 4.0, "target": (x + 12.0, y - 8.0)}}
    scene.see(lambda noise: drawn(FILM.states[HERE + 1], noise, **pushed))
    scene.played(HERE + 1)


def test_a_lamp_is_switched_on(scene: Stumbles) -> None:
    light = FILM._view[1]
    lit = {"light": {"exposure": 1.25 * light.exposure, "warmth": light.warmth + 0.12, "slope": -light.slope}}
    scene.see(lambda noise: drawn(FILM.states[HERE], noise, **lit))
    assert (scene.stands(), scene.now.state) == (HERE, FollowState.WATCHING)
    scene.see(lambda noise: drawn(FILM.states[HERE + 1], noise, **lit))
    scene.played(HERE + 1)


def test_a_hand_rests_on_the_table(scene: Stumbles) -> None:
    w, h = FILM._view[0].width, FILM._view[0].height
    arm = ((0.42 * w, 0.62 * h), (0.56 * w, 0.62 * h), (0.62 * w, h), (0.44 * w, h))
    scene.see(lambda noise: drawn(FILM.states[HERE], noise, arms=(arm,)), 6.0)
    assert scene.stands() == HERE
    scene.see(lambda noise: drawn(FILM.states[HERE + 1], noise))
    scene.played(HERE + 1)


def test_a_drink_is_set_on_the_board(scene: Stumbles) -> None:
    size = abs(middle_of("b4")[0] - middle_of("a4")[0])

    def cup(noise: int) -> Any:
        image = drawn(FILM.states[HERE], noise).copy()
        cv2.circle(image, middle_of("c4"), round(0.75 * size), (235, 235, 240), -1, cv2.LINE_AA)
        cv2.circle(image, middle_of("c4"), round(0.62 * size), (30, 60, 110), -1, cv2.LINE_AA)
        return image

    scene.see(cup, 25.0)
    assert scene.stands() == HERE
    assert scene.now.question is not None or scene.now.state is FollowState.MOVING, "what stays is asked about"
    scene.see(lambda noise: drawn(FILM.states[HERE], noise))
    assert (scene.stands(), scene.now.state) == (HERE, FollowState.WATCHING)
    scene.see(lambda noise: drawn(FILM.states[HERE + 1], noise))
    scene.played(HERE + 1)
