"""A game followed with perfect sight: looks are made from the truth, so what is left is what no board tells.

The follower is the service's, driven without its thread and with a clock of its own. What the board does not show is
entered by people where the companion says so.
"""

from __future__ import annotations

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
from companion.lab.bench.follow import FilmedGame, FollowedGame, is_truth, unseen_step
from companion.lab.worlds import boards
from companion.night.answers import TABLE
from companion.night.commands.night import Night
from companion.night.games import shown_games
from companion.night.log.journal import Journal
from companion.ports import DeviceKind
from companion.settings import Settings
from vision.board.layout import open_layout
from vision.read.place_posterior import PlaceLook, members_of
from vision.read.reader import BoardLook

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

    def confirm(self, seen: BoardLook, contents: Any) -> None:
        """Take what is certain, which must be what was seen."""
        assert all(seen.places[name].content == there for name, there in contents.items())


class SightedTable:
    """A night whose camera sees the truth; time passes only where it is let."""

    def __init__(self, folder: Path, film: FilmedGame) -> None:
        """Open the film's match and play its set-up."""
        self.film, self.time, self.sent, self.number = film, 1000.0, 0, 0
        self.shown, self.moves = film.states[0], False
        self.journal = Journal(folder / "journal.sqlite")
        self.night = Night(self.journal, Hub(), offered=shown_games(examples=True))
        settings = Settings(None)
        settings.set({"camera_settle_tenths": 3, "camera_follow": True})
        table: Any = SureTable(film.game)
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
        small[:, :32] = _shade(str(self.shown.position()["places"]))
        if self.moves:
            small[:, 40:44] = 100 + 50 * (self.number % 2)
        shown = self.shown
        return SimpleNamespace(
            t=self.time, number=self.number, kind=DeviceKind.REAL, small=lambda: small, image=lambda: shown
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

    def show(self, state: Any) -> None:
        """Lay the board so, by hand."""
        self.shown, self.moves = state, True
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
            elif state in (FollowState.WATCHING, FollowState.QUESTION, FollowState.DISAGREEMENT):
                return
            elif self.state.outcome() is not None:
                return


@cache
def _shade(text: str) -> Any:
    return np.random.default_rng(abs(hash(text))).integers(0, 255, (48, 32), np.uint8)


def followed_surely(folder: Path, film: FilmedGame) -> FollowedGame:
    """Follow a film with perfect sight; what is asked is answered with the truth, or typed where it is not shown."""
    table, tally = SightedTable(folder, film), FollowedGame()
    try:
        for played, truth in zip(film.played, film.states[1:], strict=True):
            before = table.steps
            table.show(truth)
            table.settle(played)
            tally.turns += 1
            question = table.follower.now.question
            if question is not None:
                _answer(table, tally, played, truth)
            elif table.steps != before and not is_truth(table.state, truth):
                tally.wrong += 1
            if not is_truth(table.state, truth):
                tally.typed += 1
                if table.steps != before:
                    table.do("undo", {"to": before, "agreed": True})
                for text in played:
                    table.do("moves", {"moves": [text]})
            table.wait(3.0)
        return tally
    finally:
        table.journal.close()


def _answer(table: SightedTable, tally: FollowedGame, played: list[str], truth: Any) -> None:
    """Answer the open question with what comes to the truth, if that is among the candidates."""
    question = table.follower.now.question
    assert question is not None
    tally.questions += 1
    tally.disagreements += question.kind == "disagreement"
    start = table.steps
    for number, candidate in enumerate(question.candidates):
        state, unseen = table.state, list(played)
        try:
            for move in candidate.told:
                state = state.play(move)
            while (step := unseen_step(state, unseen)) is not None:
                state = state.play(state.game.parse(step))
        except Exception:
            continue
        if not is_truth(state, truth) and candidate.ends_as_told:
            continue
        assert table.follower.answer(question.id, number, TABLE).ok
        table.settle(played)
        if is_truth(table.state, truth):
            tally.among += 1
            return
        table.do("undo", {"to": start, "agreed": True})
        return
