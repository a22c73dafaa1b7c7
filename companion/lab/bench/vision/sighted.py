"""A game followed without waiting: with perfect sight, or by rendered pictures that a taught table reads.

With perfect sight looks are made from the truth, so what is left is what no board tells. The follower is the service's,
driven without its thread and with a clock of its own. What the board does not show is entered by people where the
companion says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from companion.events.hub import Hub
from companion.follow.cards import CardTable
from companion.follow.evidence import contents_of
from companion.follow.follower import CameraFollower
from companion.follow.following import FollowState
from companion.follow.pace import EVERY_S
from companion.follow.table_model import SeenTable
from companion.lab.bench.follow import FilmedGame, FollowedGame, comes_to, is_truth, said, unseen_step
from companion.lab.worlds import boards
from companion.lab.worlds.table import of_jpeg
from companion.night.answers import TABLE
from companion.night.commands.night import Night
from companion.night.games import shown_games
from companion.night.log.journal import Journal
from companion.ports import DeviceKind
from companion.settings import Settings
from vision.board.layout import open_layout
from vision.read.place_posterior import PlaceLook, members_of
from vision.read.reader import BoardLook

DONE = frozenset({FollowState.WATCHING, FollowState.QUESTION, FollowState.DISAGREEMENT})
LEARNING_S = 900.0
LONG_S = 30.0
"""Of the simulated clock: so long an answer is waited for."""


class SureTable:
    """A taught table whose pictures are positions, and are read without fault."""

    calibrated = taught = True
    learning = False

    def __init__(self, game_id: str) -> None:
        """Take the game's places; all its things are taught."""
        self.layout = open_layout(game_id)

    def look(self, image: Any) -> BoardLook:
        """Return a sure look at a position."""
        members = members_of(self.layout)
        places = {}
        for name, there in contents_of(image, self.layout).items():
            ground = np.eye(len(self.layout.grounds))[there.ground]
            factors = tuple({tuple(pair for pair in there.things if pair[0] in some): 1.0} for some in members)
            places[name] = PlaceLook(ground, factors, members, 0.0)
        found: Any = SimpleNamespace(corners=None)
        return BoardLook(self.layout, found, places)

    def learnt(self) -> dict[int, int]:
        """Return that as many of each thing were taught as may lie on a place."""
        return dict(enumerate(self.layout.most))

    def worth_teaching(self, seen: BoardLook, contents: Any) -> bool:
        """Return False: there is nothing to learn."""
        del seen, contents
        return False

    def teach(self, image: Any, contents: Any) -> None:
        """Take a lesson that is not needed."""

    def confirm(self, seen: BoardLook, contents: Any) -> None:
        """Take what is certain, which must be what was seen."""
        assert all(seen.places[name].content == there for name, there in contents.items())


class SightedTable:
    """A night whose camera sees the truth; time passes only where it is let."""

    def __init__(
        self, folder: Path, film: FilmedGame, table: Any = None, picture: Callable[[int, int], Any] | None = None
    ) -> None:
        """Open the film's match and play its set-up.

        ``picture`` gives a picture after so many turns, each with a noise of its own, and ``table`` reads it.
        """
        self.film, self.time, self.sent, self.number = film, 1000.0, 0, 0
        self.shown, self.moves = 0, False
        self.picture = picture or (lambda turn, noise: film.states[turn])
        self.journal = Journal(folder / "journal.sqlite")
        self.night = Night(self.journal, Hub(), offered=shown_games(examples=True))
        settings = Settings(None)
        settings.set({"camera_follow": True})
        table = table or SureTable(film.game)
        self.follower = CameraFollower(
            self.night,
            settings,
            newest=self._newest,
            table_of=lambda _: table,
            on_change=lambda: None,
            cards=CardTable(folder / "tables"),
            clock=lambda: self.time,
        )
        self.do("open-match", {"game": film.game, "players": boards.players(film.game), "setup": dict(film.setup)})
        for text in film.set_up:
            self.do("moves", {"moves": [text]})
        self.wait(3.0)

    def _newest(self) -> Any:
        self.number += 1
        small = np.zeros((48, 64), np.uint8)
        small[:, :32] = _shade(self.shown)
        if self.moves:
            small[:, 40:44] = 100 + 50 * (self.number % 2)
        shown, number = self.shown, self.number
        return SimpleNamespace(
            t=self.time,
            number=number,
            kind=DeviceKind.REAL,
            small=lambda: small,
            image=lambda: self.picture(shown, number),
        )

    @property
    def state(self) -> Any:
        """The position in which the record stands."""
        snapshot = self.night.snapshot()
        assert snapshot is not None
        return snapshot.states[-1]

    @property
    def steps(self) -> int:
        """How many moves the record has."""
        snapshot = self.night.snapshot()
        return 0 if snapshot is None else len(snapshot.moves)

    def do(self, command: str, body: dict[str, Any]) -> None:
        """Let people do something that must be possible."""
        self.sent += 1
        answer = self.night.do(command, body, by=TABLE, action_id=f"people-{self.sent}")
        assert answer.ok, answer

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        for _ in range(round(seconds / EVERY_S)):
            self.time += EVERY_S
            self.follower.tick()

    def show(self, turns: int) -> None:
        """Lay the board as it is after so many turns, by hand."""
        self.shown, self.moves = turns, True
        self.wait(2 * EVERY_S)
        self.moves = False

    def settle(self, played: list[str]) -> None:
        """Wait until the camera has nothing more to enter; enter what the board does not show, as it was played."""
        unseen, end = list(played), self.time + LONG_S
        while self.time < end:
            self.wait(EVERY_S)
            state = self.follower.now.state
            if state is FollowState.WAITING and (step := unseen_step(self.state, unseen)) is not None:
                self.do("moves", {"moves": [step]})
            elif state in DONE or self.state.outcome() is not None:
                return


