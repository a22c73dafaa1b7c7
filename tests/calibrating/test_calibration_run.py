"""The igloo's bench: sittings that gather, calibrate, record and referee, over a real data folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.calibrating import gathering
from companion.calibrating.calibration_run import CalibrationRun
from companion.calibrating.plan import CalibrationMethod, next_count
from companion.calibrating.recordings import Recordings, ShakeLabel
from companion.calibrating.store import Calibrations
from companion.events.hub import Hub
from companion.igloo.calibration import joined
from companion.igloo.calibration.shake_segmenter import KEPT, SHORT
from companion.igloo.calibration.store import CalibrationStore, calibrate
from companion.igloo.count.guided import NOT_SURE, OTHER_HAND, SURE
from companion.igloo.count.guided_gauge import FASTER, GOOD
from companion.igloo.recordings import read_recording
from companion.igloo.simulated.device import SimulatedDevice, load_bank
from companion.ports import BadDataError, CountGate, DeviceError, DeviceKind, DeviceState, IglooStatus, Samples
from companion.practice.waveform import COLUMN_S
from companion.service.waveform import Waves
from tests.worlds.beat import beat
from tests.worlds.wait import PATIENCE_S, wait

pytestmark = pytest.mark.learning

BANK = load_bank()
RATE = BANK.rate_hz
STILL = np.array([0.0, 0.0, 1.0])


@dataclass
class Line:
    """A link without a port: what is fed goes at once to whoever listens."""

    status_now: IglooStatus
    index: int = 0
    listeners: list[Callable[..., None]] = field(default_factory=list)

    def status(self) -> IglooStatus:
        return self.status_now

    def subscribe(self, listener: Callable[[Samples], None]) -> Callable[[], None]:
        raise NotImplementedError

    def close(self) -> None: ...

    def feel(self, accel: NDArray[np.float64], rate_hz: float = RATE) -> None:
        for at in range(0, len(accel), 320):
            part = accel[at : at + 320]
            for listener in self.listeners:
                listener(self, Samples(part, self.index / rate_hz, rate_hz, self.index))
            self.index += len(part)


def shaken(count: int, which: int = 0) -> NDArray[np.float64]:
    """Return a shake of the bank, long enough to be caught, between rests."""
    found = np.flatnonzero(BANK.count == count)
    wave = BANK.accel[found[which % len(found)]] * (BANK.ug_per_lsb * 1e-6)
    rest = np.tile(wave.mean(axis=0), (round(0.8 * RATE), 1))
    rng = np.random.default_rng(count)
    return np.concatenate([rest, wave, wave[: round(1.2 * RATE)], rest]) + 0.01 * rng.normal(size=3)


def swing(tempo: float, seconds: float, rate: float = RATE) -> NDArray[np.float64]:
    return beat(tempo, seconds, rate, STILL)


class Table:
    """A bench over a folder, with one igloo; ``live`` is whether a round is live."""

    def __init__(self, folder: Path) -> None:
        self.live = False
        self.gate = CountGate(lambda: self.live)
        self.hub = Hub()
        self.line = Line(IglooStatus("unit-3", DeviceKind.REAL, DeviceState.CONNECTED, rate_hz=RATE, nominal_hz=3200.0))
        self.shakes: list[tuple[int, float, bool]] = []
        self.calibration_run = CalibrationRun(
            folder,
            self.hub,
            statuses=lambda: [self.line.status_now],
            gate=self.gate,
            shake=lambda *how: self.shakes.append(how),
        )
        self.line.listeners.append(self.calibration_run.hear)
        self.calibration_run.start()

    def sitting(self) -> dict[str, Any]:
        found = self.calibration_run.state()["sitting"]
        assert found is not None
        return dict(found)

    def wait(self, true: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        return wait(lambda: now if true(now := self.sitting()) else None, seen=self.sitting)

    def heard(self) -> None:
        """Wait until the bench has heard all that was felt, and told it."""
        for _ in range(2):
            # What lies in its queue is taken in turn, and told before the next is taken.
            done = threading.Event()
            self.calibration_run._queue.put(done.set)
            assert done.wait(PATIENCE_S)

    def shake(self, which: int = 0) -> dict[str, Any]:
        before = self.sitting()
        self.line.feel(shaken(before["count"], which))
        return self.wait(lambda now: now["kept"] > before["kept"])


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.calibration_run.close()


def test_the_plan_takes_the_ends_first_and_lets_a_filling_stay() -> None:
    kept: dict[int, int] = {}
    order = []
    for _ in range(12):
        order.append(next_count(CalibrationMethod.CAP, kept))
        kept[order[-1]] = kept.get(order[-1], 0) + 1
    assert order[:3] == [2, 13, 6] and sorted(order) == list(range(2, 14))
    kept, order = {}, []
    for _ in range(120):
        order.append(next_count(CalibrationMethod.FILLED, kept, order[-1] if order else None))
        kept[order[-1]] = kept.get(order[-1], 0) + 1
    assert order[:12] == [3] * 4 + [6] * 4 + [11] * 4
    assert set(kept.values()) == {10}
    assert sum(a != b for a, b in pairwise(order)) < 22


def test_an_igloo_is_calibrated_shake_by_shake_used_and_taken_back(table: Table, tmp_path: Path) -> None:
    calibration_run = table.calibration_run
    assert calibration_run.calibrations.calibrated_model("unit-3") is None
    calibration_run.calibrate("", person="Ann", guided=False, way="cap")
    now = table.sitting()
    assert (now["igloo"], now["count"], now["kept"], now["goal"], now["lacks"]) == ("unit-3", 2, 0, 12, None)
    with pytest.raises(DeviceError, match="already"):
        calibration_run.record("", person="", guided=False, count=4)
    with pytest.raises(BadDataError, match="too few"):
        calibration_run.keep()
    for which in range(2):
        now = table.shake(which)
    assert now["note"] == KEPT and now["good"] and now["lacks"] == "shakes" and now["figures"] is None

    # A shake of the wrong igloo is forgotten, and its number is asked for again.
    calibration_run.take_back()
    assert (table.sitting()["count"], table.sitting()["kept"]) == (13, 1)
    calibration_run.alter(count=7)
    now = table.shake()
    assert (now["last"], now["count"]) == (7, 13)
    # A short one is told and not kept.
    pause = np.tile(STILL, (round(1.2 * RATE), 1))
    table.line.feel(np.concatenate([shaken(13)[: round(2.0 * RATE)], pause]))
    assert table.wait(lambda now: now["note"] == SHORT)["kept"] == 2
    # It is told no longer once the next begins, and told again of the next.
    table.line.feel(shaken(13)[round(0.8 * RATE) : round(2.0 * RATE)])
    table.wait(lambda now: now["note"] == "" and now["shaken_s"] > 0.5)
    table.line.feel(pause)
    assert table.wait(lambda now: now["note"] == SHORT)["kept"] == 2
    for which in range(6):
        now = table.shake(which)
    assert now["figures"]["now"]["shakes"] == 8 and now["figures"]["now"]["exact"] >= 0.0
    assert calibration_run.calibrations.calibrated_model("unit-3") is None
    calibration_run.keep()
    now = table.sitting()
    assert (now["kept"], now["before"], now["used"], now["goal"]) == (0, 8, True, 12)
    assert calibration_run.calibrations.calibrated_model("unit-3") is not None
    listed = calibration_run.overview()["calibrations"]
    assert [(one["device"], one["shakes"], one["people"], one["person"]) for one in listed] == [
        ("unit-3", 8, ["Ann"], "Ann")
    ]

    # Another person enrols: their own twelve are asked for, and what was there before can be brought back.
    calibration_run.alter(person="Bob")
    assert table.sitting()["own"] == 0
    table.shake()
    calibration_run.keep()
    assert calibration_run.overview()["calibrations"][0]["people"] == ["Ann", "Bob"]
    calibration_run.stop()
    calibration_run.choose("unit-3", use=None, person="Ann")
    assert calibration_run.calibrations.choice("unit-3").person == "Ann"
    calibration_run.choose("unit-3", use=False, person=None)
    assert calibration_run.calibrations.calibrated_model("unit-3") is None
    calibration_run.undo("unit-3")
    assert calibration_run.overview()["calibrations"][0]["shakes"] == 8

    # Somebody is renamed, and then forgotten: the name goes everywhere, what was measured stays.
    calibration_run.rename("Ann", "Anna")
    told = calibration_run.overview()
    assert (told["calibrations"][0]["people"], told["calibrations"][0]["person"]) == (["Anna"], "Anna")
    assert {name for one in told["recordings"] for name in one["people"]} == {"Anna", "Bob"}
    calibration_run.rename("Anna", None)
    calibration_run.rename("Bob", None)
    calibration_run.choose("unit-3", use=None, person="Ann")
    for path in (*(tmp_path / "calibrations").iterdir(), *(tmp_path / "shakes").glob("*/*")):
        inside = path.read_bytes()
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                inside = b"".join(arrays[key].tobytes() for key in ("who", "card", "person", "sizes") if key in arrays)
        assert b"Bob" not in inside and b"B\0\0\0o\0\0\0b" not in inside, path
    assert calibration_run.overview()["calibrations"][0]["shakes"] == 8

    # All of it is there after a restart, as files that the command line takes.
    again = Calibrations(tmp_path / "calibrations")
    assert (again.choice("unit-3").use, again.choice("unit-3").person) == (False, "Ann")
    assert CalibrationStore(tmp_path / "calibrations").devices == ["unit-3"]
    assert [(one["shakes"], one["used"]) for one in calibration_run.recordings.listed()] == [(1, True), (8, True)]
    calibration_run.forget("unit-3")
    assert calibration_run.overview()["calibrations"] == []
    with pytest.raises(BadDataError):
        calibration_run.undo("unit-3")


def test_a_sitting_that_was_cut_off_is_gone_on_with(table: Table, tmp_path: Path) -> None:
    table.calibration_run.calibrate("unit-3", person="Ann", guided=False, way="filled")
    for which in range(2):
        table.shake(which)
    table.calibration_run.close()
    later = Table(tmp_path)
    left = later.calibration_run.overview()["recordings"]
    assert [(one["shakes"], one["by_count"], one["used"]) for one in left] == [(2, {"3": 2}, False)]
    with pytest.raises(KeyError):
        later.calibration_run.calibrate("", person="Ann", guided=False, way="cap", resume="0123456789ab")
    later.calibration_run.calibrate("", person="Ann", guided=False, way="cap", resume=left[0]["name"])
    assert later.wait(lambda now: now["kept"] == 2)["count"] == 2
    later.shake()
    later.calibration_run.take_back()
    assert later.sitting()["kept"] == 2
    with pytest.raises(DeviceError):
        later.calibration_run.forget_recording(left[0]["name"])
    later.calibration_run.stop()
    later.calibration_run.forget_recording(left[0]["name"])
    assert later.calibration_run.overview()["recordings"] == []
    later.calibration_run.close()


def test_recorded_shakes_are_one_labelled_file(table: Table, tmp_path: Path) -> None:
    table.calibration_run.record("", person="Zoé", guided=False, count=5)
    table.shake()
    table.calibration_run.alter(count=6)
    table.shake(1)
    table.calibration_run.alter(paused=True)
    table.line.feel(shaken(6, 2))
    table.calibration_run.alter(paused=False)
    assert table.shake(2)["kept"] == 3
    with pytest.raises(BadDataError):
        table.calibration_run.keep()
    table.calibration_run.stop()
    (one,) = table.calibration_run.overview()["recordings"]
    assert (one["task"], one["by_count"], one["people"]) == ("record", {"5": 1, "6": 2}, ["Zoé"])
    file = tmp_path / "down.npz"
    file.write_bytes(table.calibration_run.recording(one["name"]))
    read = read_recording(file)
    assert (read.count, read.person[0], read.device[0], read.guided[0]) == ((5, 6, 6), "Zoé", "unit-3", False)
    assert read.rate_hz == pytest.approx(RATE) and len(read.shakes[0]) == round(4 * RATE)
    with pytest.raises(BadDataError, match="only 3"):
        calibrate([(file.name, read)])


def test_the_referee_follows_the_motion_until_it_is_sure(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.calibration_run.referee("", person="")
    table.line.feel(swing(3.0, 3.0))
    now = table.wait(lambda now: now["gauge"]["hint"] == FASTER)
    assert (now["seconds"], now["done"], now["answer"], now["calibrated"]) == (0.0, False, None, False)
    table.line.feel(swing(5.0, 34.0))
    now = table.wait(lambda now: now["done"])
    assert now["gauge"]["hint"] == GOOD
    assert now["note"] in {SURE, NOT_SURE}
    assert sum(now["answer"]["posterior"].values()) == pytest.approx(1.0, abs=0.01)
    table.calibration_run.stop()

    monkeypatch.setattr(gathering, "PATIENCE_S", 0.0)
    table.calibration_run.referee("", person="")
    table.line.feel(swing(3.0, 1.0))
    assert "beat" in table.wait(lambda now: now["done"])["note"]


def beaten(count: int, seconds: float, seed: int) -> NDArray[np.float64]:
    """Return what the simulated igloo's sensor feels of a hand that takes it up and follows the beat."""
    device = SimulatedDevice(BANK, seed=seed)
    with pytest.raises(BadDataError):
        device.follow_beat(14, seconds)
    device.follow_beat(count, seconds)
    return np.concatenate(device._queue) * (BANK.ug_per_lsb * 1e-6)


