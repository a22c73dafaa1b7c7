"""A video is read in a child process: what it may take, and what becomes of one that harms its reader."""

from __future__ import annotations

import os
import random
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.ports import DeviceKind
from tests.vision.decode.test_sandbox import wait_until_gone, when_asked
from vision import messages
from vision.camera import video_file
from vision.camera.sources import open_source
from vision.camera.video_file import Film, VideoFile
from vision.decode.sandbox import DamagedPictureError, TooMuchError
from vision.messages import CameraError

pytestmark = pytest.mark.process


def filmed(path: Path, count: int = 20, size: tuple[int, int] = (320, 240), code: str = "MJPG") -> Path:
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*code), 10, size)
    for number in range(count):
        writer.write(np.full((size[1], size[0], 3), 10 * number + 10, np.uint8))
    writer.release()
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return filmed(tmp_path / "film.avi")


@pytest.fixture
def opened(path: Path) -> Iterator[Film]:
    with path.open("rb") as file, Film(file, seconds=1) as made:
        yield made


def test_a_film_is_read_to_its_end(opened: Film) -> None:
    assert opened.rate == 10
    assert opened.next(wanted=False) is None
    image = opened.next()
    assert image.shape == (240, 320, 3)
    assert abs(float(image.mean()) - 20) < 2
    for _ in range(18):
        opened.next(wanted=False)
    with pytest.raises(EOFError):
        opened.next()


@pytest.mark.parametrize(("name", "code"), [("film.avi", "MJPG"), ("film.mp4", "mp4v"), ("film.mkv", "MJPG")])
def test_kinds_of_films(tmp_path: Path, name: str, code: str) -> None:
    source = open_source(str(filmed(tmp_path / name, code=code)), fps=5)
    assert isinstance(source, VideoFile)
    frames = list(source.frames())
    assert [round(float(f.image.mean()), -1) for f in frames] == [10 * n + 10 for n in range(0, 20, 2)]
    assert {f.kind for f in frames} == {DeviceKind.RECORDED}


def test_the_child_may_open_and_start_nothing_and_goes_with_the_film(opened: Film) -> None:
    opened.next()
    pid = opened.process.pid
    limits = Path(f"/proc/{pid}/limits").read_text()
    for what in ("open files", "file size", "processes", "core file size"):
        assert re.search(rf"^Max {what}\s+0\s+0\s", limits, re.MULTILINE), what
    threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
    assert threads == 1
    opened.close()
    wait_until_gone(pid)


def test_a_source_that_is_closed_ends_its_child(path: Path) -> None:
    source = VideoFile(path, 5)
    frames = source.capture()
    next(frames)
    child = frames.gi_frame.f_locals["film"].process
    source.close()
    assert list(frames) == []
    wait_until_gone(child.pid)


def test_a_film_that_takes_too_much_memory_is_not_read(tmp_path: Path) -> None:
    large = filmed(tmp_path / "large.avi", 2, (4000, 4000))
    with large.open("rb") as file, Film(file) as made:
        assert made.next().shape == (4000, 4000, 3)
    # FFmpeg says of memory that it was refused no more than that the picture cannot be read.
    with large.open("rb") as file, pytest.raises((DamagedPictureError, TooMuchError)), Film(file, memory_mb=60) as made:
        made.next()


def test_more_pixels_than_a_photo_may_have_are_not_taken(tmp_path: Path) -> None:
    large = filmed(tmp_path / "large.avi", 1, (6000, 5000))
    with pytest.raises(CameraError) as error:
        list(open_source(str(large)).capture())
    assert (error.value.note, error.value.detail) == (messages.VIDEO_TOO_MUCH, "large.avi")


def test_a_child_that_hangs_is_given_up(opened: Film) -> None:
    os.kill(opened.process.pid, signal.SIGSTOP)
    with pytest.raises(TooMuchError):
        opened.next()


@pytest.mark.parametrize(("number", "error"), [(signal.SIGSEGV, DamagedPictureError), (signal.SIGXCPU, TooMuchError)])
def test_a_child_that_dies_is_said(
    opened: Film, number: int, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    os.kill(opened.process.pid, signal.SIGSTOP)
    pid = opened.process.pid
    when_asked(monkeypatch, video_file, lambda: [os.kill(pid, each) for each in (number, signal.SIGCONT)])
    with pytest.raises(error):
        opened.next()


def test_a_crash_in_the_middle_is_one_sentence(path: Path) -> None:
    source = VideoFile(path, 10)
    frames = source.capture()
    next(frames)
    child = frames.gi_frame.f_locals["film"].process
    os.kill(child.pid, signal.SIGSEGV)
    wait_until_gone(child.pid)
    with pytest.raises(CameraError) as error:
        list(frames)
    assert error.value.note == messages.VIDEO_UNREADABLE


@pytest.mark.parametrize("name", ["film.avi", "film.mp4"])
def test_damaged_films_give_pictures_or_a_sentence(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video_file, "SECONDS", 2)
    whole = filmed(tmp_path / name, 6, (64, 48), "MJPG" if name.endswith("avi") else "mp4v").read_bytes()
    rng = random.Random(name)
    for _ in range(3):
        data = bytearray(whole[: rng.randrange(len(whole) // 2, len(whole))])
        for _ in range(20):
            data[rng.randrange(12, len(data))] = rng.randrange(256)
        damaged = tmp_path / f"damaged-{name}"
        damaged.write_bytes(data)
        try:
            given = [frame.image.shape for frame in open_source(str(damaged), fps=10).frames()]
        except CameraError as error:
            assert error.note in {messages.VIDEO_UNREADABLE, messages.VIDEO_TOO_MUCH}
        else:
            assert all(shape[2] == 3 for shape in given)
