"""Every way to get pictures; those that need hardware as far as they go without."""

from __future__ import annotations

import http.client
import itertools
import os
import queue
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from companion.lab.worlds.mjpeg import STYLES, MjpegServer
from companion.ports import BadDataError, CameraSource, DeviceError, DeviceKind, Frame
from tests.worlds.wait import PATIENCE_S
from vision import messages
from vision.camera import frame, mjpeg, pi
from vision.camera.frame import Camera, captured_frames
from vision.camera.mjpeg import HttpCamera
from vision.camera.sources import PhotoFile, PictureFolder, open_source
from vision.camera.usb import UsbCamera, camera_name, find_cameras
from vision.camera.video_file import VideoFile
from vision.messages import CameraError

pytestmark = pytest.mark.process


def flat(shade: int, width: int = 320, height: int = 240) -> np.ndarray:
    return np.full((height, width, 3), shade, np.uint8)


def jpeg(shade: int) -> bytes:
    return cv2.imencode(".jpg", flat(shade))[1].tobytes()


PLAYED = [jpeg(40 * n + 20) for n in range(5)]


EVERY = 1e9
"""So many pictures a second are wanted of a camera that each one is, however soon it comes after the last."""


def shades(source: Camera, count: int) -> list[int]:
    try:
        taken = list(itertools.islice(source.capture(), count))
    finally:
        source.close()
    return [round(float(captured.image().mean())) for captured in taken]


def stepped(source: Camera, server: MjpegServer, steps: list[int]) -> list[int]:
    """Return the shades of a camera's pictures: one of each so many that are sent it."""
    found = []
    pictures = source.capture()
    try:
        for count in steps:
            server.send(count)
            found.append(round(float(next(pictures).image().mean())))
    finally:
        source.close()
    return found


# --- what a text means ---


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("usb", DeviceKind.REAL, "usb"),
        ("usb:1", DeviceKind.REAL, "usb:1"),
        (" /dev/video2 ", DeviceKind.REAL, "/dev/video2"),
        ("pi", DeviceKind.REAL, "pi:0"),
        ("pi:1", DeviceKind.REAL, "pi:1"),
        ("http://camera.local:8080/video", DeviceKind.REAL, "http://camera.local:8080/video"),
        ("http://anna:secret@10.0.0.7/video?token=secret", DeviceKind.REAL, "http://10.0.0.7/video"),
        ("http://[fe80::1]:81/", DeviceKind.REAL, "http://[fe80::1]:81/"),
        ("https://camera.local/video", DeviceKind.REAL, "https://camera.local/video"),
    ],
)
def test_what_a_text_means(text: str, kind: DeviceKind, name: str) -> None:
    source = open_source(text)
    assert isinstance(source, CameraSource)
    assert (source.kind, source.name) == (kind, name)


@pytest.mark.parametrize(
    "text",
    (
        *("", "   ", "usb:", "usb:x", "usb:123", "webcam", "pi:x", "http://", "http:///video", "http://a:b"),
        *("http://a:0/", "http://a:70000/", "http://a/\r\nX: y", "ftp://a/b", "http://[::1", "file:///etc/passwd"),
        *("x\0y", "y" * 2000),
    ),
)
def test_texts_that_name_no_camera(text: str) -> None:
    with pytest.raises(BadDataError) as error:
        open_source(text)
    assert str(error.value) == messages.SOURCE_UNKNOWN


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(PLAYED[0])
    (tmp_path / "note.txt").write_text("no picture")
    assert isinstance(open_source(str(tmp_path / "a.jpg")), PhotoFile)
    assert isinstance(open_source(str(tmp_path)), PictureFolder)
    assert open_source(str(tmp_path)).kind is DeviceKind.RECORDED
    with pytest.raises(BadDataError, match="not a JPEG"):
        open_source(str(tmp_path / "note.txt"))
    with pytest.raises(BadDataError, match="not a camera"):
        open_source(str(tmp_path / "none.jpg"))