def test_the_referee_is_sure_of_an_igloo_that_was_calibrated_with_the_beat(table: Table) -> None:
    name = table.calibration_run.recordings.begin("unit-3", "calibrate")
    for count in range(2, 14):
        felt = beaten(count, 5.5, seed=count)[round(1.2 * RATE) :][: round(4 * RATE)]
        table.calibration_run.recordings.add(name, felt, RATE, ShakeLabel(count, "Ann", True))
    table.calibration_run.calibrate("", person="", guided=True, way="cap", resume=name)
    now = table.wait(lambda now: now["kept"] == 12)
    assert (now["person"], now["guided"], now["goal"]) == ("Ann", True, 36)
    table.calibration_run.keep()
    table.calibration_run.stop()
    table.calibration_run.referee("", person="Ann")
    assert table.sitting()["calibrated"]
    table.line.feel(beaten(3, 16.0, seed=99))
    now = table.wait(lambda now: now["done"])
    assert now["note"] == SURE
    assert now["answer"]["count"] == 3 and now["answer"]["posterior"]["3"] >= 0.97
    assert now["seconds"] < 15


def test_somebody_else_goes_on_in_the_referees_count(table: Table) -> None:
    with pytest.raises(DeviceError):
        table.calibration_run.other_hand()
    table.calibration_run.referee("", person="")
    table.line.feel(swing(5.0, 9.0))
    now = table.wait(lambda now: now["note"] == OTHER_HAND)
    assert (now["hands"], now["done"]) == (1, False)
    one = now["answer"]["posterior"]
    table.calibration_run.other_hand()
    assert table.sitting()["hands"] == 2
    table.line.feel(swing(5.0, 5.0))
    now = table.wait(lambda now: now["seconds"] > 10)
    assert now["answer"]["posterior"] != one
    table.calibration_run.stop()
    table.calibration_run.record("", person="", guided=False, count=4)
    with pytest.raises(DeviceError):
        table.calibration_run.other_hand()


