"""A USB camera as OpenCV's V4L2 reader sees it: a library preloaded into a process answers in the kernel's place."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

pytestmark = pytest.mark.process

SOURCE = Path(__file__).parents[2] / "worlds" / "v4l2.c"
PROGRAM = """
import json, sys
from pathlib import Path
from vision.camera.usb import UsbCamera, find_cameras
from companion.ports import BadDataError, DeviceError

device, told = Path(sys.argv[1]), {"found": [one.name for one in find_cameras(Path(sys.argv[1]).parent)], "frames": []}
away = device.with_name("unplugged")
camera = UsbCamera("usb", 1000, device=str(device))
for _ in range(2):
    # Until it is pulled out; then it is plugged in again and read anew.
    try:
        for captured in camera.capture():
            try:
                image = captured.image()
                told["frames"].append([bool(captured.jpeg), *image.shape, round(float(image.mean()))])
            except BadDataError as error:
                told["frames"].append([bool(captured.jpeg), str(error)])
            if len(told["frames"]) % 6 == 0:
                device.rename(away)
    except DeviceError as error:
        told["ended"] = told.get("ended", []) + [error.note]
        away.rename(device)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("v4l2") / "v4l2.so"
    subprocess.run(
        ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", str(made), str(SOURCE), "-ldl"],
        check=True,
        timeout=60,
    )
    return made


def watched(folder: Path, library: Path, pictures: Sequence[bytes], kind: str) -> dict[str, Any]:
    (folder / "video0").touch()
    (folder / "frames").write_bytes(b"".join(struct.pack("=I", len(each)) + each for each in pictures))
    how = {"LD_PRELOAD": str(library), "V4L2_FORMAT": kind, "V4L2_SIZE": "320x240"}
    where = {"V4L2_DEVICE": str(folder / "video0"), "V4L2_FRAMES": str(folder / "frames")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "video0")],
        env={**os.environ, **how, **where},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return dict(json.loads(done.stdout))


def jpeg(shade: int) -> bytes:
    return cv2.imencode(".jpg", np.full((240, 320, 3), shade, np.uint8))[1].tobytes()


def test_a_camera_that_sends_jpeg_is_decoded_in_the_child_and_comes_back(tmp_path: Path, library: Path) -> None:
    # The third leaves its end mark away, as some cameras do.
    told = watched(tmp_path, library, [jpeg(60), jpeg(120), jpeg(180)[:-2]], "MJPG")
    assert told["found"] == ["A camera of a file"]
    assert len(told["frames"]) == 12
    assert all(one[:-1] == [True, 240, 320, 3] for one in told["frames"])
    assert {round(one[-1], -1) for one in told["frames"]} == {60, 120, 180}
    assert told["ended"] == ["The camera was lost and is being looked for."] * 2


def test_a_camera_that_sends_pixels_is_converted_here(tmp_path: Path, library: Path) -> None:
    pixels = [np.full((240, 320, 2), (luma, 128), np.uint8).tobytes() for luma in (60, 180)]
    told = watched(tmp_path, library, pixels, "YUYV")
    assert all(one[:-1] == [False, 240, 320, 3] for one in told["frames"])
    assert {one[-1] for one in told["frames"]} == {51, 191}


def test_what_is_no_picture_is_said_of_it_and_the_next_is_read(tmp_path: Path, library: Path) -> None:
    huge = bytearray(jpeg(60))
    start = huge.index(b"\xff\xc0")
    huge[start + 5 : start + 9] = struct.pack(">HH", 60_000, 60_000)
    told = watched(tmp_path, library, [jpeg(120), b"no picture at all", bytes(huge), jpeg(60)[:300]], "MJPG")
    assert sum(one == [True, 240, 320, 3, 120] for one in told["frames"]) >= 2
    said = {one[1] for one in told["frames"] if len(one) == 2}
    assert {"The photo has too many pixels. Send it in a smaller size."} < said
