"""A small real house for tests: a real journal, night and access in a folder; devices whose state a test sets."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

from companion.access.store import Access, TryLimit
from companion.calibrating.balance_run import BalanceRun
from companion.calibrating.calibration_run import CalibrationRun
from companion.events.hub import Hub
from companion.follow.api import FollowService
from companion.follow.camera import CameraService
from companion.follow.cards import CardTable
from companion.follow.pictures import portrait
from companion.night.album import Album
from companion.night.answers import TABLE, CommandResult
from companion.night.backup.retention import BackupRetention
from companion.night.commands.ballot import Ballots
from companion.night.commands.box_contents import Boxes
from companion.night.commands.night import Night
from companion.night.commands.votes import Votes
from companion.night.games import shown_games
from companion.night.log.journal import Journal
from companion.night.log.pictures import EvidenceStore
from companion.night.people import People
from companion.ports import (
    BadDataError,
    CameraStatus,
    CountGate,
    CountPosterior,
    DeviceKind,
    DeviceState,
    EvidencePicture,
    IglooStatus,
    LinkCounts,
    Motion,
    MotionState,
    SimulatedAction,
    TableStatus,
)
from companion.practice.database import PracticeDatabase
from companion.practice.offline_bundle import OfflineBundle
from companion.practice.practice_run import PracticeRun
from companion.practice.shakes import CountedShake, Shake
from companion.practice.stored_shakes import StoredShakes
from companion.service.buttons import Buttons
from companion.service.checkup import check_up
from companion.service.practice import shake_bank
from companion.settings import Settings
from tests.worlds.wait import PATIENCE_S
from web.app import create_app
from web.http.json_forms import camera_form, count_form, igloos_form, motion_form
from web.http.server import WebServer, make_server

NAME = "companion.test"
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffd9")
PLAYERS = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}, {"name": "", "colour": "green"}]
CARDS = ["4/5", "2", "3/4/5", "6/7", "8", "9/10", "11/12/13", "13", "2/3"]
SIMULATED = IglooStatus(
    "sim-1",
    DeviceKind.SIMULATED,
    DeviceState.CONNECTED,
    port="/dev/pts/7",
    unit=1,
    rate_hz=3197.4,
    nominal_hz=3200.0,
    protocol="igloo-1",
    counts=LinkCounts(samples=120_000, lost=16, corrupt=1),
)


class SmallEar:
    """The igloo of the table, for the training room: a test says what was heard."""

    def __init__(self, statuses: Callable[[], Sequence[IglooStatus]]) -> None:
        self._statuses = statuses
        self.newest: CountedShake | None = None

    def kind(self) -> DeviceKind | None:
        return next((s.kind for s in self._statuses() if s.kind is not DeviceKind.SIMULATED), None)

    def heard(self, since: float) -> CountedShake | None:
        del since
        return self.newest


def quick_machine(shake: Shake) -> CountPosterior:
    """Guess from the loudness alone: a counter that takes no time, for tests that are not about counting."""
    peak = min(11, int(4.0 * float(shake.accel.std())))
    return CountPosterior("counted", tuple(0.45 if i == peak else 0.05 for i in range(12)), 2.4)


class SmallIgloos:
    """Implements :class:`web.protocols.companion.IgloosApi`: a test says what was felt and counted."""

    def __init__(self, gate: CountGate, played: list[tuple[str, int | None]]) -> None:
        self._gate, self._played = gate, played
        self.told: list[IglooStatus] = []
        self.newest_motion: Motion | None = None
        self.newest_count: CountPosterior | None = None

    def statuses(self) -> Sequence[IglooStatus]:
        return self.told

    def motion(self) -> Motion | None:
        return self.newest_motion

    def count(self) -> CountPosterior | None:
        return self._gate.through(self.newest_count, None)

    @property
    def simulated(self) -> bool:
        return any(s.kind is DeviceKind.SIMULATED for s in self.told)

    def simulate(self, action: SimulatedAction, count: int | None = None) -> None:
        self._played.append((str(action), count))


class SmallCamera:
    """Implements :class:`web.protocols.companion.CameraServiceApi`: a test says how it does and shows it pictures."""

    def __init__(self, pictures: EvidenceStore, on_view: Callable[[], None], on_kept: Callable[..., object]) -> None:
        self._pictures, self._on_view, self._on_kept = pictures, on_view, on_kept
        self.told: CameraStatus | None = None
        self.newest_table: TableStatus | None = None
        self.shown: dict[str, bytes] = {}

    def status(self) -> CameraStatus | None:
        return self.told

    def table(self) -> TableStatus | None:
        return self.newest_table

    def jpeg(self, which: str) -> bytes | None:
        return self.shown.get(which)

    def choose(self, text: str) -> None:
        if text.startswith("file:"):
            raise BadDataError("This is no source of pictures that is known here.")
        self.told = CameraStatus(text.strip(), DeviceKind.REAL, DeviceState.SEARCHING) if text else None
        self._on_view()

    def take_photo(self, data: bytes) -> TableStatus:
        if not data.startswith(b"\xff\xd8"):
            raise BadDataError("This is no picture that can be read here.")
        self.shown["frame"] = data
        number = self.newest_table.number + 1 if self.newest_table else 1
        self.newest_table = TableStatus((0, 1), (2, 3), False, number)
        self._on_view()
        return self.newest_table

    def keep_evidence(self) -> EvidencePicture | None:
        data = self.shown.get("frame")
        if data is None:
            return None
        kept = EvidencePicture(self._pictures.keep(data, ".jpg"), ".jpg", 1, 1, "photo", DeviceKind.REAL, (0, 1))
        self._on_kept(kept)
        return kept


class SmallCompanion:
    """Implements :class:`web.protocols.companion.CompanionApi` over a folder; opening it again is a restart."""

    version = "0.0.test"

    def __init__(self, folder: Path, *, streams: int = 40, examples: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.hub = Hub()
        self.journal = Journal(folder / "journal.sqlite")
        self.boxes = Boxes(folder / "boxes")
        self.votes = Votes(folder / "votes.json")
        self.ballots = Ballots(folder / "ballots.json", self.votes)
        self.night = Night(
            self.journal, self.hub, rng=Random(7), boxes=self.boxes, offered=shown_games(examples=examples)
        )
        self.settings = Settings(None)
        self.access = Access(folder / "access.sqlite", limit=TryLimit(), settings=self.settings)
        self.settings.set({"host_names": [NAME], "max_streams": streams})
        self.pictures = EvidenceStore(folder / "evidence")
        self.portrait = portrait
        self.played: list[tuple[str, int | None]] = []
        self.igloos = SmallIgloos(self.night.gate, self.played)
        self.camera_service = SmallCamera(self.pictures, self._publish_camera, self.night.add_evidence)
        self.watched = CameraService(self.settings, self.pictures, on_view=lambda: None)
        self.cards = CardTable(folder / "tables")
        self.follow_service = FollowService(
            folder / "tables",
            self.night,
            self.settings,
            self.watched,
            self.cards,
            on_change=self._publish_camera,
            lesson=0.5,
        )
        self.urls: Sequence[str] = ("http://192.168.7.7:8080",)
        self.ear = SmallEar(self.igloos.statuses)
        self.training = PracticeRun(
            PracticeDatabase(folder / "training.sqlite"),
            shake_bank,
            quick_machine,
            self.ear,
            gate=self.night.gate,
            rng=Random(11),
            offline_bundle=OfflineBundle(None, shake_bank, quick_machine, rests=0.0),
            stored_shakes=StoredShakes(folder / "heard", lambda: self.settings.number("keep_shakes")),
        )
        self.people = People(folder, self.journal, self.night, renamed=self._renamed)
        self.album = Album(self.journal, self.night)
        self.backup_retention = BackupRetention(folder, keep=lambda: 7, again=lambda: self.begun_again.append(True))
        self.begun_again: list[bool] = []
        self.buttons = Buttons(self.night, self.hub, ())
        self.mqtt: dict[str, str] | None = None
        self.calibration_run = CalibrationRun(
            folder,
            self.hub,
            statuses=self.igloos.statuses,
            gate=self.night.gate,
            shake=lambda count, seconds, guided: self.played.append(("shake", count)),
        )
        self.calibration_run.start()
        self.balance_run = BalanceRun(folder, self.hub, statuses=self.igloos.statuses, gate=self.night.gate)
        self._actions = 0

    # --- what the page asks

    def health(self) -> dict[str, Any]:
        match = self.night.view()["match"]
        return {
            "version": self.version,
            "started": "test",
            "devices": [{"key": s.key, "kind": str(s.kind), "state": str(s.state)} for s in self.igloos.told],
            "match": match["id"] if match else None,
            "journal": self.night.seq,
        }

    def other_devices(self) -> dict[str, Any]:
        panel = self.buttons.status()
        return {"panel": None if panel is None else panel.to_json(), "mqtt": self.mqtt}

    def check_up(self) -> list[dict[str, Any]]:
        return [finding.to_json() for finding in check_up(self.folder)]

    def addresses(self) -> Sequence[str]:
        return self.urls

    def _publish_camera(self) -> None:
        camera = self.camera_service
        self.hub.publish("camera", camera_form(camera.status(), camera.table(), self.follow_service.status()))

    def _renamed(self, old: str, new: str | None) -> None:
        self.access.relabel(old, new or "")

    # --- what a test does

    def close(self) -> None:
        self.calibration_run.close()
        self.balance_run.close()
        self.training.close()
        self.follow_service.close()
        self.watched.close()
        self.journal.close()
        self.access.close()

    def do(self, command: str, body: dict[str, Any] | None = None) -> CommandResult:
        """Do a command as the table itself; it must be done."""
        self._actions += 1
        name = hashlib.sha256(f"{self.night.seq}-{self._actions}".encode()).hexdigest()[:24]
        answer = self.night.do(command, body or {}, by=TABLE, action_id=f"test-{name}")
        assert answer.ok, answer
        return answer

    def open_match(self, **more: Any) -> CommandResult:
        """Open a game of three with the cards of CARDS on the table."""
        body = {"game": "igloo-pop", "players": PLAYERS, "setup": {"cards": CARDS}, "draw": False}
        return self.do("open-match", body | more)

    def moves(self, *moves: str) -> CommandResult:
        return self.do("moves", {"moves": list(moves)})

    def plug_in(self) -> None:
        self.igloos.told = [SIMULATED]
        self.hub.publish("igloo", igloos_form(self.igloos.told, simulated=True))

    def feel(self, state: MotionState) -> None:
        self.igloos.newest_motion = Motion("sim-1", state, 1.0, DeviceKind.SIMULATED, 4.0)
        self.hub.publish("motion", motion_form(self.igloos.newest_motion))

    def hear(self, beads: int) -> None:
        p = [0.01] * 12
        p[beads - 2] = 0.89
        self.igloos.newest_count = CountPosterior("counted", tuple(p), 2.4, "", "sim-1", DeviceKind.SIMULATED, 1.0)
        self.hub.publish("count", count_form(self.igloos.newest_count, self.night.gate))


class Service:
    """The house behind a real server in a thread of its own; stop and start it as a power cut would."""

    def __init__(self, folder: Path, port: int = 0, *, streams: int = 40, examples: bool = False) -> None:
        self.folder, self.port, self.streams, self.examples = folder, port, streams, examples
        self.stamp = ""
        self.companion: SmallCompanion
        self._server: WebServer
        self._thread: threading.Thread
        self.start()

    def start(self) -> None:
        self.companion = SmallCompanion(self.folder, streams=self.streams, examples=self.examples)
        self.app = create_app(self.companion)
        if self.stamp:
            # Of another version from its first answer on.
            self.app.extensions["companion-assets"].stamp = self.stamp
        self._server = make_server(self.app, "127.0.0.1", self.port)
        self.port = self._server.port
        self._thread = threading.Thread(target=self._server.run, name="web", daemon=True)
        self._thread.start()

    def cut_off(self) -> None:
        """Cut every connection as it stands, streams too, as where the network ends."""
        for channel in list(self._server.active_channels.values()):
            with suppress(OSError):
                channel.socket.shutdown(socket.SHUT_RDWR)

    def stop(self) -> None:
        self._server.stop()
        self.companion.hub.close()
        self._thread.join(timeout=PATIENCE_S)
        assert not self._thread.is_alive()
        self.companion.close()

    @property
    def url(self) -> str:
        return f"http://{NAME}:{self.port}"

    def host_link(self) -> str:
        return f"{self.url}/host/{self.companion.access.host_token()}"


@contextmanager
def served(folder: Path, *, streams: int = 40, examples: bool = False) -> Iterator[Service]:
    service = Service(folder, streams=streams, examples=examples)
    try:
        yield service
    finally:
        service.stop()
