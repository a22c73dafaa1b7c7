"""The watcher, on a real HTTP stream of rendered tables."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.lab.worlds import table
from companion.lab.worlds.mjpeg import MjpegServer
from companion.ports import BadDataError, CameraStatus, DeviceKind, DeviceState, Frame
from tests.worlds.wait import PATIENCE_S, wait
from vision import messages
from vision.board.markers import MarkersFound, find_markers
from vision.camera import mjpeg, watcher
from vision.camera.frame import Camera, CapturedFrame
from vision.camera.sources import open_source
from vision.camera.watcher import CameraWatcher, CornerSmoother, Look
from vision.decode.photo import read_photo

pytestmark = pytest.mark.process


def state(status: CameraStatus) -> tuple[DeviceState, str]:
    return status.state, status.note


@pytest.fixture
def camera(still: list[table.Picture]) -> Iterator[MjpegServer]:
    with MjpegServer([picture.jpeg for picture in still], fps=12) as server:
        yield server


def test_the_way_from_the_camera_to_the_straight_table(camera: MjpegServer) -> None:
    looks: list[Look] = []
    with CameraWatcher(open_source(camera.url, fps=10), on_look=looks.append) as watching:
        wait(lambda: len(looks) >= 2)
        status = watching.status()
        assert state(status) == (DeviceState.CONNECTED, messages.CAMERA_RUNS)
        assert (status.source, status.kind) == (camera.url, DeviceKind.SIMULATED)
        assert (status.width, status.height, status.skipped) == (1280, 960, 0)
        wait(lambda: watching.status().fps > 1)
        frame = watching.frame()
        assert isinstance(frame, Frame)
        assert frame.image.shape == (960, 1280, 3)
        picture, straight = watching.frame_jpeg(), watching.table_jpeg()
        assert picture is not None
        assert straight is not None
        assert read_photo(picture).shape == (960, 1280, 3)
        look = watching.look()
        assert look is not None
        assert look.table is not None
        assert look.table.image is not None
        assert read_photo(straight).shape == look.table.image.shape
    first = looks[0]
    assert (first.number, first.old, first.kind) == (1, False, DeviceKind.SIMULATED)
    assert first.now is first.table
    assert looks[1].number == 2
    assert not any(thread.name.startswith("camera ") for thread in threading.enumerate())


def test_hidden_markers_keep_the_last_table_marked_as_old(
    camera: MjpegServer, hidden: table.Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "ENCODE_EVERY_S", 0.0)
    with CameraWatcher(open_source(camera.url, fps=10), on_look=lambda look: None) as watching:
        wait(lambda: (look := watching.look()) and look.table)
        before = watching.table_jpeg()
        camera.show([hidden.jpeg])
        wait(lambda: (look := watching.look()) and look.now.missing)
        look = watching.look()
        assert look is not None
        assert look.old
        assert look.now.missing == (2,)
        assert look.now.note == messages.SOME_MISSING
        assert look.table is not None
        assert look.table.image is not None
        assert look.table_t < look.t
        after = watching.table_jpeg()
        assert before is not None
        assert after is not None
        assert np.abs(read_photo(before).astype(int) - read_photo(after)).mean() < 3
        camera.show([table.standard(seed=20).jpeg])
        wait(lambda: (look := watching.look()) and not look.old)


def test_a_lost_camera_is_noticed_and_comes_back(camera: MjpegServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "RETRY_S", (0.05, 0.2))
    with CameraWatcher(open_source(camera.url, fps=10), on_look=lambda look: None) as watching:
        wait(lambda: (look := watching.look()) and look.table)
        camera.unplug()
        wait(lambda: watching.status().state is DeviceState.MISSING)
        assert watching.status().fps == 0
        look = watching.look()
        assert look is not None
        assert look.old
        assert watching.table_jpeg()
        wait(lambda: watching.status().note == messages.HTTP_NO_ANSWER)
        number = look.number
        camera.replug()
        wait(lambda: state(watching.status()) == (DeviceState.CONNECTED, messages.CAMERA_RUNS))
        wait(lambda: (look := watching.look()) and look.number > number and not look.old)


def test_a_camera_that_comes_later(still: list[table.Picture], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "RETRY_S", (0.05, 0.2))
    server = MjpegServer([picture.jpeg for picture in still])
    server.unplug()
    with server, CameraWatcher(open_source(server.url), on_look=lambda look: None) as watching:
        wait(lambda: watching.status().state is DeviceState.MISSING)
        assert watching.look() is None
        assert watching.frame() is None
        assert watching.frame_jpeg() is None
        assert watching.table_jpeg() is None
        server.replug()
        wait(lambda: (look := watching.look()) and look.table)


def test_silent(camera: MjpegServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "SILENT_S", 0.3)
    with CameraWatcher(open_source(camera.url, fps=10)) as watching:
        wait(lambda: watching.status().state is DeviceState.CONNECTED)
        camera.hush()
        wait(lambda: state(watching.status()) == (DeviceState.SILENT, messages.CAMERA_SILENT))
        camera.hush(False)
        wait(lambda: watching.status().state is DeviceState.CONNECTED)


def test_frozen(camera: MjpegServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "FROZEN_S", 0.6)
    with CameraWatcher(open_source(camera.url, fps=10)) as watching:
        wait(lambda: watching.status().state is DeviceState.CONNECTED)
        camera.freeze()
        wait(lambda: state(watching.status()) == (DeviceState.FAULTY, messages.CAMERA_FROZEN))
        camera.freeze(False)
        wait(lambda: watching.status().state is DeviceState.CONNECTED)


def test_black(camera: MjpegServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "LIT_EVERY_S", 0.1)
    rng = np.random.default_rng(1)
    dark = [cv2.imencode(".jpg", rng.integers(0, 8, (960, 1280, 3), np.uint8))[1].tobytes() for _ in range(3)]
    with CameraWatcher(open_source(camera.url, fps=10)) as watching:
        wait(lambda: watching.status().state is DeviceState.CONNECTED)
        light = list(camera._pictures)
        camera.show(dark)
        wait(lambda: state(watching.status()) == (DeviceState.FAULTY, messages.CAMERA_BLACK))
        camera.show(light)
        wait(lambda: watching.status().state is DeviceState.CONNECTED)


def test_broken_pictures_are_counted_and_harm_nothing(still: list[table.Picture]) -> None:
    with (
        MjpegServer([picture.jpeg for picture in still], fps=12, style="truncated") as server,
        CameraWatcher(open_source(server.url, fps=10), on_look=lambda look: None) as watching,
    ):
        wait(lambda: (look := watching.look()) and look.table)
        wait(lambda: watching.status().skipped >= 2)
        assert watching.status().state is DeviceState.CONNECTED


class Counting(Camera):
    """A live camera that counts how often its pictures are decoded."""

    def __init__(self, pictures: list[bytes], fps: float) -> None:
        super().__init__("counting", DeviceKind.SIMULATED, fps)
        self.given = self.decoded = 0
        self._pictures = pictures
        self._halt, self._halted = threading.Event(), threading.Event()

    def halt(self) -> None:
        """Give no more pictures; return when the last one was taken."""
        self._halt.set()
        assert self._halted.wait(PATIENCE_S)

    def capture(self) -> Iterator[CapturedFrame]:
        counter = self

        class Counted(CapturedFrame):
            __slots__ = ()

            def image(self) -> np.ndarray:
                counter.decoded += 1
                return super().image()

        while not self._closed.wait(1 / self.fps):
            if self._halt.is_set():
                self._halted.set()
                continue
            self.given += 1
            picture = self._pictures[self.given % len(self._pictures)]
            yield Counted(t=time.monotonic(), number=self.given, source=self.name, kind=self.kind, jpeg=picture)


def test_nobody_listens_and_little_is_done(still: list[table.Picture]) -> None:
    camera = Counting([picture.jpeg for picture in still], fps=50)
    with CameraWatcher(camera) as watching:
        wait(lambda: camera.given > 60)
        assert watching.status().state is DeviceState.CONNECTED
        assert camera.decoded == 0
        camera.halt()
        # The first to ask gets the newest picture, not one of long ago.
        look = watching.look()
        assert camera.decoded == 1
        assert look is not None
        assert look.table is not None


def test_a_still_table_is_looked_at_seldom_and_a_change_at_once(still: list[table.Picture]) -> None:
    camera = Counting([picture.jpeg for picture in still], fps=20)
    looks: list[Look] = []
    with CameraWatcher(camera, on_look=looks.append):
        wait(lambda: camera.given >= 30)
        assert all(b.t - a.t >= watcher.CALM_EVERY_S for a, b in itertools.pairwise(looks))
        assert camera.decoded <= len(looks) + 1  # the newest may be under way
        moved = table.render(table.TableScene(tuple(table.cards(loose=20, seed=8))), seed=3)
        camera._pictures = [moved.jpeg]
        wait(lambda: looks[-1].table and np.abs(np.array(looks[-1].now.markers[0]) - moved.corners[0]).max() < 1)


def test_a_still_table_has_still_corners(still: list[table.Picture]) -> None:
    smoother = CornerSmoother()
    planes, spread = [], []
    for number in range(12):
        image = still[number % 4].image
        found = find_markers(image)
        smooth = smoother.smooth(found, (1280, 960))
        planes.append(smoother.plane(smooth, image))
        spread.append(np.concatenate([smooth.corners[n] - still[0].corners[n] for n in range(4)]))
    assert planes[-1] is planes[-4]
    assert np.abs(np.array(spread[-1])).max() <= 0.2
    assert np.std(np.array(spread[8:]), axis=0).max() < 0.02
    # A marker that moved is followed at once.
    shifted = MarkersFound(
        {n: corners + (3.0 * (n == 1)) for n, corners in find_markers(still[0].image).corners.items()}
    )
    moved = smoother.smooth(shifted, (1280, 960))
    assert np.abs(moved.corners[1] - shifted.corners[1]).max() == 0
    assert smoother.plane(moved, still[0].image) is not planes[-1]
    # Another size of picture begins anew.
    assert smoother.smooth(shifted, (640, 480)).corners[0] == pytest.approx(shifted.corners[0])


def test_a_photo_from_a_phone(still: list[table.Picture], hidden: table.Picture) -> None:
    looks: list[Look] = []
    watching = CameraWatcher(on_look=looks.append).start()
    assert state(watching.status()) == (DeviceState.MISSING, messages.NO_CAMERA)
    assert watching.look() is None
    look = watching.show_photo(still[0].jpeg, "Anna's phone")
    assert look.table is look.now
    assert (look.source, look.kind) == ("Anna's phone", DeviceKind.RECORDED)
    status = watching.status()
    assert state(status) == (DeviceState.CONNECTED, messages.PHOTO_SHOWN)
    assert (status.source, status.width, status.height) == ("Anna's phone", 1280, 960)
    first = watching.frame_jpeg()
    # The next photo does not borrow the table of the last one.
    look = watching.show_photo(hidden.jpeg, "another phone")
    assert look.table is None
    assert look.now.missing == (2,)
    assert watching.frame_jpeg() != first
    assert watching.table_jpeg() is None
    with pytest.raises(BadDataError, match="cut off"):
        watching.show_photo(still[0].jpeg[:-1000])
    assert watching.look() == look
    assert [look.number for look in looks] == [1, 2]
    watching.close()


def test_a_photo_that_somebody_asks_about_while_it_comes_has_one_look(
    still: list[table.Picture], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check of a round keeps a picture once: which one it was is told by the number of its look."""
    with CameraWatcher(None) as watched:
        waiting, looking = [], watched._looking

        class Door:
            def __enter__(self) -> None:
                waiting.append(1)
                looking.acquire()

            def __exit__(self, *_: object) -> None:
                looking.release()

        asking = threading.Thread(target=watched.look)

        def find(image: np.ndarray) -> MarkersFound:
            if not asking.ident:
                asking.start()
                wait(lambda: len(waiting) == 2)
            return find_markers(image)

        monkeypatch.setattr(watched, "_looking", Door())
        monkeypatch.setattr(watcher, "find_markers", find)
        shown = watched.show_photo(still[0].jpeg)
        asking.join()
        look = watched.look()
        assert look is not None and (look.number, shown.number) == (1, 1)