# --- over HTTP ---


@pytest.mark.parametrize("style", [style for style in STYLES if style not in {"truncated"}])
def test_every_way_that_cameras_write_multipart(style: str) -> None:
    with MjpegServer(PLAYED, stepped=True, style=style) as server:
        source = open_source(server.url, fps=EVERY)
        assert stepped(source, server, [1] * 6) == [20, 60, 100, 140, 180, 20]
        assert source.skipped == 0
        assert source.kind is DeviceKind.SIMULATED


def test_truncated_pictures_are_skipped_and_counted() -> None:
    with MjpegServer(PLAYED, stepped=True, style="truncated") as server:
        source = open_source(server.url, fps=EVERY)
        assert stepped(source, server, [1, 2, 2, 2]) == [20, 100, 180, 60]
        assert source.skipped == 3


def test_a_stream_cannot_call_itself_real_but_anything_else() -> None:
    for said, kind in (("recorded", "recorded"), ("", "real"), ("real", "real"), ("nonsense", "real")):
        with MjpegServer(PLAYED, fps=40, kind=said) as server:
            source = open_source(server.url)
            shades(source, 1)
            assert source.kind.value == kind
            assert source.live


def test_name_and_password_reach_the_camera_and_nobody_else() -> None:
    with MjpegServer(PLAYED, fps=40) as server:
        address = server.url.replace("http://", "http://anna:s%C3%A9same@") + "?token=secret"
        source = open_source(address)
        shades(source, 1)
        assert server.requests == [("/stream.mjpg?token=secret", "Basic YW5uYTpzw6lzYW1l")]
        server.answer = (401, "")
        with pytest.raises(CameraError) as error:
            shades(open_source(address), 1)
        assert error.value.note == messages.HTTP_PASSWORD
        assert "s" + "ame" not in source.name + str(error.value)


@pytest.mark.parametrize("answer", [(404, ""), (503, ""), (200, "text/html"), (200, "image/jpeg")])
def test_an_answer_that_is_no_stream(answer: tuple[int, str]) -> None:
    with MjpegServer(PLAYED, fps=40) as server:
        server.answer = answer
        with pytest.raises(CameraError) as error:
            shades(open_source(server.url), 1)
    assert error.value.note == messages.HTTP_NO_STREAM
    assert str(answer[0]) in error.value.detail


def test_nobody_answers() -> None:
    # Nobody else can have the port, and nobody listens at it.
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        with pytest.raises(CameraError) as error:
            shades(open_source(f"http://127.0.0.1:{held.getsockname()[1]}/"), 1)
    assert error.value.note == messages.HTTP_NO_ANSWER
    assert isinstance(error.value, DeviceError)


def test_something_else_answers() -> None:
    # Not HTTP at all, and a stream that sends no picture.
    for words, note in (
        (b"SSH-2.0-OpenSSH_9.2\r\n", messages.HTTP_NO_ANSWER),
        (
            b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace\r\n\r\n" + bytes(3_000_000),
            messages.HTTP_NO_STREAM,
        ),
    ):
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def talk(listener: socket.socket = listener, words: bytes = words) -> None:
                connection, _ = listener.accept()
                with connection:
                    try:
                        connection.sendall(words)
                        connection.recv(1000)
                    except OSError:
                        pass

            thread = threading.Thread(target=talk, daemon=True)
            thread.start()
            with pytest.raises(CameraError) as error:
                shades(open_source(f"http://127.0.0.1:{listener.getsockname()[1]}/"), 1)
            thread.join(PATIENCE_S)
        assert error.value.note == note


