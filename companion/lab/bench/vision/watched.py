"""A night whose table a camera watches, picture by picture; time is whoever drives it."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path
from typing import Any

from companion.events.hub import Hub
from companion.follow.follower import CameraFollower
from companion.follow.following import FollowState
from companion.lab.worlds.cards.photos import CardShot
from companion.night.answers import TABLE, CommandResult
from companion.night.commands.night import Night
from companion.night.log.journal import Journal
from companion.ports import DeviceKind
from companion.settings import Settings
from vision.camera.frame import CapturedFrame


class WatchedNight:
    """A night, its journal and its follower, whose pictures are shown one by one; no board lies there."""

    def __init__(self, folder: Path, cards: Any, every_s: float, **settings: int) -> None:
        """Begin a night that knows ``cards``; a picture comes every so many seconds. ``settings`` beside following."""
        self.time, self.number, self._every_s = 1000.0, count(1), every_s
        self.journal = Journal(folder / "journal.sqlite")
        self.night = Night(self.journal, Hub())
        chosen: Any = Settings(None)
        chosen.set({"camera_follow": True, **settings})
        self.shown: CapturedFrame | None = None
        self.worked = 0.0
        """So many seconds of a processor what was shown took to be looked at."""
        self.follower = CameraFollower(
            self.night,
            chosen,
            newest=lambda: self.shown,
            table_of=_no_board,
            on_change=lambda: None,
            cards=cards,
            clock=lambda: self.time,
        )

    def do(self, command: str, body: dict[str, Any], state: int | None = None) -> CommandResult:
        """Do what people do; ``state``: the record as they saw it."""
        return self.night.do(command, body, by=TABLE, state=state, action_id=f"people-{next(self.number)}")

    def show(self, shot: CardShot, times: int = 1) -> None:
        """Show a picture so many times, each as another, and let it be looked at."""
        for _ in range(times):
            self.time += self._every_s
            self.shown = CapturedFrame(
                t=self.time, number=next(self.number), source="drawn", kind=DeviceKind.REAL, image=shot.image
            )
            worked = time.thread_time()
            self.follower.tick()
            self.worked += time.thread_time() - worked

    @property
    def told(self) -> tuple[FollowState, str]:
        """Return how the camera says that it stands."""
        return self.follower.now.state, self.follower.now.note


def _no_board(game: str) -> Any:
    raise LookupError(game)
