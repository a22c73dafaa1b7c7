"""What is counted as the cost of following: this process and its children, but not the camera's."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from companion.lab.bench.vision.following_load import _processor_s, camera_process, with_hand
from companion.lab.worlds.table import of_jpeg
from companion.lab.worlds.table import through_jpeg as jpeg_of
from vision.camera.sources import open_source

BUSY = "import time\nwhile time.process_time() < 0.6: pass\nprint(flush=True)\ninput()"

pytestmark = pytest.mark.process


def test_children_count_the_camera_does_not_and_those_that_ended_do() -> None:
    before = _processor_s(0)
    with subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None
        assert child.stdout.readline() == b"\n"
        assert _processor_s(0) - before > 0.5
        assert _processor_s(child.pid) - before < 0.5
    assert _processor_s(0) - before > 0.5


def test_a_stream_comes_out_of_another_process_with_a_hand_that_comes_and_goes() -> None:
    _, still = jpeg_of(np.full((480, 640, 3), 90, np.uint8), 90)
    shown = list(with_hand(still, 1))
    covered = [int((of_jpeg(one)[..., 2] > 150).sum()) for one in shown]
    assert max(covered) > 4 * covered[0] > 0
    assert 4 * covered[-1] < max(covered)
    with camera_process() as camera:
        camera.show(shown)
        source = open_source(camera.url)
        frames = source.capture()  # type: ignore[attr-defined]
        assert [next(frames).jpeg in shown for _ in range(3)] == [True] * 3
        source.close()