def test_free_shakes_are_joined_and_it_says_how_sure_and_how_much_longer(table: Table) -> None:
    table.calibration_run.referee("", person="", free=True)
    now = table.sitting()
    assert (now["task"], now["shakes"], now["answer"], now["sure"], now["outlook"]) == ("shake-on", 0, None, None, None)

    def shake(count: int, which: int) -> dict[str, Any]:
        before = table.sitting()["shakes"]
        table.line.feel(shaken(count, which))
        return table.wait(lambda now: now["shakes"] > before)

    one = shake(9, 0)
    assert (one["outlook"], one["done"], one["note"]) == (None, False, "")
    assert one["sure"] == pytest.approx(max(one["answer"]["posterior"].values()), abs=1e-3)
    two = shake(9, 1)
    assert two["answer"]["posterior"] != one["answer"]["posterior"]
    assert two["answer"]["seconds"] > one["answer"]["seconds"]
    ahead = two["outlook"]
    assert two["done"] or ahead["more_s"] is None or ahead["more_s"] > 0
    assert 1 / 12 <= ahead["most"] <= 1
    # What is too short is told and not joined; the last is taken back; another hand goes on.
    table.line.feel(shaken(9)[: round(2.5 * RATE)])
    table.line.feel(np.tile(STILL, (round(1.5 * RATE), 1)))
    assert table.wait(lambda now: now["note"] == SHORT)["shakes"] == 2
    table.calibration_run.take_back()
    assert table.sitting()["answer"] == one["answer"]
    table.calibration_run.other_hand()
    assert table.sitting()["hands"] == 2
    assert shake(9, 2)["shakes"] == 2
    with pytest.raises(BadDataError):
        table.calibration_run.keep()
    # In a live round it ends, and says nothing.
    table.live = True
    assert table.calibration_run.state()["sitting"] is None
    table.line.feel(shaken(9, 1))
    wait(lambda: table.calibration_run._sitting is None)
    with pytest.raises(DeviceError):
        table.calibration_run.take_back()