@cache
def _shade(number: int) -> Any:
    return np.random.default_rng(number).integers(0, 255, (48, 32), np.uint8)


def followed_surely(
    folder: Path, film: FilmedGame, taught: Any = None, picture: Callable[[int, int], Any] | None = None
) -> FollowedGame:
    """Follow a film; what is asked is answered with the truth, or typed where it is not among the candidates."""
    table, tally = SightedTable(folder, film, taught, picture), FollowedGame()
    try:
        for turn, (played, truth) in enumerate(zip(film.played, film.states[1:], strict=True), 1):
            before = table.steps
            table.show(turn)
            table.settle(played)
            tally.turns += 1
            question = table.follower.now.question
            if question is not None:
                tally.told.append(f"turn {turn}: {said(question)}; played {played}")
                _answer(table, tally, played, truth)
            elif table.steps != before and not is_truth(table.state, truth):
                tally.wrong += 1
                tally.told.append(f"turn {turn}: wrong; played {played}")
            if not is_truth(table.state, truth):
                tally.typed += 1
                if table.steps != before:
                    table.do("undo", {"to": before, "agreed": True})
                for text in played:
                    table.do("moves", {"moves": [text]})
            table.wait(3.0)
            question = table.follower.now.question
            if question is not None:
                # The record is right by now: whatever is said of it is one more disagreement.
                tally.disagreements += 1
                tally.told.append(f"turn {turn}, after it: {said(question)}; played {played}")
                table.follower.record_is_right(question.id)
        tally.seconds = [seconds for seconds, _ in table.follower.now.taken]
        tally.work = [seconds for _, seconds in table.follower.now.taken]
        return tally
    finally:
        table.journal.close()


def _answer(table: SightedTable, tally: FollowedGame, played: list[str], truth: Any) -> None:
    """Answer the open question with what comes to the truth, if that is among the candidates."""
    question = table.follower.now.question
    assert question is not None
    tally.questions += 1
    tally.disagreements += question.kind == "disagreement"
    right = [n for n, c in enumerate(question.candidates) if comes_to(c, question.observation, played, truth)]
    tally.among += bool(right)
    if right:
        assert table.follower.answer(question.id, right[0], TABLE).ok
        table.settle(played)


def taught_table(folder: Path, film: FilmedGame, corners: list[list[float]] | None) -> SeenTable:
    """Return a table that was taught a film's set-up and its lessons, and is taught nothing more.

    Without ``corners`` the board is found by its markers.
    """
    table = SeenTable(film.game, folder, on_change=lambda: None)
    image = of_jpeg(film.frames(0)[0])
    table.calibrate(image, None if corners is None else np.array(corners))
    table.teach(image, contents_of(film.states[0], table.layout))
    for jpeg, state in film.lessons:
        table.teach(of_jpeg(jpeg), contents_of(state, table.layout))
    table.wait(LEARNING_S)
    table.worth_teaching = lambda seen, contents: False  # type: ignore[method-assign]
    table.teach = lambda image, contents: None  # type: ignore[method-assign]
    return table


def followed_as_drawn(folder: Path, film: FilmedGame, corners: list[list[float]] | None) -> FollowedGame:
    """Follow a film by its rendered pictures; ``corners`` are the board's, as people tap them; None: it is found."""
    shown: dict[int, list[Any]] = {}

    def picture(turn: int, number: int) -> Any:
        if turn not in shown:
            shown.clear()
            shown[turn] = [of_jpeg(jpeg) for jpeg in film.frames(turn)]
        return shown[turn][number % len(shown[turn])]

    return followed_surely(folder, film, taught_table(folder / "taught", film, corners), picture)
