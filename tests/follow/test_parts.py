"""A game whose turns have parts, followed with perfect sight: what the board tells is entered, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from companion.follow import messages
from companion.follow.evidence import contents_of, was_taken_back
from companion.follow.following import FollowState
from companion.follow.pace import HALF_S
from companion.lab.bench.vision.sighted import SightedTable, SureTable, followed_as_drawn, followed_surely
from companion.lab.worlds.filmed_ice import FilmedIce
from companion.night.answers import CAMERA, TABLE
from vision.board.patches import Sampler
from vision.read.place_posterior import PlaceLook
from vision.read.reader import BoardLook

FILM = FilmedIce(5, 8)


class UnsureTable(SureTable):
    """Reads some places, which show little, as likely as they were at another position."""

    def __init__(self) -> None:
        super().__init__(FILM.game)
        self.doubted: tuple[str, ...] = ()
        self.other: Any = None

    def look(self, image: Any) -> BoardLook:
        sure = super().look(image)
        places, other = dict(sure.places), super().look(self.other).places if self.doubted else {}
        for name in self.doubted:
            here, there = places[name], other[name]
            factors = tuple(
                {way: 0.55 * one.get(way, 0.0) + 0.45 * two.get(way, 0.0) for way in {*one, *two}}
                for one, two in zip(here.factors, there.factors, strict=True)
            )
            places[name] = PlaceLook(0.55 * here.ground + 0.45 * there.ground, factors, here.members, 0.0)
        return BoardLook(self.layout, sure.pose, places, self.paint(image))

    def paint(self, state: Any) -> Any:
        sampler, contents = Sampler(self.layout), contents_of(state, self.layout)
        left, far, right, near = sampler.box
        size = round((near - far) * sampler.side), round((right - left) * sampler.side)
        straight = np.full((*size, 3), 100, np.uint8)
        for number, place in enumerate(self.layout.places):
            x, y, side = (round(value) for value in sampler.middle(number))
            shade = crc32(repr(contents[place.name]).encode()) % 150
            if place.name in self.doubted:
                # So little that it may be a shadow.
                there = contents_of(self.other, self.layout)[place.name]
                shade = crc32(repr(there).encode()) % 150 + 6 * (contents[place.name] != there)
            straight[y - side // 2 : y + side // 2, x - side // 2 : x + side // 2] += np.uint8(shade)
        return straight


class Scene:
    """A table at which the test lays whatever position it likes, numbered as it comes."""

    def __init__(self, folder: Path, film: FilmedIce = FILM, taught: SureTable | None = None) -> None:
        self.boards: list[Any] = list(film.states)
        self.table = SightedTable(folder, film, taught, lambda number, noise: self.boards[number])

    def lay(self, state: Any, seconds: float = 5.0) -> None:
        self.boards.append(state)
        self.table.show(len(self.boards) - 1)
        self.table.wait(seconds)

    @property
    def state(self) -> Any:
        return self.table.state

    @property
    def now(self) -> Any:
        return self.table.follower.now

    @property
    def by(self) -> str:
        snapshot = self.table.night.snapshot()
        assert snapshot is not None
        return snapshot.by[-1]

    def after(self, *texts: str) -> Any:
        """Return the position after some more moves than the record has."""
        state = self.state
        for text in texts:
            state = state.play(state.game.parse(text))
        return state


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    assert scene.now.state is FollowState.WATCHING
    yield scene
    scene.table.journal.close()


def leave_start(state: Any) -> tuple[str, ...]:
    """Return a turn of walks, and leaps that cannot go on, out of Start, in which the board tells everything."""
    seat, ways = state.seat, [((), state)]
    while ways:
        moves, here = ways.pop()
        if here.seat != seat:
            return moves
        outward = [move for move in here.moves() if move.a == "start" and here.after(move).phase == "act"]
        ways += [((*moves, str(move)), here.after(move)) for move in outward]
    raise LookupError("no such turn")


@pytest.mark.parametrize("seed", [1, 12])
def test_turns_are_entered_as_far_as_the_board_tells_them(tmp_path: Path, seed: int) -> None:
    tally = followed_surely(tmp_path, FilmedIce(seed, 10))
    assert (tally.turns, tally.wrong, tally.typed) == (10, 0, 0)
    assert tally.questions <= 4 and tally.among == tally.questions


def test_what_the_board_does_not_show_is_asked_for_and_then_it_goes_on(scene: Scene) -> None:
    for turn, played in enumerate(FILM.played, 1):
        scene.table.show(turn)
        scene.table.wait(3.0)
        if scene.now.state is FollowState.WAITING:
            break
        scene.table.settle(played)
    assert (scene.now.state, scene.now.note) == (FollowState.WAITING, messages.UNSEEN)
    steps, phase = scene.table.steps, scene.state.phase
    scene.table.wait(40.0)
    assert (scene.table.steps, scene.state.phase) == (steps, phase), "nobody but people enters what a die shows"
    scene.table.settle(played)
    assert scene.state == FILM.states[turn]


def test_the_first_action_is_entered_and_the_second_after_it(scene: Scene) -> None:
    first = leave_start(scene.state)
    scene.lay(scene.after(*first))
    assert scene.state.seat != FILM.states[0].seat
    one, two = leave_start(scene.state)
    half, whole = scene.after(one), scene.after(one, two)
    scene.lay(half)
    if scene.now.state is not FollowState.THINKING:
        assert (scene.state, scene.by) == (half, CAMERA)
    scene.lay(whole)
    assert (scene.state, scene.by) == (whole, CAMERA)


def test_half_a_turn_that_may_be_a_whole_one_is_waited_for_and_then_asked_about(scene: Scene) -> None:
    scene.lay(scene.after(*leave_start(scene.state)))
    steps = scene.table.steps
    for move in scene.state.moves():
        half = scene.state.after(move)
        if half.phase != "act":
            continue
        scene.lay(half, 3.0)
        if scene.now.note == messages.HALF:
            break
        if scene.table.steps != steps:
            scene.table.do("undo", {"to": steps, "agreed": True})
    assert (scene.now.state, scene.now.note, scene.now.question) == (FollowState.THINKING, messages.HALF, None)
    assert scene.table.steps == steps
    scene.table.wait(HALF_S + 3.0)
    question = scene.now.question
    assert question is not None and question.kind == "turn" and scene.table.steps == steps
    assert str(question.candidates[0].told[-1]) == str(move) and question.candidates[0].half


def test_what_people_took_back_is_no_part_of_what_the_camera_enters(scene: Scene) -> None:
    scene.lay(scene.after(*leave_start(scene.state)))
    one, two = leave_start(scene.state)
    steps, half, whole = scene.table.steps, scene.after(one), scene.after(one, two)
    scene.lay(whole)
    assert scene.state == whole and scene.by == CAMERA
    scene.table.do("undo", {"to": scene.table.steps - 1, "agreed": True})
    scene.table.wait(40.0)
    assert scene.state == half and scene.now.question is not None, "the second action alone is not entered again"
    scene.table.do("undo", {"to": steps, "agreed": True})
    scene.table.wait(40.0)
    assert scene.table.steps == steps and scene.now.question is not None, "nor both together"
    scene.lay(FILM.states[0] if steps == 0 else scene.state)
    scene.lay(whole)
    assert scene.state == whole, "the board was as the record says: what is played now is another turn"


def test_a_part_that_was_taken_back_is_not_entered_in_another_order() -> None:
    before: Any = FILM.states[0]
    for text in leave_start(before):
        before = before.play(before.game.parse(text))
    one, two = (before.game.parse(text) for text in leave_start(before))
    half, other = before.after(one), before.after(two)
    back = SimpleNamespace(seq=7, moves=(one,), kept=0, states=(half,))
    snapshot: Any = SimpleNamespace(moves=(), states=(before,), taken_back=(back,))
    assert was_taken_back(snapshot, 0, other.after(one))
    assert not was_taken_back(snapshot, 0, other)
    assert not was_taken_back(snapshot, 0, other.after(one), since=7), "the board was seen to be as the record says"


@pytest.mark.parametrize("otherwise", [False, True], ids=["and stays so", "and is played otherwise"])
def test_of_what_was_answered_only_what_the_board_does_not_show_is_asked_for(tmp_path: Path, otherwise: bool) -> None:
    film, table = FilmedIce(4, 8), UnsureTable()
    scene = Scene(tmp_path, film, table)
    scene.table.do("moves", {"moves": [move for turn in film.played[:-1] for move in turn]})
    scene.table.show(7)
    scene.table.wait(5.0)
    swim, fish, walk = film.played[-1]
    before = scene.table.steps
    table.doubted, table.other = (walk.split()[1], walk.split()[2]), scene.after(swim, fish)
    scene.table.show(8)
    scene.table.wait(15.0)
    question = scene.now.question
    assert question is not None
    chosen = next(n for n, one in enumerate(question.candidates) if str(one.moves[-1]) == walk)
    assert scene.table.follower.answer(question.id, chosen, TABLE).ok
    assert (scene.table.steps, scene.state.phase) == (before + 1, "freeze"), "as far as the board tells it"
    if otherwise:
        scene.boards.append(scene.after(fish))
        scene.table.show(9)
    scene.table.do("moves", {"moves": [fish]})
    scene.table.wait(15.0)
    snapshot = scene.table.night.snapshot()
    assert snapshot is not None
    entered = [str(move) for move in snapshot.moves[before:]]
    if otherwise:
        assert entered == [swim, fish], "people have changed their minds"
    else:
        assert (entered, scene.by, scene.now.question) == ([swim, fish, walk], CAMERA, None)
    scene.table.journal.close()


def test_while_a_floe_is_not_known_the_board_cannot_be_compared(tmp_path: Path) -> None:
    film = FilmedIce(1, 1)
    film.set_up[:] = [text for text in film.set_up if text.startswith("first")]
    table = SightedTable(tmp_path, film)
    assert (table.follower.now.state, table.follower.now.note) == (FollowState.NO_GAME, messages.UNREAD)
    table.journal.close()


def test_boards_that_lie_otherwise_than_the_camera_knows_are_not_followed(tmp_path: Path) -> None:
    table = SightedTable(tmp_path, FilmedIce(1, 0, setup={"layout": "bend"}))
    assert (table.follower.now.state, table.follower.now.note) == (FollowState.NO_GAME, messages.LAID_OTHERWISE)
    table.journal.close()


@pytest.mark.long
@pytest.mark.learning
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("evening", "most"), [(True, 4), (False, 6)], ids=["and positions", "alone"])
def test_a_game_is_followed_from_drawn_pictures_taught_by_the_set_up(tmp_path: Path, evening: bool, most: int) -> None:
    film = FilmedIce(3, 12, 1, evening=evening)
    tally = followed_as_drawn(tmp_path, film, film.corners)
    assert (tally.turns, tally.wrong, tally.typed) == (12, 0, 0)
    # Measured alone: 5 (27 November 2026).
    assert tally.questions <= most and tally.among == tally.questions