def test_it_listens_no_more_once_it_is_sure(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "SURE_P", 0.0)
    table.calibration_run.referee("", person="", free=True)
    table.line.feel(shaken(5))
    table.wait(lambda now: now["done"])
    table.line.feel(shaken(5, 1))
    table.heard()
    assert table.sitting()["shakes"] == 1


def test_in_a_live_round_it_is_shut(table: Table) -> None:
    events = table.hub.subscribe(["bench", "wave"])
    waves = Waves(table.hub, gate=table.gate)
    table.line.listeners.append(waves.hear)
    table.calibration_run.calibrate("", person="", guided=False, way="cap")
    table.shake()
    table.heard()
    told = []
    while (event := events.get(0)) is not None:
        told.append(event)
    drawn = [event.data for event in told if event.topic == "wave"]
    assert 4.0 < sum(len(data["wave"]) / 2 for data in drawn) * COLUMN_S < 6.5
    assert [data["first"] for data in drawn][:2] == [0, 16]
    table.live = True
    assert table.calibration_run.state() == {
        "hidden": True,
        "revision": table.calibration_run.state()["revision"],
        "sitting": None,
    }
    table.line.feel(shaken(9))
    wait(lambda: table.calibration_run._sitting is None)
    table.heard()
    while (event := events.get(0)) is not None:
        assert event.topic == "bench" and event.data["sitting"] is None
    table.live = False
    assert table.calibration_run.state()["sitting"] is None
    assert sum(one["shakes"] for one in table.calibration_run.overview()["recordings"]) == 1


