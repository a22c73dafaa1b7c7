"""Time and numbers: the true rate, the host's time, and every loss, from frames of a device that we invent here."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.igloo.line.clock import HostClock, LowerEdge, Steady
from companion.igloo.line.protocol import Data, Flag, Frame, FrameReader, Hello, Status, Unknown, encode
from companion.igloo.line.samples import FrameStream, LossCounter
from companion.ports import Samples

WRAP = 1 << 32
HELLO = Hello(0, 1, 0xE5, 0x0F, 0x0B, 3200, 3900, 16_000_000, 500_000)


def value(index: int) -> tuple[int, int, int]:
    """A sample that says which one it is."""
    return (index % 4001, index // 4001 % 4001, 256)


@dataclass
class Device:
    """Frames as the protocol tells them: a FIFO read late, a clock that jitters and wraps."""

    rate: float = 3139.5
    index: int = 0
    seq: int = 0
    t0: float = 0.0
    n: int = 16
    jitter_s: float = 0.002
    depth: int = 16
    nominal: int = 3200
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    made: int = 0
    t_us: int = 0

    def number(self) -> int:
        self.seq, seq = (self.seq + 1) % 65536, self.seq
        return seq

    def hello(self, **changes: int) -> Hello:
        return replace(HELLO, seq=self.number(), rate_hz=self.nominal, **changes)

    def status(self, **changes: int) -> Status:
        return replace(Status(self.number(), 0, 0xE5, self.t_us % WRAP, self.index % WRAP, 0, 0, 20), **changes)

    def data(self, flags: int = 0) -> Data:
        """The next frame; its samples waited in the FIFO for up to ``depth`` more to come."""
        first, self.index = self.index, self.index + self.n
        self.made += self.n
        waited = self.rng.randrange(self.depth) / self.rate
        read_at = self.t0 + self.made / self.rate + waited + self.rng.uniform(0.0, self.jitter_s)
        self.t_us = max(self.t_us + 1, int(read_at * 1e6))
        return Data.of(self.number(), self.t_us % WRAP, first % WRAP, flags, [value(first + i) for i in range(self.n)])

    def skip(self, n: int, *, counted: bool = True) -> None:
        """Samples that come to nothing: lost after they were counted, or in the FIFO, before."""
        self.made += n
        if counted:
            self.index += n

    def seconds(self) -> float:
        return self.made / self.rate

    def frames(self, seconds: float) -> Iterator[Data]:
        end = self.made + seconds * self.rate
        while self.made < end:
            yield self.data()


def feed(stream: FrameStream, device: Device, seconds: float, *, at: float = 100.0) -> list[Samples]:
    runs: list[Samples] = []
    for frame in device.frames(seconds):
        runs += stream.feed([frame], at + device.t0 + device.seconds())
    return runs


def started(device: Device, seconds: float = 0.1) -> FrameStream:
    stream = FrameStream()
    stream.feed([device.hello()], 100.0)
    feed(stream, device, seconds)
    return stream


def good(runs: list[Samples]) -> int:
    """Check what every list of runs must be, and return how many samples it holds."""
    for run in runs:
        lsb = np.rint(run.accel / 3900e-6).astype(int)
        expected = np.array([value(run.index + i) for i in range(len(lsb))])
        assert (lsb == expected).all(), f"the samples from {run.index} on are not what was measured"
    for one, two in pairwise(runs):
        assert two.t0 > one.t0
        if not two.overflow_before and two.index > one.index:
            assert two.gap_before == two.index - one.index - len(one.accel)
    return sum(len(run.accel) for run in runs)


# --- the lower edge of a cloud -------------------------------------------------------------------------------------


def test_an_edge_knows_its_guess_before_it_knows_better() -> None:
    edge = LowerEdge(10.0, guess=2.0)
    assert edge.at(5.0) is None
    edge.add(0.0, 1.0)
    assert edge.at(5.0) == pytest.approx(11.0)
    assert edge.fitted is None


@given(st.integers(0, 10_000), st.floats(0.2, 5.0))
def test_delays_do_not_move_the_edge(seed: int, slope: float) -> None:
    rng = random.Random(seed)
    edge = LowerEdge(1.0, guess=1.03 * slope)
    for i in range(2000):
        x = i / 50
        late = 5.0 if rng.random() < 0.02 else rng.expovariate(20.0)
        edge.add(x, 3.0 + slope * x + late)
    assert edge.fitted == pytest.approx(slope, rel=0.002)
    assert edge.at(50.0) == pytest.approx(3.0 + slope * 50.0, abs=0.1)


def test_stretches_share_their_slope() -> None:
    edge, x, y = LowerEdge(1.0), 0.0, 0.0
    for _ in range(12):
        edge.break_here()
        y += 1000.0  # an unknown step, every few seconds
        for _ in range(30):
            x, y = x + 0.1, y + 0.25
            edge.add(x, y)
    assert edge.fitted == pytest.approx(2.5, rel=1e-9)


def test_times_never_go_back_and_are_drawn_into_line() -> None:
    steady = Steady()
    assert steady.begin(10.0, 0.1, joined=False) == 10.0
    assert steady.begin(10.3, 0.1, joined=True) == pytest.approx(10.105)
    assert steady.begin(10.0, 0.1, joined=True) == pytest.approx(10.2)
    assert steady.begin(9.0, 0.1, joined=False) == pytest.approx(10.3)
    assert steady.begin(20.0, 0.1, joined=True) == pytest.approx(20.0)


def test_a_backlog_does_not_bend_the_line() -> None:
    clock = HostClock()
    for i in range(40):
        clock.add(i * 0.1, 50.0 + i * 0.001)  # four seconds that had waited come at once
    for i in range(40, 60):
        clock.add(i * 0.1, 50.0 + (i - 40) * 0.1)
    for i in range(0, 60, 7):
        assert clock.at(i * 0.1) == pytest.approx(46.0 + i * 0.1, abs=0.15)


def test_a_standing_clock_maps_nothing_wrongly() -> None:
    clock = HostClock()
    for i in range(200):
        clock.add(i * 0.1, 50.0)  # everything at once, out of some buffer
    assert clock.at(19.9) == pytest.approx(50.0)


# --- the true rate -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "nominal"), [(3087.3, 3200), (3296.0, 3200), (1610.7, 1600), (806.0, 800)])
def test_the_true_rate_is_found(rate: float, nominal: int) -> None:
    device = Device(rate=rate, nominal=nominal)
    stream = FrameStream()
    stream.feed([device.hello()], 100.0)
    feed(stream, device, 3.0)
    assert stream.rate_hz == pytest.approx(rate, rel=5e-3)
    feed(stream, device, 27.0)
    assert stream.rate_hz == pytest.approx(rate, rel=2e-4)


def test_a_slow_sensor_has_a_true_rate_as_well() -> None:
    device = Device(rate=98.1, nominal=100, n=4, depth=8)
    stream = FrameStream()
    stream.feed([device.hello()], 100.0)
    feed(stream, device, 60.0)
    assert stream.rate_hz == pytest.approx(98.1, rel=1e-3)


def test_half_the_rate_is_said_as_it_is() -> None:
    device = Device(rate=1587.0, nominal=3200)
    stream = FrameStream()
    stream.feed([device.hello()], 100.0)
    feed(stream, device, 20.0)
    assert stream.rate_hz == pytest.approx(1587.0, rel=1e-3)
    assert stream.nominal_hz == 3200.0


def test_all_counters_wrap_unseen() -> None:
    device = Device(index=WRAP - 20_000, seq=65_530, t0=(WRAP - 5_000_000) / 1e6)
    stream = FrameStream()
    stream.feed([device.hello()], 100.0)
    runs = feed(stream, device, 20.0)
    assert good(runs) == stream.counts().samples
    assert runs[-1].index > WRAP
    assert {run.gap_before for run in runs} == {0}
    counts = stream.counts()
    assert (counts.lost, counts.resets, counts.missing_frames, counts.repeated) == (0, 0, 0, 0)
    assert stream.rate_hz == pytest.approx(device.rate, rel=5e-4)


def test_stalls_of_the_device_hardly_touch_the_rate() -> None:
    device = Device()
    stream = FrameStream()
    stream.feed([device.hello()], 100.0)
    for _ in range(10):
        feed(stream, device, 2.0)
        device.jitter_s = 0.15
        feed(stream, device, 0.1)
        device.jitter_s = 0.002
    assert stream.rate_hz == pytest.approx(device.rate, rel=5e-4)


def test_overflows_do_not_spoil_the_rate() -> None:
    device = Device()
    stream = FrameStream()
    stream.feed([device.hello()], 100.0)
    for _ in range(15):
        feed(stream, device, 1.5)
        device.skip(500, counted=False)
        stream.feed([device.data(Flag.OVERFLOW)], 100.0 + device.seconds())
    assert stream.counts().overflows == 15
    assert stream.rate_hz == pytest.approx(device.rate, rel=1e-3)


def test_host_time_follows_a_skewed_device_through_late_arrivals() -> None:
    device = Device(depth=1)
    stream, rng = FrameStream(), random.Random(3)
    stream.feed([device.hello()], 0.0)
    runs: list[tuple[float, Samples]] = []
    skew = 1.004  # a ceramic resonator
    arrived = 0.0
    for frame in device.frames(40.0):
        truth = 1000.0 + device.seconds() * skew
        arrived = max(arrived, truth + rng.choice([0.001, 0.004, 0.02, 0.02, 0.3 if rng.random() < 0.01 else 0.01]))
        runs += [(truth - 16 / device.rate * skew, run) for run in stream.feed([frame], arrived)]
    late = [run.t0 - truth for truth, run in runs[1000:]]
    # sample 0 was read from the FIFO 16 samples (5 ms) later than it was taken: a constant
    assert max(late) - min(late) < 0.006
    assert abs(float(np.median(late))) < 0.015
    good([run for _, run in runs])
    for (_, one), (_, two) in pairwise(runs[100:]):
        assert two.t0 - one.t0 == pytest.approx(len(one.accel) / one.rate_hz, rel=0.06)


def test_a_clock_at_random_gives_no_samples() -> None:
    device, rng = Device(), random.Random(2)
    stream = started(device, 3.0)
    for frame in device.frames(0.5):
        stream.feed([replace(frame, t_us=rng.randrange(WRAP))], 103.0)
    assert stream.clock_is_nonsense
    before = stream.counts()
    assert stream.feed([replace(device.data(), t_us=rng.randrange(WRAP))], 104.0) == []
    assert stream.counts().rejected == before.rejected + 16


def test_a_clock_that_stands_gives_no_samples() -> None:
    device = Device()
    stream = FrameStream()
    stream.feed([device.hello()], 100.0)
    for frame in device.frames(5.0):
        stream.feed([replace(frame, t_us=77)], 100.0 + device.seconds())
    assert stream.clock_is_nonsense
    assert stream.rate_hz is None
    assert stream.feed([replace(device.data(), t_us=77)], 105.1) == []


def test_one_jump_of_the_clock_is_borne() -> None:
    device = Device()
    stream = started(device, 5.0)
    device.t0 += 600.0
    assert good(feed(stream, device, 5.0)) > 15_000
    assert stream.rate_hz == pytest.approx(device.rate, rel=2e-3)
    assert not stream.clock_is_nonsense


# --- what is lost --------------------------------------------------------------------------------------------------


def test_frames_that_vanish_are_counted_to_the_sample() -> None:
    device = Device()
    stream = started(device)
    for _ in range(3):
        device.data()
    (run,) = stream.feed([device.data()], 101.0)
    assert (run.gap_before, run.overflow_before) == (48, False)
    counts = stream.counts()
    assert (counts.lost, counts.missing_frames, counts.dropped_frames) == (48, 3, 0)


def test_a_corrupt_frame_is_not_counted_as_missing_too() -> None:
    device = Device()
    stream, reader = started(device), FrameReader()
    wire = [bytearray(encode(device.data())) for _ in range(5)]
    for number in (1, 2):
        wire[number][9] ^= 0x40
    runs = []
    # Wherever the line is cut into pieces, what follows tells what was corrupt before it.
    for piece in (b"\0", wire[0] + wire[1], wire[2], wire[3] + wire[4]):
        runs += stream.feed(reader.feed(bytes(piece)), 101.0)
    assert [run.gap_before for run in runs if run.gap_before] == [32]
    assert reader.corrupt == 2
    assert (stream.counts().lost, stream.counts().missing_frames) == (32, 0)


def test_a_frame_that_is_repeated_hides_no_corrupt_one_before_it() -> None:
    device = Device()
    stream, reader = started(device), FrameReader()
    first, bad, last = (bytearray(encode(device.data())) for _ in range(3))
    bad[9] ^= 0x40
    stream.feed(reader.feed(bytes(b"\0" + first + bad + first + last)), 101.0)
    assert (reader.corrupt, stream.counts().repeated) == (1, 1)
    assert (stream.counts().lost, stream.counts().missing_frames) == (16, 0)


def test_frames_that_the_device_dropped_are_told_from_those_the_line_lost() -> None:
    device = Device()
    stream = started(device)
    stream.feed([device.status()], 101.0)
    device.data(), device.data()
    (run,) = stream.feed([device.data(Flag.DROPPED)], 101.0)
    assert run.gap_before == 32
    counts = stream.counts()
    assert (counts.lost, counts.missing_frames, counts.dropped_frames) == (32, 0, 2)
    stream.feed([device.status(tx_dropped=2)], 101.0)
    assert stream.counts().dropped_frames == 2


def test_the_index_tells_what_the_frames_do_not() -> None:
    device = Device()
    stream = started(device)
    device.skip(7)
    (run,) = stream.feed([device.data()], 101.0)
    assert run.gap_before == 7
    assert stream.counts().lost == 7


def test_an_overflow_is_marked_where_it_was() -> None:
    device = Device()
    stream = started(device)
    device.skip(40, counted=False)
    one, two = stream.feed([device.data(), device.data(Flag.OVERFLOW)], 101.0)
    assert (one.overflow_before, two.overflow_before, two.gap_before) == (False, True, 0)
    assert (stream.counts().overflows, stream.counts().lost) == (1, 0)


def test_a_sensor_set_up_again_breaks_the_run() -> None:
    device = Device()
    stream = started(device)
    (run,) = stream.feed([device.data(Flag.SET_UP_AGAIN)], 101.0)
    assert run.overflow_before
    assert stream.counts().resets == 1


def test_a_frame_that_comes_twice_counts_once() -> None:
    device = Device()
    stream = started(device)
    one, two = device.data(), device.data()
    runs = stream.feed([one, one, two, one, two, two], 101.0)
    assert good(runs) == 32
    assert stream.counts().repeated == 4
    assert {run.gap_before for run in stream.feed([device.data()], 101.0)} == {0}


def test_a_tally_neither_misses_nor_doubles() -> None:
    tally = LossCounter()
    tally.mark()
    tally.says(10)  # ten before we listened, one of them seen
    assert tally.total == 1
    tally.mark(2)
    tally.says(12)
    assert tally.total == 3
    tally.says(15)  # three marks were lost with their frames …
    assert tally.total == 6
    tally.mark()  # … or one of them only late
    assert tally.total == 6
    tally.says(15)
    tally.mark()
    assert tally.total == 7
    tally.says(65_535)
    tally.begin_anew()
    tally.says(0)
    assert tally.total == 7


def test_a_tally_wraps() -> None:
    tally = LossCounter()
    tally.says(65_534)
    tally.says(3)
    assert tally.total == 5


# --- what cannot be true -------------------------------------------------------------------------------------------


def test_a_device_that_began_anew_is_believed_at_its_second_frame() -> None:
    device = Device()
    stream = started(device, 2.0)
    anew = Device(rng=random.Random(9))
    assert stream.feed([anew.data()], 103.0) == []
    (run,) = stream.feed([anew.data()], 103.0)
    assert (run.index, len(run.accel), run.overflow_before, run.gap_before) == (0, 32, True, 0)
    assert (stream.counts().resets, stream.counts().lost) == (1, 0)
    assert good(feed(stream, anew, 3.0)) > 9_000


@pytest.mark.parametrize("index", [0, 10**6, 2**31, 2**31 + 5, WRAP - 1])
def test_one_absurd_frame_is_left_out(index: int) -> None:
    device = Device()
    stream = started(device, 1.0)
    lie = replace(device.data(), index=index)
    truth = device.data()
    (run,) = stream.feed([lie, truth], 101.0)
    assert (run.gap_before, len(run.accel)) == (16, 16)
    assert good([run]) == 16
    assert (stream.counts().rejected, stream.counts().lost) == (16, 16)


def test_an_index_that_jumps_for_good_is_an_unknown_loss_and_not_a_million_samples() -> None:
    device = Device()
    stream = started(device, 1.0)
    device.index += 1_000_000
    (run,) = stream.feed([device.data(), device.data()], 101.0)
    assert (run.overflow_before, run.gap_before) == (True, 0)
    assert (stream.counts().lost, stream.counts().resets) == (0, 1)


def test_samples_that_the_sensor_cannot_measure_are_left_out() -> None:
    device = Device()
    stream = started(device)
    frame = device.data()
    samples = list(frame.samples)
    samples[5] = (32_767, 0, 0)
    samples[6] = (0, 0, -32_768)
    one, two = stream.feed([Data.of(frame.seq, frame.t_us, frame.index, 0, samples)], 101.0)
    assert (len(one.accel), len(two.accel), two.gap_before, two.index) == (5, 9, 2, frame.index + 7)
    assert two.t0 == pytest.approx(one.t0 + 7 / one.rate_hz)
    assert stream.counts().rejected == 2
    # and at the end of a frame the gap is said by the next one
    frame = device.data()
    stream.feed([Data.of(frame.seq, frame.t_us, frame.index, 0, [*frame.samples[:15], (9000, 0, 0)])], 101.0)
    (run,) = stream.feed([device.data()], 101.0)
    assert run.gap_before == 1


@pytest.mark.parametrize("scale", [0, 1, 3000, 60_000])
def test_a_scale_that_no_adxl345_has_gives_no_samples(scale: int) -> None:
    device = Device()
    stream = FrameStream()
    stream.feed([device.hello(ug_per_lsb=scale)], 100.0)
    assert feed(stream, device, 1.0) == []
    assert stream.scale_is_nonsense
    assert stream.counts().rejected == stream.counts().samples > 3000


def test_another_sensor_may_have_another_scale() -> None:
    device = Device()
    stream = FrameStream()
    stream.feed([device.hello(devid=0x33, ug_per_lsb=980)], 100.0)
    (run, *_) = feed(stream, device, 0.1)
    assert run.accel[0, 2] == pytest.approx(256 * 980e-6)


@pytest.mark.parametrize("nominal", [0, 1, 65_535])
def test_without_a_nominal_rate_the_samples_wait_for_the_fitted_one(nominal: int) -> None:
    device = Device(nominal=nominal)
    stream = FrameStream()
    stream.feed([device.hello()], 100.0)
    assert feed(stream, device, 0.5) == []
    runs = feed(stream, device, 3.0)
    assert runs[0].index == 0
    assert good(runs) == stream.counts().samples
    assert runs[-1].rate_hz == pytest.approx(device.rate, rel=5e-3)


def test_samples_wait_for_the_hello_that_says_what_they_are() -> None:
    device = Device()
    stream = FrameStream()
    assert feed(stream, device, 1.0) == []
    runs = stream.feed([device.hello()], 101.0)
    assert good(runs) == stream.counts().samples > 3000
    assert runs[0].index == 0


def test_they_do_not_wait_for_ever() -> None:
    device = Device()
    stream = FrameStream()
    feed(stream, device, 30.0)
    counts = stream.counts()
    assert counts.samples - counts.rejected <= 4 * 3200 + 1024
    runs = stream.feed([device.hello()], 130.0)
    assert good(runs) == counts.samples - counts.rejected
    assert runs[0].gap_before == counts.rejected


def test_a_hello_with_another_scale_changes_only_what_follows() -> None:
    device = Device()
    stream = started(device)
    one, two = stream.feed([device.data(), device.hello(ug_per_lsb=31_200), device.data()], 101.0)
    assert one.accel[0, 2] == pytest.approx(256 * 3900e-6)
    assert two.accel[0, 2] == pytest.approx(256 * 31_200e-6)


def test_after_an_unplugged_line_the_loss_is_unknown() -> None:
    device = Device()
    stream = started(device, 1.0)
    stream.line_was_lost()
    assert stream.hello is None
    # booted again: its numbers are small, and by chance look like a short gap
    anew = Device(index=device.index + 100, t0=device.seconds() + 0.1, rng=random.Random(4))
    anew.made = 0
    runs = stream.feed([anew.hello(), anew.data(), anew.data()], 110.0)
    assert runs[0].overflow_before
    assert stream.counts().lost == 0


def test_after_a_line_that_was_only_unread_the_loss_is_exact() -> None:
    device = Device()
    stream = started(device, 1.0)
    stream.line_was_lost()
    device.skip(3200)
    runs = stream.feed([device.hello(), device.data(), device.data()], 100.0 + device.seconds())
    assert (runs[0].gap_before, runs[0].overflow_before) == (3200, False)
    assert stream.counts().lost == 3200


def test_unknown_frames_are_counted_and_keep_their_number() -> None:
    device = Device()
    stream = started(device)
    assert stream.feed([Unknown(device.number(), 77, b"news"), device.data()], 101.0)[0].gap_before == 0
    assert (stream.counts().unknown, stream.counts().missing_frames) == (1, 0)


# --- anything at all -----------------------------------------------------------------------------------------------

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("data"), st.integers(1, 30)),
        st.tuples(st.just("vanish"), st.integers(1, 5)),
        st.tuples(st.just("twice"), st.just(0)),
        st.tuples(st.just("skip"), st.integers(1, 60)),
        st.tuples(st.just("overflow"), st.integers(1, 100)),
        st.tuples(st.just("drop"), st.integers(1, 3)),
        st.tuples(st.just("status"), st.integers(0, 65_535)),
        st.tuples(st.just("hello"), st.just(0)),
        st.tuples(st.just("unknown"), st.just(0)),
        st.tuples(st.just("reset"), st.just(0)),
        st.tuples(st.just("lie"), st.integers(10**6, WRAP - 1)),
        st.tuples(st.just("lost"), st.just(0)),
    ),
    max_size=40,
)


@given(EVENTS, st.integers(0, 1000))
def test_whatever_happens_no_sample_is_taken_for_another(events: list[tuple[str, int]], seed: int) -> None:
    device = Device(rng=random.Random(seed))
    stream = FrameStream()
    runs: list[Samples] = []
    now, sent = 100.0, 0

    def take(*frames: Frame) -> None:
        nonlocal sent
        sent += sum(frame.n for frame in frames if isinstance(frame, Data))
        runs.extend(stream.feed(frames, now))

    take(device.hello())
    for what, how_many in events:
        now += 0.01
        match what:
            case "data":
                take(*(device.data() for _ in range(how_many)))
            case "vanish":
                for _ in range(how_many):
                    device.data()
            case "twice":
                frame = device.data()
                take(frame, frame)
                sent -= frame.n
            case "skip":
                device.skip(how_many)
            case "overflow":
                device.skip(how_many, counted=False)
                take(device.data(Flag.OVERFLOW))
            case "drop":
                for _ in range(how_many):
                    device.data()
                take(device.data(Flag.DROPPED))
            case "status":
                take(device.status(overruns=how_many, tx_dropped=how_many))
            case "hello":
                take(device.hello())
            case "unknown":
                take(Unknown(device.number(), 99, b""))
            case "reset":
                device = Device(rng=random.Random(seed + 1))
            case "lie":
                frame = device.data()
                take(
                    replace(
                        frame, index=how_many, raw=Data.of(0, 0, 0, 0, [value(how_many + i) for i in range(16)]).raw
                    )
                )
            case "lost":
                stream.line_was_lost()
                take(device.hello())
    take(*(device.data() for _ in range(3)))
    counts = stream.counts()
    heard = sum(len(run.accel) for run in runs)
    good(runs)
    assert heard + counts.rejected <= sent
    # what is neither heard nor rejected is one frame that waits to be confirmed, or came from before a reset
    assert sent - heard - counts.rejected <= 16 * (1 + counts.repeated + len(events))


@pytest.mark.parametrize("seed", [0, *(pytest.param(more, marks=pytest.mark.long) for more in (1, 2, 3))])
def test_a_noisy_line_costs_samples_and_never_changes_one(seed: int) -> None:
    rng = random.Random(seed)
    device = Device(rng=random.Random(seed), index=WRAP - 40_000, seq=65_000)
    stream, reader = FrameStream(), FrameReader()
    first = device.index
    runs = stream.feed(reader.feed(encode(device.hello()) + encode(device.data()) + encode(device.data())), 100.0)
    for number in range(4000):
        wire = bytearray(encode(device.hello()) if number % 200 == 0 else encode(device.data()))
        while rng.random() < 0.05:
            at = rng.randrange(len(wire))
            match rng.randrange(3):
                case 0:
                    wire[at] ^= 1 << rng.randrange(8)
                case 1:
                    del wire[at]
                case 2:
                    wire.insert(at, wire[at])
        runs += stream.feed(reader.feed(bytes(wire)), 100.0 + device.seconds())
    last = [device.data(), device.data()]
    runs += stream.feed(reader.feed(b"".join(map(encode, last))), 101.0 + device.seconds())
    heard, counts = good(runs), stream.counts()
    assert reader.corrupt > 100
    assert counts.lost > 1600
    # every sample was heard or is known to be missing, and nothing else
    assert heard == counts.samples
    assert heard + counts.lost == runs[-1].index + len(runs[-1].accel) - first
    assert (counts.rejected, counts.resets, counts.overflows) == (0, 0, 0)
    assert stream.rate_hz == pytest.approx(device.rate, rel=2e-3)
