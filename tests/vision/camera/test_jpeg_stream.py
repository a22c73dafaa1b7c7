"""Cutting streams into pictures."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.camera.jpeg_stream import MAX_PICTURE, JpegCutter


def picture(shade: int, size: int = 40) -> bytes:
    noise = np.random.default_rng(shade).integers(0, 255, (size, size, 3), np.uint8)
    return cv2.imencode(".jpg", noise)[1].tobytes()


PICTURES = [picture(shade) for shade in range(4)]
HEAD = b"\r\n--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 7\r\n\r\n"


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=20), st.sampled_from([b"", b"\r\n", HEAD, b"\xff\x00\xff"]))
def test_however_the_bytes_arrive(sizes: list[int], between: bytes) -> None:
    stream = between + between.join(PICTURES) + between
    cutter, got, at, turn = JpegCutter(), [], 0, 0
    while at < len(stream):
        size = sizes[turn % len(sizes)]
        got += cutter.feed(stream[at : at + size])
        at, turn = at + size, turn + 1
    assert got == PICTURES
    assert cutter.skipped == 0


def test_begun_in_the_middle_of_a_picture() -> None:
    cutter = JpegCutter()
    assert cutter.feed(PICTURES[0][700:] + HEAD + PICTURES[1]) == [PICTURES[1]]
    assert cutter.skipped == 0


@pytest.mark.parametrize("cut", [3, 30, 300, 800, -2, -1])
def test_a_picture_cut_short_costs_no_other(cut: int) -> None:
    cutter = JpegCutter()
    got = cutter.feed(PICTURES[0] + HEAD + PICTURES[1][:cut] + HEAD + PICTURES[2] + HEAD + PICTURES[3])
    assert [p for p in got if p in PICTURES] == [PICTURES[0], PICTURES[2], PICTURES[3]]
    assert cutter.skipped >= 1


def test_a_thumbnail_is_not_taken_for_the_picture() -> None:
    body = b"Exif\0\0" + picture(9, 16)
    outer = PICTURES[0][:2] + b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body + PICTURES[0][2:]
    cutter = JpegCutter()
    got = [p for at in range(0, len(outer), 100) for p in cutter.feed(outer[at : at + 100])]
    assert got == [outer]


def test_what_is_held_is_bounded() -> None:
    cutter = JpegCutter()
    for _ in range(300):
        assert cutter.feed(bytes(64 * 1024)) == []
    assert cutter.between == 300 * 64 * 1024 - 2
    endless = PICTURES[0][:-2]
    cutter.feed(endless)
    for _ in range(MAX_PICTURE // 65536 + 2):
        cutter.feed(b"\x11" * 65536)
    assert cutter.skipped == 1
    assert len(cutter._held) < 65536
    assert cutter.feed(PICTURES[1]) == [PICTURES[1]]


def test_a_picture_of_too_many_pixels_is_skipped() -> None:
    at = PICTURES[0].index(b"\xff\xc0")
    huge = PICTURES[0][: at + 5] + b"\x40\x00\x40\x00" + PICTURES[0][at + 9 :]
    cutter = JpegCutter()
    assert cutter.feed(huge + PICTURES[1]) == [PICTURES[1]]
    assert cutter.skipped == 1


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_noise_never_breaks_it(chunks: list[bytes]) -> None:
    cutter = JpegCutter()
    for chunk in chunks:
        cutter.feed(b"\xff\xd8\xff" + chunk + b"\xff\xd9")
    assert cutter.feed(b"\xff\xd9" + bytes(70000) + PICTURES[0])[-1:] in ([PICTURES[0]], [])
