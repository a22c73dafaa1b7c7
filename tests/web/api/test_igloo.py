"""The API of the igloo's bench: who may, what is refused, what is hidden, what comes out."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from companion.igloo.simulated.device import load_bank
from companion.ports import Samples
from tests.web.assembly import SIMULATED, SmallCompanion
from tests.worlds.wait import wait

BEGIN = {"task": "calibrate", "igloo": "", "person": " Ann  B ", "way": "cap"}


class Line:
    def status(self) -> Any:
        return SIMULATED


def feel(companion: SmallCompanion, count: int) -> None:
    """Let the house's igloo feel a stored shake of so many beads."""
    bank = load_bank()
    wave = bank.accel[np.flatnonzero(bank.count == count)[0]] * (bank.ug_per_lsb * 1e-6)
    rest = np.tile(wave.mean(axis=0), (2600, 1))
    felt = np.concatenate([rest, wave, wave[:3800], rest])
    for at in range(0, len(felt), 400):
        companion.calibration_run.hear(Line(), Samples(felt[at : at + 400], at / bank.rate_hz, bank.rate_hz, at))


def told_when(client: FlaskClient, true: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return what the bench tells as soon as it is as wanted."""

    def told() -> dict[str, Any]:
        return dict(client.get("/api/igloo").json)

    return wait(lambda: now if true(now := told()) else {}, seen=told)


CHANGES = (
    ("sitting", BEGIN),
    ("sitting/change", {"count": 4}),
    ("sitting/take-back", {}),
    ("sitting/keep", {}),
    ("sitting/stop", {}),
    ("sitting/simulate", {}),
    ("calibration", {"device": "simulated", "use": False}),
    ("calibration/undo", {"device": "simulated"}),
    ("calibration/forget", {"device": "simulated"}),
    ("recordings/0123456789ab/forget", {}),
)


def test_who_watches_may_nothing_and_only_the_host_forgets(
    companion: SmallCompanion, guest: FlaskClient, player: FlaskClient
) -> None:
    companion.plug_in()
    for path, body in CHANGES:
        assert guest.post(f"/api/igloo/{path}", json=body).status_code == 403, path
    assert guest.get("/api/igloo").status_code == 403
    assert guest.get("/api/igloo/recordings/0123456789ab.npz").status_code == 403
    for path, body in CHANGES[-2:]:
        answer = player.post(f"/api/igloo/{path}", json=body)
        assert (answer.status_code, answer.json["error"]["code"]) == (403, "not-host")


@pytest.mark.parametrize(
    "body",
    [
        {**BEGIN, "task": "guess"},
        {**BEGIN, "way": "anyhow"},
        {**BEGIN, "guided": "yes"},
        {**BEGIN, "person": "x" * 41},
        {**BEGIN, "recording": "../../0000000"},
        {**BEGIN, "recording": 7},
        {"task": "record", "count": 14},
        {"task": "record", "count": True},
        {"task": "record"},
        {},
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    companion: SmallCompanion, player: FlaskClient, body: dict[str, Any]
) -> None:
    companion.plug_in()
    answer = player.post("/api/igloo/sitting", json=body)
    assert answer.status_code == 400
    assert answer.json["error"]["en"] and answer.json["error"]["fr"]
    assert player.get("/api/igloo").json["sitting"] is None


def test_a_shake_is_recorded_labelled_taken_back_and_downloaded(
    companion: SmallCompanion, host: FlaskClient, player: FlaskClient
) -> None:
    answer = player.post("/api/igloo/sitting", json=BEGIN)
    assert (answer.status_code, answer.json["error"]["fr"][:13]) == (409, "Aucun igloo à")
    companion.plug_in()
    begun = player.post("/api/igloo/sitting", json={"task": "record", "person": "Ann", "count": 5}).json
    assert (begun["ok"], begun["sitting"]["count"], begun["sitting"]["device"]) == (True, 5, "simulated")
    assert player.get("/api/state").json["bench"]["sitting"]["task"] == "record"
    assert host.post("/api/igloo/sitting", json=BEGIN).status_code == 409
    assert player.post("/api/igloo/sitting/take-back", json={}).status_code == 409
    feel(companion, 5)
    told = told_when(player, lambda told: told["sitting"]["kept"] == 1)
    assert told["sitting"]["note"] == "Heard and kept."
    assert player.post("/api/igloo/sitting/keep", json={}).status_code == 422
    assert player.post("/api/igloo/sitting/simulate", json={}).json["ok"]
    assert companion.played[-1] == ("shake", 5)
    assert player.post("/api/igloo/sitting/stop", json={}).json["sitting"] is None
    (one,) = player.get("/api/igloo").json["recordings"]
    assert (one["by_count"], one["people"]) == ({"5": 1}, ["Ann"])
    file = player.get(f"/api/igloo/recordings/{one['name']}.npz")
    assert "attachment" in file.headers["Content-Disposition"]
    with np.load(io.BytesIO(file.data), allow_pickle=False) as arrays:
        assert arrays["accel"].shape[0] == 1 and arrays["count"].tolist() == [5]
    assert player.get("/api/igloo/recordings/..%2f.npz").status_code == 404
    assert host.post(f"/api/igloo/recordings/{one['name']}/forget", json={}).json["ok"]
    assert host.post(f"/api/igloo/recordings/{one['name']}/forget", json={}).status_code == 404


def test_a_calibration_is_made_chosen_and_forgotten(companion: SmallCompanion, host: FlaskClient) -> None:
    companion.plug_in()
    assert host.post("/api/igloo/calibration", json={"device": "simulated", "use": True}).status_code == 404
    assert host.post("/api/igloo/sitting", json=BEGIN).json["sitting"]["person"] == "Ann B"
    for kept in range(6):
        feel(companion, host.get("/api/igloo").json["sitting"]["count"])
        told = told_when(host, lambda told, kept=kept: told["sitting"]["kept"] > kept)
    assert told["sitting"]["figures"]["now"]["shakes"] == 6
    assert host.post("/api/igloo/sitting/keep", json={}).json["sitting"]["used"]
    host.post("/api/igloo/sitting/stop", json={})
    (made,) = host.get("/api/igloo").json["calibrations"]
    assert (made["people"], made["person"], made["use"], made["undoable"]) == (["Ann B"], "Ann B", True, False)
    host.post("/api/igloo/calibration", json={"device": "simulated", "use": False, "person": ""})
    (made,) = host.get("/api/igloo").json["calibrations"]
    assert (made["person"], made["use"]) == ("", False)
    assert host.post("/api/igloo/calibration/undo", json={"device": "simulated"}).json["ok"]
    assert host.get("/api/igloo").json["calibrations"] == []
    assert host.post("/api/igloo/calibration/forget", json={"device": "simulated"}).status_code == 404


def test_free_shakes_are_counted_for_the_referee(companion: SmallCompanion, player: FlaskClient) -> None:
    companion.plug_in()
    begun = player.post("/api/igloo/sitting", json={"task": "shake-on", "person": "Ann"}).json["sitting"]
    assert (begun["task"], begun["person"], begun["shakes"], begun["sure"]) == ("shake-on", "Ann", 0, None)
    feel(companion, 5)
    told = told_when(player, lambda told: told["sitting"]["shakes"] == 1)["sitting"]
    assert told["sure"] > 1 / 12 and told["enough"] == 0.97 and told["outlook"] is None
    assert player.post("/api/igloo/sitting/other-hand", json={}).json["sitting"]["hands"] == 2
    assert player.post("/api/igloo/sitting/take-back", json={}).json["sitting"]["answer"] is None
    companion.open_match()
    companion.moves("start")
    assert player.get("/api/igloo").json["sitting"] is None
    assert player.post("/api/igloo/sitting", json={"task": "shake-on"}).status_code == 409


def test_in_a_live_round_nothing_is_measured_and_nothing_told(companion: SmallCompanion, host: FlaskClient) -> None:
    companion.plug_in()
    host.post("/api/igloo/sitting", json={"task": "record", "count": 9})
    companion.open_match()
    companion.moves("start")
    assert "9" not in str(host.get("/api/state").json["bench"]["sitting"])
    told = host.get("/api/igloo").json
    assert (told["hidden"], told["sitting"]) == (True, None)
    for path, body in CHANGES:
        if path != "sitting/stop":
            assert host.post(f"/api/igloo/{path}", json=body).status_code == 409, path
    assert host.get("/api/igloo/recordings/0123456789ab.npz").status_code == 409
    assert host.post("/api/igloo/sitting/stop", json={}).json["hidden"]