def test_a_silent_and_a_dripping_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    with MjpegServer(PLAYED, fps=40) as server:
        source = open_source(server.url)
        assert isinstance(source, HttpCamera)
        frames = source.frames()
        next(frames)
        server.hush()
        # Only now it must be quick, when nothing comes any more: till here it had the time that this machine took.
        assert source._socket is not None
        source._socket.settimeout(0.3)
        with pytest.raises(CameraError) as error:
            list(frames)
        assert error.value.note == messages.CAMERA_SILENT
        # What comes is no picture: that ends it, not its patience, however busy this machine is.
        monkeypatch.setattr(mjpeg, "PATIENCE_S", PATIENCE_S)
        monkeypatch.setattr(mjpeg, "PICTURE_S", 0.5)
        server.hush(False)
        server.show([b"no picture at all"])
        with pytest.raises(CameraError) as error:
            list(open_source(server.url).frames())
        assert error.value.note == messages.HTTP_NO_STREAM


def test_cut_off_and_back() -> None:
    with MjpegServer(PLAYED, fps=40) as server:
        source = open_source(server.url)
        frames = source.frames()
        first = next(frames)
        server.drop()
        with pytest.raises(CameraError):
            list(frames)
        again = next(source.frames())
        assert again.number > first.number


def test_closing_ends_a_reader_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mjpeg, "PATIENCE_S", PATIENCE_S)
    with MjpegServer(PLAYED, stepped=True) as server:
        source = open_source(server.url)
        frames = source.frames()
        server.send()
        next(frames)
        # The next picture is never sent: whoever reads on waits for it.
        reads = threading.Event()
        read = http.client.HTTPResponse.read1
        monkeypatch.setattr(http.client.HTTPResponse, "read1", lambda answer, n: (reads.set(), read(answer, n))[1])
        answers = queue.SimpleQueue[list[Frame]]()
        threading.Thread(target=lambda: answers.put(list(frames)), daemon=True).start()
        assert reads.wait(PATIENCE_S)
        source.close()
        assert answers.get(timeout=PATIENCE_S) == []


def test_a_fast_camera_is_thinned_before_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    # By the clock of the test each picture comes a sixtieth of a second after the last.
    ticks = itertools.count()
    monkeypatch.setattr(frame, "time", SimpleNamespace(monotonic=lambda: next(ticks) / 60))
    with MjpegServer(PLAYED, fps=60) as server:
        source = open_source(server.url, fps=5)
        times = [captured.t for captured in itertools.islice(captured_frames(source), 6)]
        source.close()
    assert times[-1] - times[0] > 0.9  # five steps of a fifth of a second, the first a little early


# --- the Pi camera ---


