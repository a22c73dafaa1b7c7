"""Frames: golden bytes, round trips, and whatever a bad line can make of them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.igloo.line.protocol import (
    MAX_ENCODED,
    BadFrameError,
    Data,
    Flag,
    Frame,
    FrameReader,
    Hello,
    Status,
    Unknown,
    body_of,
    cobs_decode,
    cobs_encode,
    crc16,
    decode,
    encode,
    parse,
)
from companion.ports import BadDataError

U8, U16, U32 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32))
I16 = st.integers(-(2**15), 2**15 - 1)
HELLOS = st.builds(Hello, U16, U8, U8, U8, U8, U16, U16, U32, U32, st.none() | U16)
DATAS = st.builds(Data.of, U16, U32, U32, U8, st.lists(st.tuples(I16, I16, I16), min_size=1, max_size=16))
STATUSES = st.builds(Status, U16, U8, U8, U32, U32, U16, U16, U8)
UNKNOWNS = st.builds(Unknown, U16, U8.filter(lambda t: t not in (1, 2, 3)), st.binary(max_size=106))
FRAMES = st.one_of(HELLOS, DATAS, STATUSES, UNKNOWNS)

HELLO = Hello(7, 1, 0xE5, 0x0F, 0x0B, 3200, 3900, 16_000_000, 500_000)
DATA = Data.of(300, 1_000_000, 70_000, Flag.OVERFLOW, [(1, -2, 256), (0, 0, -32768)])
STATUS = Status(65535, 3, 0, 2**32 - 1, 12345, 2, 1, 32)


def reference_crc(data: bytes) -> int:
    """The CRC bit by bit, as the data sheet of the polynomial tells it."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return crc


def test_crc_of_the_usual_nine_digits() -> None:
    assert crc16(b"123456789") == 0x6F91


@given(st.binary(max_size=300))
def test_crc_is_the_bitwise_one(data: bytes) -> None:
    assert crc16(data) == reference_crc(data)


@pytest.mark.parametrize(
    ("plain", "coded"),
    [
        ("", "01"),
        ("00", "0101"),
        ("0000", "010101"),
        ("00110000", "0102110101"),
        ("11220033", "0311220233"),
        ("11223344", "0511223344"),
        ("11000000", "0211010101"),
    ],
)
def test_cobs_examples(plain: str, coded: str) -> None:
    assert cobs_encode(bytes.fromhex(plain)) == bytes.fromhex(coded)
    assert cobs_decode(bytes.fromhex(coded)) == bytes.fromhex(plain)


@given(st.binary(max_size=600))
def test_cobs_round_trip(data: bytes) -> None:
    coded = cobs_encode(data)
    assert 0 not in coded
    assert len(coded) <= len(data) + 1 + len(data) // 254
    assert cobs_decode(coded) == data


@pytest.mark.parametrize("size", [253, 254, 255, 508, 509])
def test_cobs_of_long_stretches_without_zeros(size: int) -> None:
    data = bytes([7]) * size
    assert cobs_decode(cobs_encode(data)) == data
    assert cobs_decode(cobs_encode(data + b"\0" + data)) == data + b"\0" + data


def test_cobs_takes_a_code_ff_that_ends_the_data() -> None:
    # Encoders may leave out the 01 after a last block of 254; both forms say the same.
    assert cobs_decode(b"\xff" + b"\x07" * 254) == b"\x07" * 254


@pytest.mark.parametrize("coded", ["", "00", "02", "0311", "02110000", "0500"])
def test_cobs_refuses(coded: str) -> None:
    with pytest.raises(BadFrameError):
        cobs_decode(bytes.fromhex(coded))


def test_golden_bytes() -> None:
    # Written out by hand from the protocol: little-endian, the CRC after the body.
    body = bytes.fromhex("01 0700 01 e5 0f 0b 800c 3c0f 0024f400 20a10700")
    assert body_of(HELLO) == body
    assert body_of(replace(HELLO, unit=3)) == body + b"\x03\x00"
    assert body_of(DATA) == bytes.fromhex("02 2c01 40420f00 70110100 01 02 0100 feff 0001 0000 0000 0080")
    assert body_of(STATUS) == bytes.fromhex("03 ffff 03 00 ffffffff 39300000 0200 0100 20")
    crc = reference_crc(body)
    assert encode(HELLO) == cobs_encode(body + bytes([crc & 0xFF, crc >> 8])) + b"\0"


def test_a_full_frame_costs_what_the_protocol_says() -> None:
    full = Data.of(0, 0, 0, 0, [(1, 1, 1)] * 16)
    assert len(body_of(full)) + 2 == 111
    assert len(encode(full)) == 16 * 6 + 17


@given(FRAMES)
def test_frames_round_trip(frame: Frame) -> None:
    assert decode(encode(frame)[:-1]) == frame
    assert 0 not in encode(frame)[:-1]


@given(HELLOS.filter(lambda h: h.unit is not None) | STATUSES, st.binary(min_size=1, max_size=40))
def test_bytes_after_the_known_ones_are_ignored(frame: Hello | Status, more: bytes) -> None:
    assert parse(body_of(frame) + more) == frame


def test_half_a_unit_is_no_unit() -> None:
    assert parse(body_of(HELLO) + b"\x03") == HELLO


@given(DATAS, st.integers(-30, 30).filter(bool))
def test_data_has_the_length_that_it_says(frame: Data, change: int) -> None:
    body = body_of(frame)
    longer = body + bytes(change) if change > 0 else body[:change]
    with pytest.raises(BadFrameError):
        parse(longer)


