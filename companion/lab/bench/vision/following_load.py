"""What following costs: the share of a processor core while the table lies still, and while pieces and hands move.

Real are the camera on the network, the watcher, the night and the follower; the stream comes out of another process,
so that it is not counted. The decoder's child process is, and so are lessons. Drawn: the table, and a hand that goes
over it. A turn comes every :data:`TURN_S` seconds, more often than people play.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from math import cos, pi, sin
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.lab.bench.vision.load_scenes import SCENES, LoadScene
from companion.lab.rows import Row, row
from companion.lab.worlds import mjpeg
from companion.lab.worlds.filmed import noisy
from companion.lab.worlds.table import of_jpeg

if TYPE_CHECKING:
    from companion.night.commands.night import MatchSnapshot

FPS: Final = 5
TURN_S: Final = 5.0
HAND_S: Final = 1.6
"""So long of a turn a hand is over the table."""
LEFT_S: Final = 12.0
"""What the camera has not entered by then, on a busy machine, is entered by hand."""
SETTLE_S: Final = 5.0
"""So long is waited before anything is counted: what lay there at first is looked at."""
PATIENCE_S: Final = 300.0
_SKIN: Final = (120, 150, 200)
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def rows(seconds: float, games: Iterable[str] = SCENES) -> Iterator[Row]:
    """Follow each game for ``seconds`` while nothing moves, and as long while pieces move."""
    for name in games:
        scene = SCENES[name](max(1, round(seconds / TURN_S)))
        with tempfile.TemporaryDirectory() as folder, camera_process() as camera:
            still, moving, entered = _measured(Path(folder), scene, camera, seconds)
        wide, high = of_jpeg(scene.still).shape[1::-1]
        note = f"{wide}×{high}, {FPS} pictures a second, the decoder's process included"
        yield row(f"{name}, nothing moves", f"{100 * still:.1f}", "% of a core", "≤ 3", note)
        note = f"a turn every {TURN_S:.0f} s, lessons included; {entered} of {len(scene.turns)} entered by the camera"
        yield row(f"{name}, pieces move", f"{100 * moving:.1f}", "% of a core", "≤ 50", note)


class CameraProcess:
    """An MJPEG stream out of another process."""

    def __init__(self, pid: int, line: Connection) -> None:
        """Speak to the process by ``line``, which tells its address first."""
        self.pid, self._line = pid, line
        self.url: str = line.recv()

    def show(self, pictures: list[bytes]) -> None:
        """Play these from now on."""
        self._line.send(pictures)


@contextmanager
def camera_process() -> Iterator[CameraProcess]:
    """Run a camera in another process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        assert process.pid is not None
        yield CameraProcess(process.pid, ours)
    finally:
        ours.send(None)
        process.join()


def _serve(line: Connection) -> None:
    with mjpeg.MjpegServer([], fps=FPS) as camera:
        line.send(camera.url)
        while (pictures := line.recv()) is not None:
            camera.show(pictures)


