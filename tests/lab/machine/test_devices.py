"""What of the machine's cameras, pins and modules computes without one."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.lab.machine import feeder
from companion.lab.machine.camera import FEEDS, MARKERS, pictures
from companion.lab.machine.drivers import wanted
from companion.lab.machine.image import BuildError
from companion.lab.machine.pins import PRESSED
from vision.board.markers import find_table

SHOWN = """
Package: linux-headers-6.1.0-50-arm64
Version: 6.1.176-1
Depends: linux-headers-6.1.0-50-common (= 6.1.176-1), linux-kbuild-6.1 (>= 6.1.176-1), linux-compiler-gcc-12-arm
"""


def test_what_a_kernels_headers_need_is_read_of_the_archive() -> None:
    assert wanted(SHOWN, "amd64") == ("6.1.176-1", ["linux-headers-6.1.0-50-common", "linux-kbuild-6.1:amd64"])
    with pytest.raises(BuildError, match="no longer in the archive"):
        wanted("", "amd64")


@pytest.mark.parametrize(("kind", "width", "height"), FEEDS)
def test_a_drawn_table_is_read_from_each_feed(kind: str, width: int, height: int) -> None:
    first, second = (np.asarray(cv2.imdecode(np.frombuffer(one, np.uint8), 1)) for one in pictures(width, height))
    assert not np.array_equal(first, second), "the very same picture again and again is a camera that hangs"
    shown = first
    if kind == "YUYV":
        sent = np.frombuffer(feeder.yuyv(first), np.uint8).reshape(height, width, 2)
        shown = cv2.cvtColor(sent, cv2.COLOR_YUV2BGR_YUYV)
        assert np.abs(shown.astype(int) - first).mean() < 12
    view = find_table(np.asarray(shown, np.uint8))
    assert sorted(view.markers) == MARKERS and view.image is not None


def test_the_kernels_structure_has_its_size() -> None:
    assert feeder.FORMAT.size == (feeder.SET_FORMAT >> 16) & 0x3FFF == 208


def test_what_runs_inside_is_python() -> None:
    compile(PRESSED, "pressed", "exec")
