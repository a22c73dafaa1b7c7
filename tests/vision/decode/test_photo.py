"""Photos as phones and troublemakers send them."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.ports import BadDataError
from vision import messages
from vision.decode import photo
from vision.decode.image_header import read_head
from vision.decode.photo import MAX_BYTES, read_photo, read_photo_file, to_jpeg
from vision.decode.png import bare_png
from vision.decode.sandbox import shared

pytestmark = pytest.mark.process

# A picture in which every corner has its own colour, larger than one block of JPEG.
CORNERS = np.zeros((96, 160, 3), np.uint8)
CORNERS[:48, :80] = (255, 0, 0)
CORNERS[:48, 80:] = (0, 255, 0)
CORNERS[48:, 80:] = (0, 0, 255)
CORNERS[48:, :80] = (255, 255, 255)


def encoded(suffix: str, image: np.ndarray = CORNERS, *options: int) -> bytes:
    return cv2.imencode(suffix, image, list(options))[1].tobytes()


JPEG = encoded(".jpg", CORNERS, cv2.IMWRITE_JPEG_QUALITY, 95)


def with_exif(jpeg: bytes, orientation: int, order: str = "<", extra: bytes = b"") -> bytes:
    head = b"II*\0" if order == "<" else b"MM\0*"
    tiff = head + struct.pack(order + "IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0) + extra
    body = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def png(width: int, height: int, body: bytes = b"", colour: int = 2) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def said(data: bytes) -> str:
    with pytest.raises(BadDataError) as error:
        read_photo(data)
    return str(error.value)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("orientation", "turned"),
    [
        (1, lambda i: i),
        (2, lambda i: i[:, ::-1]),
        (3, lambda i: i[::-1, ::-1]),
        (4, lambda i: i[::-1]),
        (5, lambda i: i.transpose(1, 0, 2)),
        (6, lambda i: np.rot90(i, -1)),
        (7, lambda i: i[::-1, ::-1].transpose(1, 0, 2)),
        (8, lambda i: np.rot90(i, 1)),
        (9, lambda i: i),
    ],
)
def test_a_phone_held_in_any_way(orientation: int, turned, order: str) -> None:
    image = read_photo(with_exif(JPEG, orientation, order))
    expected = turned(CORNERS)
    assert image.shape == expected.shape
    assert np.abs(image.astype(int) - expected).mean() < 6


def test_nothing_of_the_phone_is_kept() -> None:
    secret = b"GPS 48.8584 N 2.2945 E"
    kept = to_jpeg(read_photo(with_exif(JPEG, 6, extra=secret)))
    assert secret not in kept
    assert b"Exif" not in kept
    assert read_photo(kept).shape == (160, 96, 3)


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp"])
def test_the_usual_types(suffix: str) -> None:
    image = read_photo(encoded(suffix))
    assert image.shape == CORNERS.shape
    assert image.dtype == np.uint8
    assert np.abs(image.astype(int) - CORNERS).mean() < 6


def test_sixteen_bits_and_grey_become_eight_bits_in_three_colours() -> None:
    deep = read_photo(encoded(".png", CORNERS.astype(np.uint16) * 257))
    assert deep.dtype == np.uint8
    assert np.abs(deep.astype(int) - CORNERS).max() <= 1
    for grey in (CORNERS[:, :, 0], CORNERS[:, :, 0].astype(np.uint16) * 257):
        image = read_photo(encoded(".png", grey))
        assert image.shape == CORNERS.shape
        assert (image[:, :, 0] == image[:, :, 2]).all()


@pytest.mark.parametrize("deep", [False, True])
def test_transparency_is_laid_over_white(deep: bool) -> None:
    layered = np.dstack([CORNERS, np.full(CORNERS.shape[:2], 255, np.uint8)])
    layered[:, :80, 3] = 0
    image = read_photo(encoded(".png", layered.astype(np.uint16) * 257 if deep else layered))
    assert (image[:, :80] == 255).all()
    assert np.abs(image[:, 80:].astype(int) - CORNERS[:, 80:]).max() <= 1


def test_of_an_animation_the_first_picture_is_taken() -> None:
    moving = cv2.Animation()
    other = np.dstack([CORNERS[::-1, ::-1], np.full(CORNERS.shape[:2], 255, np.uint8)])
    moving.frames = [np.dstack([CORNERS, np.full(CORNERS.shape[:2], 255, np.uint8)]), other]
    moving.durations = np.array([100, 100])
    for suffix in (".png", ".webp"):
        image = read_photo(cv2.imencodeanimation(suffix, moving)[1].tobytes())
        assert np.abs(image.astype(int) - CORNERS).mean() < 8
    assert said(cv2.imencodeanimation(".gif", moving)[1].tobytes()) == messages.PHOTO_WRONG_TYPE


def test_what_follows_a_picture_does_no_harm() -> None:
    # Phones append a short film or a maker's trailer, and put a thumbnail (a JPEG with its own end) into the head.
    thumbnail = encoded(".jpg", CORNERS[::4, ::4])
    assert read_photo(with_exif(JPEG, 1, extra=thumbnail) + b"ftypmp42" * 1000).shape == CORNERS.shape


@pytest.mark.parametrize("part", [0.3, 0.7, 0.999])
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp"])
def test_a_photo_cut_off_in_sending(suffix: str, part: float) -> None:
    rng = np.random.default_rng(1)
    whole = encoded(suffix, rng.integers(0, 255, (200, 300, 3), np.uint8))
    assert said(whole[: int(len(whole) * part)]) == messages.PHOTO_CUT_OFF


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", messages.PHOTO_EMPTY),
        (b"GIF89a" + bytes(100), messages.PHOTO_WRONG_TYPE),
        (b"%PDF-1.7" + bytes(100), messages.PHOTO_WRONG_TYPE),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", messages.PHOTO_WRONG_TYPE),
        (b"II*\0" + bytes(100), messages.PHOTO_WRONG_TYPE),
        (b"\0\0\0\x18ftypheic" + bytes(100), messages.PHOTO_HEIC),
        (b"\0\0\0\x18ftypavif" + bytes(100), messages.PHOTO_HEIC),
        (b"\xff\xd8\xff", messages.PHOTO_CUT_OFF),
        (b"\xff\xd8\xff\xe0\0\x01" + bytes(100), messages.PHOTO_DAMAGED),
        (b"\xff\xd8\xff\xd9", messages.PHOTO_DAMAGED),
        (png(0, 10), messages.PHOTO_DAMAGED),
        (png(4, 4), messages.PHOTO_TOO_SMALL),
        (png(100, 100, zlib.compress(b"")), messages.PHOTO_DAMAGED),
        (JPEG[:2] + b"\xff\xc3\0\x0b\x08\0\x60\0\xa0\x01\x01\x11\0" + JPEG[2:], messages.PHOTO_WRONG_TYPE),
        (bytes(MAX_BYTES + 1), messages.PHOTO_TOO_LARGE),
    ],
)
def test_one_sentence_each(data: bytes, sentence: str) -> None:
    assert said(data) == sentence


@pytest.mark.parametrize(
    "bomb",
    [
        png(30000, 30000, zlib.compress(bytes(1_000_000))),
        png(6000, 6000, zlib.compress(bytes(1_000_000))),
        png(2**31 - 1, 2**31 - 1),
        b"RIFF\x40\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff" + bytes(42),
    ],
)
def test_a_bomb_is_refused_by_its_head(bomb: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def decoded(*_: object) -> None:
        raise AssertionError("the decoder saw it")

    monkeypatch.setattr(photo, "shared", decoded)
    assert said(bomb) == messages.PHOTO_TOO_MANY_PIXELS


def test_a_jpeg_of_endless_scans_is_refused_by_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = encoded(".jpg", CORNERS, cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    last = whole.rindex(b"\xff\xda")
    assert read_photo(whole[:last] + whole[last:-2] * 20 + whole[-2:]).shape == CORNERS.shape
    monkeypatch.setattr(photo, "shared", lambda: pytest.fail("the decoder saw it"))
    assert said(whole[:last] + whole[last:-2] * 200 + whole[-2:]) == messages.PHOTO_DAMAGED


def test_a_huge_jpeg_is_refused_and_a_large_one_shrunk() -> None:
    at = JPEG.index(b"\xff\xc0")
    huge = JPEG[: at + 5] + struct.pack(">HH", 16000, 16000) + JPEG[at + 9 :]
    assert said(huge) == messages.PHOTO_TOO_MANY_PIXELS
    large = encoded(".jpg", np.full((3100, 4400, 3), 90, np.uint8))
    assert read_photo(large).shape == (1550, 2200, 3)
    usual = encoded(".jpg", np.full((3072, 4080, 3), 90, np.uint8))
    assert read_photo(usual).shape == (3072, 4080, 3)


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(BadDataError, match="cannot be read"):
        read_photo_file(tmp_path / "none.jpg")
    with pytest.raises(BadDataError, match="cannot be read"):
        read_photo_file(tmp_path)


SEEDS = [JPEG, with_exif(JPEG, 6), encoded(".png"), encoded(".webp"), png(64, 64, zlib.compress(bytes(64 * 193)))]


@settings(max_examples=600)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 400), st.binary(min_size=1, max_size=6)), max_size=4),
    st.integers(0, 3000),
)
def test_whatever_comes_it_is_a_picture_or_a_sentence(seed: bytes, changes: list[tuple[int, bytes]], cut: int) -> None:
    data = bytearray(seed)
    for at, new in changes:
        data[at : at + len(new)] = new
    hostile = bytes(data[: len(data) - cut] if cut < 500 else data)
    try:
        image = read_photo(hostile)
    except BadDataError as error:
        assert str(error) in vars(messages).values()
    else:
        assert image.ndim == 3
        assert image.shape[2] == 3
        assert image.dtype == np.uint8
        assert read_head(hostile).whole


# --- PNG: what is packed is bounded by what the head claims ------------------------------------------------------


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def zeros(megabytes: int) -> bytes:
    packer, piece = zlib.compressobj(9), bytes(1 << 20)
    return b"".join(packer.compress(piece) for _ in range(megabytes)) + packer.flush()


def used_s() -> float:
    """Return the processor seconds of the child that decodes."""
    fields = Path(f"/proc/{shared().pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_more_packed_data_than_the_pixels_can_need_never_comes_to_the_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = png(8, 8, zeros(60))
    monkeypatch.setattr(photo, "shared", lambda: pytest.fail("a decoder was asked"))
    assert said(bomb) == messages.PHOTO_DAMAGED


def test_no_more_is_unpacked_than_the_head_claims() -> None:
    read_photo(JPEG)
    # Packed data that the claimed pixels might need, which unpacks to two thousand times as much.
    bomb = png(400, 300, zeros(700))
    assert len(bomb) > 700_000
    before = used_s()
    for _ in range(5):
        assert said(bomb) == messages.PHOTO_DAMAGED
    # To its end each takes seconds.
    assert used_s() - before < 1.0


@pytest.mark.parametrize("interlaced", [0, 1])
@pytest.mark.parametrize(("depth", "colour"), [(1, 0), (4, 3), (8, 0), (8, 2), (16, 4), (8, 6), (16, 6)])
@pytest.mark.parametrize(("width", "height"), [(8, 8), (13, 9), (64, 33)])
def test_what_fits_its_head_to_the_byte_is_read(
    interlaced: int, depth: int, colour: int, width: int, height: int
) -> None:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))
    palette = chunk(b"PLTE", bytes(3 * 16)) if colour == 3 else b""
    start, end = b"\x89PNG\r\n\x1a\n" + head + palette, chunk(b"IEND", b"")
    size = read_head(start + end).unpacked
    whole = start + chunk(b"IDAT", zlib.compress(bytes(size))) + end
    assert read_photo(whole).shape == (height, width, 3)
    assert said(start + chunk(b"IDAT", zlib.compress(bytes(size + 1))) + end) == messages.PHOTO_DAMAGED


def test_texts_and_profiles_are_not_handed_on() -> None:
    plain = encoded(".png")
    text = chunk(b"zTXt", b"Comment\0\0" + zeros(1))
    late = plain[:33] + text * 40 + plain[33:]
    assert bare_png(late) == bare_png(plain)
    assert (read_photo(late) == CORNERS).all()
    assert len(bare_png(plain)) <= len(plain)


def test_a_png_in_one_large_piece_is_read_as_in_many() -> None:
    noise = np.random.default_rng(4).integers(0, 256, (700, 900, 3), np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in noise[:, :, ::-1])
    assert (read_photo(png(900, 700, zlib.compress(rows, 0))) == noise).all()
    assert (read_photo(encoded(".png", noise)) == noise).all()