def _measured(folder: Path, scene: LoadScene, camera: CameraProcess, seconds: float) -> tuple[float, float, int]:
    """Return the share of a core that following takes while nothing moves, while pieces move, and turns entered."""
    from companion.events.hub import Hub
    from companion.follow.api import FollowService
    from companion.follow.camera import CameraService
    from companion.follow.cards import CardTable
    from companion.night.answers import CAMERA, TABLE
    from companion.night.commands.night import Night
    from companion.night.games import shown_games
    from companion.night.log.journal import Journal
    from companion.night.log.pictures import EvidenceStore
    from companion.settings import Settings

    tables, actions, entered = folder / "tables", count(), 0
    if scene.teach is not None:
        scene.teach(tables)
    journal, settings = Journal(folder / "journal.sqlite"), Settings(None)
    night = Night(journal, Hub(), offered=shown_games(examples=True))
    camera_service = CameraService(settings, EvidenceStore(folder / "evidence"), on_view=lambda: None)
    follow = FollowService(tables, night, settings, camera_service, CardTable(tables), on_change=lambda: None)

    def do(command: str, body: dict[str, Any]) -> None:
        answer = night.do(command, body, by=TABLE, action_id=f"load-{next(actions)}")
        assert answer.ok, answer

    def until(found: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not found():
            assert time.monotonic() < end, follow.status()
            time.sleep(0.05)

    do("open-match", scene.opening)
    if scene.set_up:
        do("moves", {"moves": scene.set_up})
    camera.show(noisy(scene.still, 10, 1))
    camera_service.use(camera.url)
    try:
        until(camera_service.newest)
        follow.start()
        if scene.teach is None:
            follow.calibrate(scene.game, scene.corners)
            follow.teach(scene.game, None)
            follow.table_of(scene.game).wait(PATIENCE_S)
        follow.follow(True)
        until(lambda: follow.status()["note"] == scene.ready)
        for command, body in scene.then:
            do(command, body)
        if scene.lying is not None:
            camera.show(noisy(scene.lying, 10, 2))
        until(lambda: follow.status()["note"] == scene.followed)
        time.sleep(SETTLE_S)
        still = _share(camera.pid, lambda: time.sleep(seconds))

        def shown() -> MatchSnapshot:
            now = night.snapshot()
            assert now is not None
            return now

        def played() -> None:
            nonlocal entered
            for number, (_, moves) in enumerate(scene.turns):
                before = shown()
                begun = time.monotonic()
                camera.show(hands[number])
                time.sleep(HAND_S)
                camera.show(lying[number])
                time.sleep(max(0.0, TURN_S - (time.monotonic() - begun)))
                while not scene.right(now := shown(), number) and time.monotonic() - begun < LEFT_S:
                    time.sleep(0.1)
                if scene.right(now, number):
                    entered += CAMERA in now.by[len(before.by) :]
                    continue
                if not moves:
                    continue
                if len(now.moves) > len(before.moves):
                    do("undo", {"to": len(before.moves), "agreed": True})
                do("moves", {"moves": list(moves)})

        hands = [list(with_hand(before, number)) for number, before in enumerate(_before(scene))]
        lying = [noisy(picture, 5, number) for number, (picture, _) in enumerate(scene.turns)]
        moving = _share(camera.pid, played)
        return still, moving, entered
    finally:
        follow.close()
        camera_service.close()
        journal.close()


def _before(scene: LoadScene) -> list[bytes]:
    return [scene.lying or scene.still, *(picture for picture, _ in scene.turns[:-1])]


def with_hand(jpeg: bytes, seed: int, frames: int = 8) -> Iterator[bytes]:
    """Yield pictures of a hand that comes from the near edge, goes over the table and away again."""
    image = of_jpeg(jpeg)
    high, wide = image.shape[:2]
    for number in range(frames):
        far = sin(pi * (number + 0.5) / frames)
        x = wide * (0.35 + 0.3 * ((seed * 0.37) % 1.0) + 0.1 * cos(number))
        tip = high * (1.0 - 0.6 * far)
        side = wide * 0.05
        outline = np.array([[x - side, tip], [x + side, tip], [x + 2 * side, high], [x - side, high]], np.int32)
        shown = cv2.fillPoly(image.copy(), [outline], _SKIN, cv2.LINE_AA)
        yield cv2.imencode(".jpg", shown, [cv2.IMWRITE_JPEG_QUALITY, 92])[1].tobytes()


def _share(camera: int, doing: Callable[[], None]) -> float:
    """Return the seconds of a processor that this process and its children, but the camera, took for each second."""
    began, worked = time.monotonic(), _processor_s(camera)
    doing()
    return (_processor_s(camera) - worked) / (time.monotonic() - began)


def _processor_s(without: int) -> float:
    """Return the processor's seconds of this process and of its children, those that ended among them."""
    parents: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            told = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(told[1]), sum(map(int, told[11:15]))
    ours, found = {os.getpid()}, {os.getpid()}
    while found:
        found = {pid for pid, (parent, _) in parents.items() if parent in found and pid not in (without, *ours)}
        ours |= found
    return sum(parents[pid][1] for pid in ours) / _TICKS