@pytest.mark.parametrize("n", [0, 17, 255])
def test_data_carries_one_to_sixteen_samples(n: int) -> None:
    with pytest.raises(BadFrameError):
        parse(bytes.fromhex("020000 00000000 00000000 00") + bytes([n]) + bytes(6 * n))


@pytest.mark.parametrize(
    "frame",
    [
        replace(HELLO, seq=65536),
        replace(HELLO, unit=-1),
        replace(STATUS, fifo_max=256),
        Data(0, 0, 0, 0, b""),
        Data(0, 0, 0, 0, bytes(7)),
        Data(0, 0, 0, 0, bytes(17 * 6)),
        Unknown(0, 9, bytes(107)),
    ],
)
def test_what_does_not_fit_is_not_encoded(frame: Frame) -> None:
    with pytest.raises(BadFrameError) as caught:
        encode(frame)
    assert isinstance(caught.value, BadDataError)


@given(st.binary(max_size=200))
def test_any_body_is_a_frame_or_refused(body: bytes) -> None:
    try:
        frame = parse(body)
    except BadFrameError:
        return
    assert parse(body_of(frame)) == frame


# --- the reader ----------------------------------------------------------------------------------------------------


def in_step() -> FrameReader:
    reader = FrameReader()
    reader.feed(b"\0")
    return reader


@given(st.lists(FRAMES, max_size=12), st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_pieces_of_any_size(frames: list[Frame], sizes: list[int]) -> None:
    stream = b"".join(encode(frame) for frame in frames)
    reader, found, at, turn = FrameReader(), [], 0, 0
    while at < len(stream):
        size = sizes[turn % len(sizes)]
        found += reader.feed(stream[at : at + size])
        at, turn = at + size, turn + 1
    assert found == frames
    assert (reader.corrupt, reader.cut, reader.frames) == (0, 0, len(frames))


@given(st.lists(DATAS, min_size=2, max_size=6), st.integers(1, 60))
def test_in_step_after_one_delimiter(frames: list[Data], cut: int) -> None:
    stream = b"".join(encode(frame) for frame in frames)
    start = min(cut, len(encode(frames[0])) - 1)
    reader = FrameReader()
    found = reader.feed(stream[start:])
    assert found[-len(frames) + 1 :] == frames[1:]
    # the rest of a frame that began before we listened is no fault of the line
    assert reader.corrupt == 0


@given(st.lists(DATAS, min_size=3, max_size=6), st.data())
def test_every_flipped_bit_is_noticed(frames: list[Data], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(frames) - 1))
    wires = [encode(frame) for frame in frames]
    at = data.draw(st.integers(0, len(wires[which]) - 2))
    bad = bytearray(wires[which])
    bad[at] ^= 1 << data.draw(st.integers(0, 7))
    reader = in_step()
    found = reader.feed(b"".join([*wires[:which], bytes(bad), *wires[which + 1 :]]))
    # a CRC-16 finds every single bit; COBS codes that changed are found by length or CRC, but for one in 65,536
    assert found == frames[:which] + frames[which + 1 :]
    assert reader.corrupt in (1, 2)  # two, where the flip made a delimiter


@given(st.lists(DATAS, min_size=2, max_size=6), st.data())
def test_a_lost_delimiter_costs_two_frames_and_no_more(frames: list[Data], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(frames) - 2))
    wires = [encode(frame) for frame in frames]
    wires[which] = wires[which][:-1]
    reader = in_step()
    assert reader.feed(b"".join(wires)) == frames[:which] + frames[which + 2 :]
    assert reader.corrupt == 1


@given(st.lists(DATAS, min_size=2, max_size=6), st.data())
def test_truncated_frames_are_counted(frames: list[Data], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(frames) - 1))
    wires = [encode(frame) for frame in frames]
    keep = data.draw(st.integers(1, len(wires[which]) - 2))
    wires[which] = wires[which][:keep] + b"\0"
    reader = in_step()
    assert reader.feed(b"".join(wires)) == frames[:which] + frames[which + 1 :]
    assert reader.corrupt == 1


@given(st.lists(st.binary(max_size=3000), max_size=20))
def test_babble_never_hurts_and_is_bounded(pieces: list[bytes]) -> None:
    reader = in_step()
    for piece in pieces:
        for frame in reader.feed(piece):
            # whatever passes the CRC is at least of a shape that can be said again
            assert parse(body_of(frame)) == frame
        assert len(reader._tail) <= MAX_ENCODED
    reader.feed(b"\0")
    assert reader.feed(encode(HELLO)) == [HELLO]


def test_a_megabyte_without_a_delimiter() -> None:
    reader = in_step()
    for _ in range(1000):
        assert reader.feed(b"\x55" * 1000) == []
        assert len(reader._tail) <= MAX_ENCODED
    assert reader.corrupt == 1
    assert reader.feed(b"\x55\0" + encode(HELLO)) == [HELLO]
    assert reader.corrupt == 1


def test_one_long_piece_of_babble() -> None:
    reader = in_step()
    assert reader.feed(b"\x55" * 1_000_000 + b"\0" + encode(STATUS)) == [STATUS]
    assert reader.corrupt == 1


def test_what_is_let_through_is_what_a_crc_16_lets_through() -> None:
    reader, noise = in_step(), random.Random(5)
    for _ in range(200):
        reader.feed(noise.randbytes(20_000))
    # 4 MB of noise are about 15,600 stretches, of which 1 in 65,536 has a right CRC by chance
    assert reader.corrupt > 12_000
    assert reader.frames <= 3


def test_delimiters_in_a_row_are_nothing() -> None:
    reader = FrameReader()
    assert reader.feed(b"\0\0\0" + encode(HELLO) + b"\0\0" + encode(STATUS)) == [HELLO, STATUS]
    assert reader.corrupt == 0