def test_an_igloo_that_is_not_there_or_too_slow_is_refused(table: Table) -> None:
    with pytest.raises(DeviceError, match="No igloo"):
        table.calibration_run.referee("unit-9", person="")
    slow = IglooStatus("unit-3", DeviceKind.REAL, DeviceState.CONNECTED, rate_hz=100.0, nominal_hz=100.0)
    table.line.status_now = slow
    with pytest.raises(BadDataError, match="too slow"):
        table.calibration_run.calibrate("", person="", guided=False, way="cap")
    for work in (table.calibration_run.take_back, table.calibration_run.keep, table.calibration_run.shake_simulated):
        with pytest.raises(DeviceError):
            work()


def test_what_was_chosen_and_recorded_survives_rubbish_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "calibrations"
    folder.mkdir()
    (folder / "chosen.json").write_text('{"unit-1": 7}', encoding="utf-8")
    (folder / "unit-1.npz").write_bytes(b"rubbish")
    calibrations = Calibrations(folder)
    assert calibrations.listed() == [] and calibrations.calibrated_model("unit-1") is None
    calibrations.choose("unit-1", person="Ann")
    assert Calibrations(folder).choice("unit-1").person == "Ann"

    recordings = Recordings(tmp_path / "shakes")
    (tmp_path / "shakes" / "0123456789ab").mkdir(parents=True)
    assert recordings.listed() == []
    name = recordings.begin("unit-1", "record")
    first = recordings.add(name, np.tile(STILL, (400, 1)), 3200.0, ShakeLabel(4, "", False))
    other = recordings.add(first, np.tile(STILL, (400, 1)), 3100.0, ShakeLabel(4, "", False))
    assert first == name != other
    with pytest.raises(KeyError):
        recordings.packed("../../etc/passwd")
