"""The table of one game as the camera knows it: where the board lies and what its pieces look like, kept on disk.

What is taught is written at once, and what it shows is known as a whole from then on, for which the camera waits a
second at the most; all of it is learnt in a process of its own, for which nobody waits.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from companion.ports import BadDataError
from vision import messages
from vision.board.labels import Content
from vision.board.layout import Layout, open_layout
from vision.board.patches import Sampler
from vision.board.pose import Pose
from vision.read.calibrate import calibrate, to_profile
from vision.read.learn_process import learn_beside
from vision.read.profile import Profile, ProfileError, load_profile, printed_places, save_profile
from vision.read.reader import BoardLook, TaughtBoard
from vision.read.relocate import BoardRelocator
from vision.track.evidence import HIDDEN

if TYPE_CHECKING:
    from companion.ports import ByteArray, FloatArray
    from vision.read.profile import TaughtPhoto
    from vision.read.strip_counter import Strips

FIRST_SHOTS: Final = 4
"""The set-up and the first positions after it are all learnt; later ones only where they show something new."""
MOVED: Final = 0.5
"""Of a place: by so much the board must lie elsewhere than it was calibrated to have moved."""
_SEVERAL: Final = 2
"""More of a thing on one place than so many is not worth another lesson."""

log = logging.getLogger(__name__)


class SeenTable:
    """One game's table. Thread-safe; ``on_change`` is called, from any thread, when it knows more or less."""

    def __init__(self, game_id: str, folder: Path, *, on_change: Callable[[], None], size: float = 1.0) -> None:
        """Read what was taught before, if anything; ``size``: how many examples are learnt from.

        :raises BadDataError: the game has no layout.
        """
        self.game = game_id
        self.layout: Layout = open_layout(game_id)
        self._folder, self._on_change, self._size = folder, on_change, size
        self._lock = threading.RLock()
        self._learning: threading.Thread | None = None
        self._wanted = False
        self._closing = threading.Event()
        self._how = ""
        self.note = ""
        self._profile: Profile | None = None
        self._table: TaughtBoard | None = None
        self._pose: Pose | None = None
        try:
            if (folder / "profile.json").exists():
                self._take(load_profile(folder, self.layout))
        except ProfileError as error:
            # What cannot be read is left as it is until somebody calibrates anew.
            log.warning("%s", error)

    def close(self) -> None:
        """Give up a lesson that is being learnt; what was taught lies on disk, and is learnt with the next lesson."""
        self._closing.set()
        self.wait(10)

    # --- what is known

    @property
    def profile(self) -> Profile | None:
        """Return all that is known, as it is kept."""
        return self._profile

    @property
    def calibrated(self) -> bool:
        """Return whether it is known where the board lies."""
        return self._profile is not None

    @property
    def taught(self) -> bool:
        """Return whether it is known what the pieces look like."""
        return self._table is not None

    @property
    def learning(self) -> bool:
        """Return whether a lesson is being learnt."""
        return self._learning is not None

    @property
    def lessons(self) -> int:
        """Return how many photos were taught."""
        return len(self._profile.shots) if self._profile is not None else 0

    @property
    def moved(self) -> bool:
        """Return whether the board was last found elsewhere than where it was calibrated."""
        profile, pose = self._profile, self._pose
        if profile is None or profile.corners is None or pose is None or pose.size != profile.size:
            return False
        unit = pose.unit_px(self.layout.width, self.layout.height)
        there = pose.corners(self.layout.width, self.layout.height)
        return bool(np.abs(there - profile.corners).max() > MOVED * unit)

    def most(self) -> dict[int, int]:
        """Return the most of each thing that was ever shown on one place."""
        return _most(self._profile.shots if self._profile is not None else ())

    def learnt(self) -> dict[int, int]:
        """Return the most of each thing on one place in the photos that were learnt: what looks can know.

        A lesson may take longer than the next turn; what it teaches is read at once, but unsure, and asked about until
        then.
        """
        return {} if self._profile is None else learnt(self._profile)

    def to_json(self) -> dict[str, Any]:
        """Return where the board is (in the frame's pixels) and what was taught, for the page."""
        with self._lock:
            profile, pose = self._profile, self._pose
            board = None
            if profile is not None and profile.corners is not None:
                size, bend = profile.size, profile.bend
                pose = pose or Pose.from_corners(profile.corners, self.layout.width, self.layout.height, size, bend)
                unit = pose.unit_px(self.layout.width, self.layout.height)
                board = {
                    "how": self._how,
                    "size": list(pose.size),
                    "corners": np.round(pose.corners(self.layout.width, self.layout.height), 1).tolist(),
                    "error_px": round(profile.error_px, 2),
                    "error_place": round(100 * profile.error_px / max(unit, 1e-6), 1),
                    "moved": self.moved,
                    "cells": self.cells(pose),
                }
            return {
                "game": self.game,
                "board": board,
                "taught": self.taught,
                "lessons": self.lessons,
                "learning": self.learning,
                "note": self.note,
                "grounds": list(self.layout.grounds),
                "things": self.things(),
            }

    def things(self) -> list[dict[str, Any]]:
        """Return what may lie on a place, and the most of each, for the page."""
        return [
            {**thing.to_json(), "most": most} for thing, most in zip(self.layout.things, self.layout.most, strict=True)
        ]

    def cells(self, pose: Pose) -> dict[str, list[list[float]]]:
        """Return the corners of each place in the picture that the pose is of, clockwise from the far left."""
        points = []
        for p in self.layout.places:
            w, h = p.width / 2, p.height / 2
            points += [(p.x - w, p.y - h), (p.x + w, p.y - h), (p.x + w, p.y + h), (p.x - w, p.y + h)]
        drawn = np.round(pose.project(np.array(points)), 1).reshape(-1, 4, 2).tolist()
        return {place.name: corners for place, corners in zip(self.layout.places, drawn, strict=True)}

    # --- looking

    def look(self, image: ByteArray) -> BoardLook:
        """Find the board in a picture (BGR) and read every place.

        :raises ProfileError: nothing was taught.
        """
        with self._lock:
            if self._table is None:
                raise ProfileError(messages.NOTHING_TAUGHT)
            seen = self._table.look(image)
            if seen.pose is not None:
                self._pose = seen.pose
            return seen

    @property
    def strips(self) -> Strips:
        """Return what counts the pieces on the long places.

        :raises ProfileError: nothing was taught.
        """
        table = self._table
        if table is None:
            raise ProfileError(messages.NOTHING_TAUGHT)
        return table.strips

    def confirm(self, seen: BoardLook, contents: Mapping[str, Content]) -> None:
        """Remember what the places look like with contents that are certain, as far as they were read so."""
        with self._lock:
            if self._table is not None:
                confirm(self._table, seen, contents)

    # --- calibrating and teaching

    def calibrate(self, image: ByteArray, corners: FloatArray | None = None) -> None:
        """Find the board in a picture, by ``corners`` (4, 2) where they are given; what was taught stays.

        :raises vision.board.detect.BoardError: there is none, or not all of it; one sentence.
        """
        found = calibrate([image], self.layout, corners)
        profile = to_profile([image], self.layout, found)
        with self._lock:
            if (known := self._profile) is not None:
                profile = replace(profile, shots=known.shots, network=known.network, unlearnt=known.unlearnt)
            save_profile(self._folder, profile)
            self._how = found[0].how
            self._take(profile)
            self._pose = found[0].pose
        self._on_change()

    def teach(self, image: ByteArray, contents: Mapping[str, Content]) -> None:
        """Teach what lies in the places of a picture; know it as a whole at once, and learn it soon.

        :raises BadDataError: the board is not found, or shows none of the places.
        """
        with self._lock:
            profile = self._profile
            if profile is None:
                raise BadDataError(messages.NO_BOARD)
            sampler = Sampler(self.layout)
            pose = self._table.find(image) if self._table is not None else BoardRelocator(profile, sampler).find(image)
            if pose is None:
                raise BadDataError(messages.NO_BOARD)
            self._pose = pose
            inside = sampler.inside(pose)
            straight = sampler.straighten(image, pose)
            known = {n: c for name, c in contents.items() if inside[n := self.layout.index[name]]}
            if not known:
                raise BadDataError(messages.PARTLY)
            close = sampler.close(image, pose, printed_places(self.layout, known))
            self._profile = profile.taught(straight, known, close, pose.camera)
            save_profile(self._folder, self._profile)
            self._wanted = True
            if self._learning is None:
                self._learning = threading.Thread(target=self._learn, name=f"learn {self.game}", daemon=True)
                self._learning.start()
            if self._table is not None:
                self._table.learn(self._profile.shots[-1])
        self._on_change()

    def worth_teaching(self, seen: BoardLook, contents: Mapping[str, Content]) -> bool:
        """Return whether a position that is certain by now shows what was not taught, or was not read right."""
        if self.new_things(contents.values()):
            return True
        if self.learning:
            return False
        if self.lessons < FIRST_SHOTS:
            return True
        return any(place.content != contents[name] for name, place in seen.places.items() if name in contents)

    def new_things(self, contents: Iterable[Content]) -> set[int]:
        """Return the things among contents that were never taught, or never so many together."""
        most = self.most()
        return {
            thing
            for content in contents
            for thing, count in content.things
            if min(count, _SEVERAL) > most.get(thing, 0)
        }

    def wait(self, seconds: float) -> bool:
        """Return when what was taught is learnt, or after so many seconds; tell whether nothing is learnt any more."""
        thread = self._learning
        if thread is None:
            return True
        thread.join(seconds)
        return not thread.is_alive()

    def _learn(self) -> None:
        while True:
            with self._lock:
                if not self._wanted or self._profile is None:
                    self._learning = None
                    break
                self._wanted = False
                profile = self._profile
            try:
                learnt = learn_beside(self.game, profile, self._folder, size=self._size, stop=self._closing)
            except BadDataError as error:
                if self._closing.is_set():
                    return
                self.note = str(error)
                log.error("%s", error)
                continue
            with self._lock:
                self.note = ""
                newest = self._profile
                # The board may have been calibrated or taught meanwhile: only the network is new.
                self._take(newest.learnt(learnt.network, profile.shots))
                save_profile(self._folder, self._profile)
        self._on_change()

    def _take(self, profile: Profile) -> None:
        self._profile = profile
        self._table = TaughtBoard(profile) if profile.network is not None and profile.shots else None
        for shot in profile.shots:
            if self._table is not None and shot.name in profile.unlearnt:
                self._table.learn(shot)


def learnt(profile: Profile) -> dict[int, int]:
    """Return the most of each thing on one place in the photos of a profile that were learnt."""
    return _most(shot for shot in profile.shots if shot.name not in profile.unlearnt)


def confirm(table: TaughtBoard, seen: BoardLook, contents: Mapping[str, Content]) -> None:
    """Let a table remember what places look like with contents that are certain, as far as they were read so.

    Of strips it learns, too, where it miscounted.
    """
    agreed = {
        name: content
        for name, content in contents.items()
        if (place := seen.places.get(name)) is not None and place.seen and place.odd < HIDDEN
    }
    if seen.straight is not None:
        table.strips.confirm(seen.straight, {table.layout.index[name]: there for name, there in agreed.items()})
    agreed = {name: content for name, content in agreed.items() if seen.places[name].content == content}
    if agreed:
        table.confirm(seen, agreed)


def _most(shots: Iterable[TaughtPhoto]) -> dict[int, int]:
    """Return the most of each thing on one place of some photos."""
    found: dict[int, int] = {}
    for shot in shots:
        for content in shot.contents.values():
            for thing, count in content.things:
                found[thing] = max(found.get(thing, 0), count)
    return found
