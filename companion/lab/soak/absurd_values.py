"""Igloos that send valid frames with absurd values: whatever they say, no count of it may be shown as good.

A posterior of the state ``more`` says itself that it is a first idea; ``counted`` is what would be believed.

Every stream goes the way of a real one, from bytes on, with a right HELLO, right numbers and right times unless that
is what is absurd; only the line's own time is not waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.igloo.count.counter import Counter
from companion.igloo.line.protocol import Data, FrameReader, Hello, encode
from companion.igloo.line.samples import FrameStream
from companion.igloo.simulated.device import load_bank
from companion.ports import DeviceKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Waves = NDArray[np.int16]
    Made = Callable[[np.random.Generator], tuple[Hello, Waves]]

RATE_HZ = 3200
UG = 3906
REST_S, SHAKE_S = 0.6, 4.0
HELLO = Hello(0, 1, 0xE5, 0x0F, 0x0B, RATE_HZ, UG, 16_000_000, 500_000, 9)


@dataclass(frozen=True, slots=True)
class Absurd:
    """What became of one absurd stream: counts that would have been believed, and what was said instead."""

    what: str
    counted: int
    said: tuple[str, ...]


def absurd(streams: Mapping[str, Made], seed: int = 1) -> Iterable[Absurd]:
    """Play every absurd stream to a counter and return what it says of each."""
    for number, (what, made) in enumerate(streams.items()):
        hello, waves = made(np.random.default_rng((seed, number)))
        counted, said = heard(hello, waves)
        yield Absurd(what, counted, said)


def heard(hello: Hello, waves: Waves) -> tuple[int, tuple[str, ...]]:
    """Return how often a counter has counted samples (n, 3) in LSB, and its sentences."""
    reader, stream, counter = FrameReader(), FrameStream(), Counter("absurd", DeviceKind.SIMULATED)
    counted, said = 0, dict[str, None]()
    seq, last = 1, 0.0
    for start in range(0, len(waves) - 15, 16):
        now = 10.0 + start / RATE_HZ
        sent = b""
        if now - last >= 1.0 or not last:
            sent, last, seq = encode(replace(hello, seq=seq & 0xFFFF)), now, seq + 1
        rows: Any = waves[start : start + 16].tolist()
        sent += encode(Data.of(seq & 0xFFFF, round(1e6 * start / RATE_HZ) & 0xFFFFFFFF, start, 0, rows))
        seq += 1
        for run in stream.feed(reader.feed(sent), now):
            answer = counter.feed(run)
            if answer is not None:
                counted += answer.state == "counted"
                said[answer.why or answer.state] = None
    return counted, tuple(said)


def control(count: int = 6) -> int:
    """Return how many counts a sound shake gives on the same way: without any, a zero above would mean nothing."""
    return heard(*_sound(count))[0]


def _sound(count: int = 6) -> tuple[Hello, Waves]:
    bank = load_bank()
    shake = np.concatenate(bank.accel[bank.count == count])[: round(SHAKE_S * RATE_HZ)]
    rest = np.tile(np.round(bank.up / np.linalg.norm(bank.up) * 1e6 / UG), (round(REST_S * RATE_HZ), 1))
    return HELLO, np.concatenate([rest, shake, rest]).astype(np.int16)


def _of(change: Callable[[Waves, np.random.Generator], Any], **said: int) -> Made:
    """Return a stream made of a sound shake by a change, with other words of its HELLO."""

    def made(rng: np.random.Generator) -> tuple[Hello, Waves]:
        hello, waves = _sound(int(rng.integers(3, 12)))
        rest = round(REST_S * RATE_HZ)
        changed = waves.copy()
        shaken = np.asarray(change(waves[rest:-rest].astype(np.float64), rng))
        changed[rest:-rest] = np.clip(np.rint(shaken), -32768, 32767).astype(np.int16)
        return replace(hello, **said), changed

    return made


def _times(waves: Waves) -> NDArray[np.float64]:
    return np.arange(len(waves)) / RATE_HZ


def _wave(hz: float, lsb: float, form: Callable[[Any], Any] = np.sin) -> Callable[[Waves, np.random.Generator], Any]:
    def made(waves: Waves, rng: np.random.Generator) -> Any:
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        swing = form(2 * np.pi * hz * _times(waves))[:, None] * lsb * axis
        return np.array([0, 0, 256.0]) + swing + rng.normal(0, 1, waves.shape)

    return made


def _noise(lsb: float) -> Callable[[Waves, np.random.Generator], Any]:
    return lambda waves, rng: np.array([0, 0, 256.0]) + rng.normal(0, lsb, waves.shape)


def _walk(waves: Waves, rng: np.random.Generator) -> Any:
    return np.cumsum(rng.normal(0, 9, waves.shape), axis=0)


def _repeat(waves: Waves, rng: np.random.Generator) -> Any:
    del rng
    return waves[np.arange(len(waves)) // 640 * 640 % 1280 + np.arange(len(waves)) % 640]


STREAMS: dict[str, Made] = {
    "all bits random": _of(lambda w, rng: rng.integers(-32768, 32768, w.shape)),
    "always the highest value": _of(lambda w, _: np.full(w.shape, 32767)),
    "lowest and highest in turn": _of(lambda w, _: np.where(np.indices(w.shape)[0] % 2, 32767, -32768)),
    "a tone of 700 Hz": _of(_wave(700.0, 800.0)),
    "noise of 0.5 g": _of(_noise(128.0)),
    "noise of 4 g": _of(_noise(1024.0)),
    "samples in random order": _of(lambda w, rng: rng.permutation(w)),
    "noise that wanders": _of(_walk),
    "zeros": _of(lambda w, _: np.zeros(w.shape)),
    "each second sample is zero": _of(lambda w, _: w * (np.arange(len(w)) % 2)[:, None]),
    "each sample thrice": _of(lambda w, _: w[np.arange(len(w)) // 3]),
    "one axis dead": _of(lambda w, _: w * [1, 1, 0]),
    "two axes the same": _of(lambda w, _: w[:, [0, 0, 2]]),
    "bytes swapped": _of(lambda w, _: w.astype(np.int16).byteswap()),
    "ten times too strong": _of(lambda w, _: 10 * w),
    "ten times too weak": _of(lambda w, _: w / 10),
    "a scale of nothing": _of(lambda w, _: w, ug_per_lsb=0),
    "a scale that no sensor has": _of(lambda w, _: w, ug_per_lsb=65535),
    "a rate that says 400 Hz": _of(lambda w, _: w, rate_hz=400),
    "a rate that says 12800 Hz": _of(lambda w, _: w, rate_hz=12800),
}
"""Absurd: none of them may be counted."""

SHAKE_LIKE: dict[str, Made] = {
    "a smooth swing without beads": _of(_wave(4.0, 700.0)),
    "a hum of 50 Hz": _of(_wave(50.0, 400.0)),
    "a square wave": _of(_wave(4.0, 900.0, lambda a: np.sign(np.sin(a)))),
    "a saw": _of(_wave(4.0, 900.0, lambda a: 2 * (a / (2 * np.pi) % 1) - 1)),
    "one bit stuck": _of(lambda w, _: w.astype(np.int64) | 0x400),
    "each frame in reverse": _of(lambda w, _: w[: len(w) // 16 * 16].reshape(-1, 16, 3)[:, ::-1].reshape(-1, 3)),
    "a scale twice too large": _of(lambda w, _: w, ug_per_lsb=2 * UG),
    "two fifths of a second for ever": _of(_repeat),
}
"""Wrong too, but much as a shake is: none of them may be counted either."""
