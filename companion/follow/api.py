"""What the page asks of the camera at the table: :class:`web.protocols.camera.CameraApi`, over camera and night.

OpenCV and what is built on it are imported when somebody first uses them: a table without a camera does not pay.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.follow import messages
from companion.night.answers import Actor, CommandResult
from companion.ports import BadDataError
from companion.rules import games
from vision import messages as seeing
from vision.board.labels import from_json
from vision.cards import messages as reading

if TYPE_CHECKING:
    from companion.follow.camera import CameraService
    from companion.follow.cards import CardTable
    from companion.follow.disputes import DisputePhotos
    from companion.follow.follower import CameraFollower
    from companion.follow.questions import OpenQuestion
    from companion.follow.table_model import SeenTable
    from companion.night.commands.night import Night
    from companion.ports import ByteArray
    from companion.settings import Settings, Value

OFF: Mapping[str, Any] = {"following": False, "state": "off", "note": messages.OFF, "asking": None, "places": []}


class FollowService:
    """The camera at the table. Every method may be called from any thread."""

    def __init__(
        self,
        folder: Path,
        night: Night,
        settings: Settings,
        camera_service: CameraService,
        cards: CardTable,
        *,
        on_change: Callable[[], None],
        lesson: float = 1.0,
    ) -> None:
        """Keep what is taught in ``folder``, but ``cards``; ``lesson``: how many examples are learnt from."""
        self._folder, self._night, self._settings, self._camera_service = folder, night, settings, camera_service
        self._cards = cards
        self._on_change, self._lesson = on_change, lesson
        self._lock = threading.RLock()
        self._tables: dict[str, SeenTable] = {}
        self._follower: CameraFollower | None = None
        self._photos: DisputePhotos | None = None
        self._started = False
        settings.on_change(self._set)

    # --- life

    def start(self) -> None:
        """Begin to follow, where the settings say so."""
        self._started = True
        if self._settings["camera_follow"] is True:
            self._follow_with()

    def close(self) -> None:
        """Stop."""
        with self._lock:
            follower, self._follower, self._started = self._follower, None, False
            tables = list(self._tables.values())
        if follower is not None:
            follower.close()
        for table in tables:
            table.close()

    def _set(self, name: str, value: Value) -> None:
        if name == "camera_follow" and self._started:
            if value is True:
                self._follow_with()
            if self._follower is not None:
                self._follower.wake()

    def _follow_with(self) -> CameraFollower:
        from companion.follow.follower import CameraFollower

        with self._lock:
            if self._follower is None:
                self._follower = CameraFollower(
                    self._night,
                    self._settings,
                    newest=self._camera_service.newest,
                    table_of=self.table_of,
                    on_change=self._on_change,
                    cards=self._cards,
                )
                self._follower.start()
            return self._follower

    def table_of(self, game_id: str) -> SeenTable:
        """Return the table of a game.

        :raises BadDataError: no such game is known here.
        """
        from companion.follow.table_model import SeenTable

        if game_id not in games(examples=True):
            raise BadDataError(messages.NOT_THIS_GAME)
        with self._lock:
            if game_id not in self._tables:
                folder = self._folder / game_id
                self._tables[game_id] = SeenTable(game_id, folder, on_change=self._taught, size=self._lesson)
            return self._tables[game_id]

    def _taught(self) -> None:
        if self._follower is not None:
            self._follower.wake()
        self._on_change()

    # --- what the page asks

    def status(self) -> Mapping[str, Any]:
        """Return how the following stands, for everybody: no picture, nothing hidden."""
        follower = self._follower
        return {
            **(OFF if follower is None else follower.status()),
            "everyone": self._settings["camera_everyone"] is True,
            "settle_tenths": self._settings.number("camera_settle_tenths"),
        }

    def sentences(self) -> frozenset[str]:
        """Return all that may be told of camera, board and following: the constants of their modules."""
        said = (vars(module).values() for module in (messages, seeing, reading))
        return frozenset(text for texts in said for text in texts if isinstance(text, str) and text.endswith("."))

    def board(self, game_id: str) -> dict[str, Any]:
        """Return where the board of a game lies in the newest picture, what was taught, and what is read there."""
        table = self.table_of(game_id)
        follower = self._follower
        seen = follower.now.seen if follower is not None and self._followed() == game_id else None
        return {
            **table.to_json(),
            "followed": self._followed() == game_id,
            "record": self._recorded(game_id),
            "seen": None if seen is None else {name: _place(place, seen.layout) for name, place in seen.places.items()},
        }

    def look(self, game_id: str) -> dict[str, Any]:
        """Read the newest picture now; return each place with what lies there.

        :raises BadDataError: there is no picture, nothing was taught, or no board is found.
        """
        table, image = self.table_of(game_id), self._image()
        seen = table.look(image)
        if not seen.found:
            raise BadDataError(seen.note)
        return {name: _place(place, seen.layout) for name, place in seen.places.items()}

    def calibrate(self, game_id: str, corners: Sequence[Sequence[float]] | None) -> None:
        """Find the board in the newest picture, by its corners (clockwise from the far left) where they are given.

        :raises BadDataError: there is no picture, or no board in it.
        """
        given = None if corners is None else np.array(corners, np.float64).reshape(4, 2)
        self.table_of(game_id).calibrate(self._image(), given)

    def teach(self, game_id: str, places: Mapping[str, Any] | None) -> None:
        """Teach the newest picture: what ``places`` say lies there, or with None what the record says.

        Beside ``places`` all that is read as the record has it is taught too: one correction is a whole lesson.

        :raises BadDataError: there is no picture or board, no record, or ``places`` do not fit.
        """
        from companion.follow.evidence import contents_of

        table, image = self.table_of(game_id), self._image()
        snapshot = self._night.snapshot()
        recorded = (
            contents_of(snapshot.states[-1], table.layout) if snapshot is not None and snapshot.game == game_id else {}
        )
        if places is None:
            if not recorded:
                raise BadDataError(messages.NO_RECORD)
            table.teach(image, recorded)
            return
        corrected = from_json(dict(places), table.layout)
        agreed = {}
        if table.taught:
            seen = table.look(image)
            agreed = {n: p.content for n, p in seen.places.items() if p.content == recorded.get(n)}
        table.teach(image, {**agreed, **corrected})

    def follow(self, on: bool) -> None:
        """Follow the game, or stop; the setting is kept."""
        self._settings.set({"camera_follow": on})

    def question(self, lang: str) -> dict[str, Any] | None:
        """Return the open question with its candidates drawn, and what the table may agree on instead."""
        from companion.follow.as_it_lies import drawn

        follower = self._follower
        if follower is None or (question := (now := follower.now).question) is None:
            return None
        return {**question.to_json(lang), "lies": drawn(now, question, lang)}

    def open_question(self) -> OpenQuestion | None:
        """Return the open question as it is, for the bench."""
        return None if self._follower is None else self._follower.now.question

    def times(self) -> list[float]:
        """Return how long each of the last settled turns took, in seconds."""
        return [] if self._follower is None else [seconds for seconds, _ in self._follower.now.taken]

    def work(self) -> list[float]:
        """Return what each of them cost the thread that looks, in seconds of the processor."""
        return [] if self._follower is None else [worked for _, worked in self._follower.now.taken]

    def answer(self, question_id: str, choice: int | None, by: Actor) -> CommandResult:
        """Answer the open question by a candidate's number, or with None: none of these.

        :raises BadDataError: it is not open any more.
        """
        return self._asking().answer(question_id, choice, by)

    def resolve(self, question_id: str, way: str) -> None:
        """Take a way out of a disagreement: ``board`` is put right, or the ``record`` is right and the camera learns.

        :raises BadDataError: it is not open any more.
        """
        if way == "board":
            self._asking().wait_for_board(question_id)
        else:
            self._asking().record_is_right(question_id)

    def agree(self, question_id: str, turn: str | None, by: Actor) -> CommandResult:
        """Go on from the board as it lies, whatever led there, with the turn of a colour (None: of the next).

        :raises BadDataError: the question is not open any more, or nothing is known to lie otherwise.
        """
        from companion.follow.as_it_lies import agree

        follower = self._asking()
        question = follower.still_open(question_id)
        result = agree(self._night, follower.now, question, turn, by)
        follower.wake()
        return result

    def _asking(self) -> CameraFollower:
        if self._follower is None:
            raise BadDataError(messages.NOTHING_ASKED)
        return self._follower

    # --- the referee by photo

    def take_photo(self, who: str, which: str, data: bytes | None, game_id: str) -> dict[str, Any]:
        """Read a photo of somebody (None: the newest picture of the camera) as ``before`` or ``after``.

        :raises BadDataError: it is no photo, shows no board, or nothing was taught.
        """
        table = self.table_of(game_id)
        if data is None:
            return self._referee().keep(who, which, self._image(), table)
        return self._referee().take(who, which, data, table)

    def sheet(self, game_id: str, data: bytes | None) -> dict[str, Any] | None:
        """Read a photo (None: the newest picture of the camera) for the score sheet; None where nothing was taught.

        :raises BadDataError: there is no photo or picture, or no board in it.
        """
        from companion.follow.score_sheet import read_sheet
        from vision.decode.photo import read_photo

        table = self.table_of(game_id)
        if not table.taught:
            return None
        return read_sheet(table, self._image() if data is None else read_photo(data))

    def rule(self, who: str, game_id: str, *, record: bool, lang: str) -> Mapping[str, Any]:
        """Return the ruling on what lies between somebody's photos, or between the record and the second one.

        :raises BadDataError: something is missing.
        :raises companion.rules.core.RulesError: the first photo shows no position of the game.
        """
        return self._referee().rule(who, self._night.snapshot(), record=record, game_id=game_id, lang=lang).ruling

    def ruled_photo(self, who: str) -> bytes | None:
        """Return the photo with somebody's last ruling drawn over it, as JPEG."""
        return None if self._photos is None else self._photos.picture(who)

    def _referee(self) -> DisputePhotos:
        from companion.follow.disputes import DisputePhotos

        with self._lock:
            if self._photos is None:
                self._photos = DisputePhotos()
            return self._photos

    # --- inside

    def _followed(self) -> str | None:
        snapshot = self._night.snapshot()
        return None if snapshot is None else snapshot.game

    def _recorded(self, game_id: str) -> Mapping[str, Any] | None:
        snapshot = self._night.snapshot()
        if snapshot is None or snapshot.game != game_id:
            return None
        places: Mapping[str, Any] | None = snapshot.states[-1].position().get("places")
        return places

    def _image(self) -> ByteArray:
        captured = self._camera_service.newest()
        if captured is None:
            raise BadDataError(messages.NO_PICTURE)
        return captured.image()


def _place(place: Any, layout: Any) -> dict[str, Any]:
    """Return what is read in a place, for the page."""
    return {**place.content.to_json(layout), "p": round(place.p, 3), "unsure": bool(place.unsure)}