def test_a_folder_is_played_to_its_end(tmp_path: Path, still: list[table.Picture], hidden: table.Picture) -> None:
    for number, picture in enumerate([still[0], still[1], hidden]):
        (tmp_path / f"{number}.jpg").write_bytes(picture.jpeg)
    with CameraWatcher(open_source(str(tmp_path), fps=4), on_look=lambda look: None) as watching:
        wait(lambda: watching.status().note == messages.CAMERA_ENDED)
        status = watching.status()
        assert (status.state, status.kind) == (DeviceState.CONNECTED, DeviceKind.RECORDED)
        frame = watching.frame()
        assert frame is not None
        assert frame.number == 3


def test_jpeg_is_encoded_a_few_times_a_second(still: list[table.Picture], monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []
    monkeypatch.setattr(watcher, "to_jpeg", lambda image: encoded.append(1) or b"jpeg")
    camera = Counting([picture.jpeg for picture in still], fps=50)
    with CameraWatcher(camera) as watching:
        wait(lambda: camera.given >= 1)
        start = time.monotonic()
        # Each picture is looked at before the next one is taken, which lasts where the machine has other work.
        wait(lambda: watching.frame_jpeg() and camera.given >= 50, 240)
        assert len(encoded) <= 2 + (time.monotonic() - start) / watcher.ENCODE_EVERY_S


def test_what_is_kept_is_the_newest_picture_however_soon_it_came(still: list[table.Picture]) -> None:
    watching = CameraWatcher().start()
    pictures = []
    for photo in (still[0], table.standard(6)):
        watching.show_photo(photo.jpeg)
        pictures.append((watching.frame_jpeg(exact=True), watching.table_jpeg(exact=True)))
    assert not set(pictures[0]) & set(pictures[1])
    watching.close()


def test_closing_while_the_camera_is_silent(camera: MjpegServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mjpeg, "PATIENCE_S", 30)
    watching = CameraWatcher(open_source(camera.url)).start()
    wait(lambda: watching.status().state is DeviceState.CONNECTED)
    camera.hush()
    watching.close()
    assert watching._thread is not None
    assert not watching._thread.is_alive()
    assert state(watching.status()) == (DeviceState.MISSING, messages.CAMERA_CLOSED)
