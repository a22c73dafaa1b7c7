"""The referee's balance at the table: tared, calibrated, counting, remembered, and silent in a live round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from companion.calibrating.balance_run import TARE_HOLDS_S, BalanceRun
from companion.events.hub import Hub
from companion.igloo.balance.messages import NO_TAP
from companion.lab.physics.balance import RATE_HZ
from companion.ports import BadDataError, CountGate, DeviceError, DeviceKind, DeviceState, IglooStatus, Samples
from tests.worlds.balance import felt_on_it, sequence
from tests.worlds.wait import wait

PLUGGED = IglooStatus("unit-9", DeviceKind.REAL, DeviceState.CONNECTED, rate_hz=RATE_HZ, nominal_hz=3200.0)
IGLOO = replace(PLUGGED, key="unit-3")


class Line:
    def __init__(self, status: IglooStatus) -> None:
        self._status = status

    def status(self) -> IglooStatus:
        return self._status


@pytest.fixture(scope="module")
def felt() -> dict[str, NDArray[np.float64]]:
    """What the sensor feels: the empty platform, coins, igloos of known beads, and one of seven."""
    return felt_on_it(2, 7, 9, shells=True)


class House:
    def __init__(self, folder: Path) -> None:
        self.live, self.there = False, [PLUGGED, IGLOO]
        self.told = 0
        self.hub = Hub()
        self.run = BalanceRun(
            folder, self.hub, statuses=lambda: self.there, gate=CountGate(lambda: self.live), changed=self._changed
        )

    def _changed(self) -> None:
        self.told += 1

    def now(self) -> dict[str, Any]:
        return dict(self.run.state()["now"] or {})

    def feel(self, accel: NDArray[np.float64], line: IglooStatus = PLUGGED, **how: Any) -> None:
        for at in range(0, len(accel), 320):
            part = accel[at : at + 320]
            self.run.hear(Line(line), Samples(part, at / RATE_HZ, RATE_HZ, at, **how))  # type: ignore[arg-type]

    def weighs(self, accel: NDArray[np.float64], what: str, value: float = 0.0) -> dict[str, Any]:
        """Weigh once, and return what is told when it is done."""
        self.run.weigh(what, value)
        self.feel(np.concatenate([accel, accel[:1600]]))
        thread = self.run._fitting
        assert thread is not None
        thread.join()
        return self.now()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.run.close()


def calibrate(house: House, felt: dict[str, NDArray[np.float64]]) -> None:
    house.run.appoint("unit-9")
    for what, value, accel in sequence(felt):
        assert house.weighs(accel, what, value)["note"] == ""
    house.run.keep()


def test_a_balance_is_calibrated_counts_and_is_remembered(
    house: House, felt: dict[str, NDArray[np.float64]], tmp_path: Path
) -> None:
    assert not house.run.is_balance("unit-9", DeviceKind.REAL)
    calibrate(house, felt)
    assert house.told == 1
    assert house.run.is_balance("unit-9", DeviceKind.REAL) and not house.run.is_balance("unit-3", DeviceKind.REAL)
    assert house.now()["calibration"]["good"], house.now()["calibration"]
    told = house.weighs(felt["beads 7"], "unknown")
    assert (told["answer"]["count"], told["answer"]["state"]) == (7, "counted")
    for n in (2, 9):
        assert house.weighs(felt[f"beads {n}"], "unknown")["answer"]["count"] == n
    house.run.take_back()
    assert house.now()["answer"]["count"] == 2
    house.run.anew()
    assert house.now()["answer"] is None and house.now()["calibration"] is not None

    # After a restart the role and the calibration are still there; only the tare is asked for anew.
    again = House(tmp_path)
    assert again.run.is_balance("unit-9", DeviceKind.REAL)
    with pytest.raises(DeviceError, match="empty platform"):
        again.run.weigh("unknown")
    again.weighs(felt["tare"], "tare")
    assert again.weighs(felt["beads 9"], "unknown")["answer"]["count"] == 9
    # The same device stays as it is; another one has another spring.
    again.run.appoint("unit-9")
    assert again.now()["calibration"] is not None
    again.run.appoint("unit-3")
    assert again.now()["calibration"] is None
    again.run.appoint("")
    assert again.now()["balance"] is None and not again.run.is_balance("unit-9", DeviceKind.REAL)
    assert not House(tmp_path).run.is_balance("unit-3", DeviceKind.REAL)


def test_what_cannot_be_is_refused_in_a_sentence(
    house: House, felt: dict[str, NDArray[np.float64]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DeviceError, match="not there"):
        house.run.appoint("unit-77")
    with pytest.raises(DeviceError, match="not there"):
        house.run.weigh("tare")
    with pytest.raises(DeviceError, match="not there"):
        house.run.box("begin")
    house.run.appoint("unit-9")
    with pytest.raises(DeviceError, match="not been calibrated"):
        house.run.weigh("unknown")
    with pytest.raises(DeviceError, match="not been calibrated"):
        house.run.box("begin")
    with pytest.raises(DeviceError, match="No box"):
        house.run.box("choose", 5)
    with pytest.raises(DeviceError, match="empty platform"):
        house.run.weigh("grams", 2.3)
    with pytest.raises(BadDataError, match="two igloos"):
        house.run.keep()
    house.run.weigh("tare")
    with pytest.raises(DeviceError, match="wait a moment"):
        house.run.weigh("tare")
    assert house.now()["listening"]["what"] == "tare"
    # An igloo beside it is not weighed, and a hole on the line begins the weighing anew.
    house.feel(felt["tare"], IGLOO)
    assert house.now()["listening"]["seconds"] == 0
    house.feel(felt["tare"][:3200])
    house.feel(felt["tare"][:320], gap_before=4)
    assert house.now()["listening"]["seconds"] == pytest.approx(0.1)
    house.run.stop()
    assert house.now()["listening"] is None
    # Nobody tapped: it says so and keeps nothing. A tare that is too old is none.
    assert house.weighs(np.tile([0.0, 0.0, 1.0], (15000, 1)), "tare")["note"] == NO_TAP
    assert not house.now()["tared"]
    assert house.weighs(felt["tare"], "tare")["tared"]
    monkeypatch.setattr("companion.calibrating.balance_run.TARE_HOLDS_S", -TARE_HOLDS_S)
    assert not house.now()["tared"]
    house.there = []
    assert house.now()["balance"] == {"key": "unit-9", "kind": "", "there": False}


def test_a_live_round_ends_a_weighing_and_hides_what_was_counted(
    house: House, felt: dict[str, NDArray[np.float64]]
) -> None:
    calibrate(house, felt)
    assert house.weighs(felt["beads 7"], "unknown")["answer"]["count"] == 7
    house.run.weigh("unknown")
    house.live = True
    house.feel(felt["beads 7"])
    told = house.run.state()
    assert (told["hidden"], told["now"]) == (True, None)
    house.live = False
    assert (house.now()["answer"], house.now()["listening"], house.now()["weighed"]) == (None, None, 0)
    # What was fitted when the round began is not kept.
    house.live = True
    house.run._fit("unknown", 0.0, [Samples(felt["beads 7"], 0.0, RATE_HZ, 0)])
    house.live = False
    assert house.now()["weighed"] == 0


def test_a_box_is_checked_and_a_live_round_ends_it(
    house: House, felt: dict[str, NDArray[np.float64]], tmp_path: Path
) -> None:
    calibrate(house, felt)

    def stage(wanted: str, igloo: int = 0) -> dict[str, Any]:
        def there() -> dict[str, Any] | None:
            box = house.now()["box"]
            return box if box["stage"] == wanted and igloo in {0, box["igloo"]} else None

        return dict(wait(there) or {})

    house.run.box("begin")
    for refused in (lambda: house.run.box("begin"), lambda: house.run.weigh("tare")):
        with pytest.raises(DeviceError, match="wait a moment"):
            refused()
    assert stage("before")["told"] == []
    house.feel(felt["tare"], IGLOO)  # an igloo beside it is not heard
    house.feel(felt["tare"])
    assert stage("igloo", 2)["weighed"] == []
    house.feel(felt["beads 2"])
    assert stage("igloo", 3)["weighed"] == [2]
    house.run.box("choose", 7)
    house.feel(felt["beads 9"])
    assert stage("igloo", 8)["note"]["other"] == 9
    house.run.box("was", 9)
    house.feel(felt["beads 7"])
    assert stage("igloo", 8)["weighed"] == [2, 9, 7]
    house.run.box("end")
    house.feel(felt["tare"])
    assert [(one["igloo"], one["count"]) for one in stage("done")["told"]] == [(2, 2), (7, 7), (9, 9)]
    house.run.stop()
    assert house.now()["box"] is None

    # The empty shells are weighed in the same way, and kept.
    house.run.box("shells")
    house.feel(felt["tare"])
    assert stage("igloo", 2)["empty"]
    house.run.box("choose", 7)
    house.feel(felt["shell 7"])
    assert stage("igloo", 8)["weighed"] == [7]
    house.run.box("end")
    house.feel(felt["tare"])
    stage("done")
    assert wait(lambda: house.now()["calibration"]["shells"]) == [7]
    house.run.stop()
    again = House(tmp_path)
    again.weighs(felt["tare"], "tare")
    told = again.weighs(felt["beads 7"], "unknown", 7)
    assert (told["answer"]["count"], told["calibration"]["shells"]) == (7, [7])

    # Begun again, a round ends it, whether the line is heard or the page asks first.
    for ends in (lambda: house.feel(felt["tare"]), house.run.state):
        house.run.box("begin")
        house.live = True
        ends()
        house.live = False
        assert house.now()["box"] is None


def test_what_is_remembered_may_be_rubbish(tmp_path: Path, felt: dict[str, NDArray[np.float64]]) -> None:
    folder = tmp_path / "balance"
    folder.mkdir()
    (folder / "role.json").write_text('{"device": "unit-9"}')
    (folder / "card.json").write_text("[" * 90_000)
    house = House(tmp_path)
    assert house.now()["calibration"] is None and house.now()["balance"]["there"]
    (folder / "card.json").write_text('{"good": true}')
    house = House(tmp_path)
    house.weighs(felt["tare"], "tare")
    with pytest.raises(DeviceError, match="not been calibrated"):
        house.run.weigh("unknown")
    (folder / "role.json").write_text("x" * 200_000)
    assert not House(tmp_path).run.is_balance("unit-9", DeviceKind.REAL)


def test_a_page_is_told_when_a_sensor_comes_or_goes_and_can_tell_what_is_newer(house: House) -> None:
    with house.hub.subscribe(["balance"]) as events:
        house.run.look()
        house.run.look()
        house.there = [PLUGGED]
        house.run.look()
        house.run.appoint("unit-9")
        told = [events.get(0) for _ in range(3)]
        assert events.get(0) is None
    data = [one.data for one in told if one is not None]
    assert [len(one["now"]["candidates"]) for one in data] == [2, 1, 1]
    revisions = [one["revision"] for one in data]
    assert revisions == sorted(set(revisions)) and house.run.state()["revision"] == revisions[-1]


def test_a_stumble_ends_nothing(
    house: House, felt: dict[str, NDArray[np.float64]], monkeypatch: pytest.MonkeyPatch
) -> None:
    house.run.appoint("unit-9")
    with monkeypatch.context() as broken:
        broken.setattr("companion.igloo.balance.ringdown.ringdown", lambda *_: 1 / 0)
        assert not house.weighs(felt["tare"], "tare")["tared"]
    assert house.weighs(felt["tare"], "tare")["tared"]
    assert wait(lambda: house.now()["tares"] == 1)