def program(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program called rpicam-vid in front of the path."""
    path = folder / pi.PROGRAM
    path.write_text(f"#!{sys.executable}\nimport sys, os\nout = sys.stdout.buffer\n{body}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return path


def test_the_pi_camera_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, picture in enumerate(PLAYED):
        (tmp_path / f"{number}.jpg").write_bytes(picture)
    turns = tmp_path / "turns"
    os.mkfifo(turns)
    # Each picture comes in two pieces, the second when the first was taken out of the pipe, and when it is its turn.
    body = f"""
import fcntl, termios
def taken():
    return not int.from_bytes(fcntl.ioctl(out, termios.FIONREAD, bytes(4)), sys.byteorder)
open({str(tmp_path / "asked")!r}, "w").write(" ".join([str(os.getpid()), *sys.argv[1:]]))
turns = open({str(turns)!r}, "rb", buffering=0)
for n in [0, 1, 2, 3, 4]:
    turns.read(1)
    data = open({str(tmp_path)!r} + f"/{{n}}.jpg", "rb").read()
    out.write(data[:400]); out.flush()
    while not taken(): os.sched_yield()
    out.write(data[400:]); out.flush()
turns.read(1)
"""
    program(tmp_path, body, monkeypatch)
    monkeypatch.setattr(pi, "PATIENCE_S", PATIENCE_S)
    source = open_source("pi:1", fps=EVERY)
    frames = source.frames()
    # Opened for both, it waits for nobody at its other end.
    with turns.open("r+b", buffering=0) as turn:
        found = []
        for _ in range(5):
            turn.write(b".")
            found.append(round(float(next(frames).image.mean())))
        assert found == [20, 60, 100, 140, 180]
        source.close()
        assert list(frames) == []
    child, *asked = (tmp_path / "asked").read_text().split()
    assert " ".join(asked).startswith("--codec mjpeg -n -t 0 -o - --camera 1 --width 1280 --height 960")
    with pytest.raises(ProcessLookupError):
        os.kill(int(child), 0)


def test_the_pi_camera_without_its_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CameraError) as error:
        next(open_source("pi").frames())
    assert str(error.value) == messages.PI_PROGRAM_MISSING


def test_the_pi_camera_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "print('ERROR: *** no cameras available ***', file=sys.stderr); sys.exit(255)", monkeypatch)
    with pytest.raises(CameraError) as error:
        next(open_source("pi").frames())
    assert error.value.note == messages.PI_STOPPED
    assert error.value.detail == "ERROR: *** no cameras available ***"


def test_the_pi_camera_says_nothing_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pi, "PATIENCE_S", 0.4)
    body = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsys.stderr.close()\nos.close(2)\nsignal.pause()"
    )
    program(tmp_path, body, monkeypatch)
    with pytest.raises(CameraError) as error:
        next(open_source("pi").frames())
    assert error.value.note == messages.CAMERA_SILENT


# --- USB ---


def capability(driver: str, card: str, caps: int, device_caps: int | None = None) -> bytes:
    every = caps | (0x80000000 if device_caps is not None else 0)
    return struct.pack("16s32s32sIII12x", driver.encode(), card.encode(), b"usb-1", 0x060100, every, device_caps or 0)


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (capability("uvcvideo", "HD Webcam C270", 0x84A00001, 0x04200001), "HD Webcam C270"),
        (capability("uvcvideo", "HD Webcam C270", 0x84A00001, 0x04A00000), ""),  # its second node gives metadata
        (capability("old", "Grabber", 0x05000001), "Grabber"),
        (capability("bcm2835-codec", "bcm2835-codec-decode", 0x84204000, 0x04204000), ""),
        (capability("bcm2835-isp", "bcm2835-isp", 0x85200001, 0x05200001), ""),
        (capability("unicam", "unicam", 0x85A00001, 0x05200001), ""),
        (capability("rp1-cfe", "rp1-cfe", 0xADA00001, 0x25200001), ""),
        (capability("pispbe", "pispbe", 0xA4203000, 0x24201000), ""),
    ],
)
def test_which_nodes_are_cameras(answer: bytes, name: str) -> None:
    assert camera_name(answer) == name


def test_looking_for_cameras_survives_anything_called_video(tmp_path: Path) -> None:
    (tmp_path / "video0").write_bytes(b"no device")
    (tmp_path / "video1").mkdir()
    (tmp_path / "video2").symlink_to(tmp_path / "gone")
    (tmp_path / "video3").symlink_to("/dev/null")
    assert find_cameras(tmp_path) == ()
    assert find_cameras(tmp_path / "none") == ()


def test_usb_cameras_that_are_not_there(tmp_path: Path) -> None:
    for text in ("usb:9", "/dev/video99"):
        with pytest.raises(CameraError) as error:
            next(open_source(text).frames())
        assert error.value.note == messages.CAMERA_NOT_FOUND
    (tmp_path / "video0").write_bytes(b"no device")
    with pytest.raises(CameraError) as error:
        next(UsbCamera("usb", 5, device=str(tmp_path / "video0")).frames())
    assert error.value.note == messages.CAMERA_BUSY


def film(path: Path, count: int = 20, rate: float = 10) -> Path:
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), rate, (320, 240))
    for number in range(count):
        writer.write(flat(10 * number + 10))
    writer.release()
    return path


class CameraOfFilm(UsbCamera):
    """A USB camera whose driver is a film: OpenCV's capture is real, and its end is what unplugging looks like."""

    as_they_are = False

    def _open(self) -> cv2.VideoCapture:
        capture = cv2.VideoCapture(self._device, cv2.CAP_FFMPEG)
        if self.as_they_are:
            capture.set(cv2.CAP_PROP_FORMAT, -1)
        return capture


@pytest.mark.parametrize("as_they_are", [False, True])
def test_a_usb_camera_is_read_until_it_is_unplugged(tmp_path: Path, as_they_are: bool) -> None:
    source = CameraOfFilm("usb", EVERY, device=str(film(tmp_path / "film.avi")))
    source.as_they_are = as_they_are
    got = []
    with pytest.raises(CameraError) as error:
        for captured in source.capture():
            assert bool(captured.jpeg) == as_they_are, "a camera's JPEG is decoded by the child, not here"
            got.append(round(float(captured.image().mean()), -1))
    assert error.value.note == messages.CAMERA_LOST
    assert got == [10 * n + 10 for n in range(20)]


# --- recordings ---


def test_a_photo(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(PLAYED[2])
    frames = list(open_source(str(path)).frames())
    assert [(f.number, f.kind, f.image.shape) for f in frames] == [(1, DeviceKind.RECORDED, (240, 320, 3))]
    path.write_bytes(PLAYED[2][:-300])
    with pytest.raises(CameraError) as error:
        list(open_source(str(path)).frames())
    assert error.value.note == messages.PHOTO_CUT_OFF


def test_a_folder_of_pictures(tmp_path: Path) -> None:
    for number, picture in enumerate(PLAYED):
        (tmp_path / f"turn{number:02}.jpg").write_bytes(picture)
    (tmp_path / "turn01b.png").write_bytes(b"broken")
    (tmp_path / "readme.txt").write_text("not one of them")
    (tmp_path / "turn02x.jpg").mkdir()
    source = open_source(str(tmp_path))
    assert shades(source, 10) == [20, 60, 100, 140, 180]
    assert source.skipped == 1
    empty = tmp_path / "turn02x.jpg"
    with pytest.raises(CameraError) as error:
        list(open_source(str(empty)).frames())
    assert error.value.note == messages.FOLDER_EMPTY


def test_a_video_gives_so_many_pictures_a_second_of_film(tmp_path: Path) -> None:
    path = film(tmp_path / "film.avi", 20, rate=10)
    source = open_source(str(path), fps=5)
    assert isinstance(source, VideoFile)
    assert [round(s, -1) for s in shades(source, 99)] == [10 * n + 10 for n in range(0, 20, 2)]
    assert source.kind is DeviceKind.RECORDED


@pytest.mark.parametrize("start", [b"\0\0\0\x18ftypisom", b"\x1a\x45\xdf\xa3", b"RIFF\x10\x10\0\0AVI LIST"])
def test_a_video_that_is_none(tmp_path: Path, start: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(start + bytes(500))
    with pytest.raises(CameraError) as error:
        list(open_source(str(path)).frames())
    assert error.value.note == messages.VIDEO_UNREADABLE
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://10.0.0.1/secret\n")
    with pytest.raises(BadDataError, match="not a JPEG"):
        open_source(str(path))


def test_a_source_of_another_house_is_watched_too() -> None:
    class Rendered:
        name, kind = "rendered", DeviceKind.SIMULATED

        def frames(self) -> Iterator[Frame]:
            yield Frame(flat(70), 1.5, 7, self.name, self.kind)

        def close(self) -> None:
            pass

    (captured,) = captured_frames(Rendered())
    assert (captured.number, captured.t, captured.source, captured.kind) == (7, 1.5, "rendered", DeviceKind.SIMULATED)
    assert captured.size() == (320, 240)
    assert captured.small().shape == (120, 160)
    assert captured.frame().image is captured.image()
