"""The API of the referee's balance: who may, what is refused, what is hidden, what comes out."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from numpy.typing import NDArray

from tests.web.assembly import SmallCompanion
from tests.worlds.balance import felt_on_it, sequence, tapped
from tests.worlds.wait import wait

CHANGES = (
    ("role", {"key": "sim-1"}),
    ("weigh", {"what": "tare"}),
    ("stop", {}),
    ("take-back", {}),
    ("anew", {}),
    ("keep", {}),
    ("box", {"do": "begin"}),
)


def weigh(companion: SmallCompanion, player: FlaskClient, accel: NDArray[Any], what: str, value: float) -> Any:
    """Weigh once and return what is told when it is done."""
    before = player.get("/api/balance").json["now"]
    assert player.post("/api/balance/weigh", json={"what": what, "value": value}).status_code == 200
    tapped(companion.balance_run, accel)
    many = ("known", "tares", "weighed")

    def done() -> Any:
        now = player.get("/api/balance").json["now"]
        return now if now["note"] or any(now[one] != before[one] for one in many) else None

    return wait(done)


def test_who_watches_may_nothing(companion: SmallCompanion, guest: FlaskClient) -> None:
    companion.plug_in()
    for path, body in CHANGES:
        assert guest.post(f"/api/balance/{path}", json=body).status_code == 403, path
    assert guest.get("/api/balance").status_code == 403


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("weigh", {"what": "cup"}),
        ("weigh", {"what": "beads", "value": 14}),
        ("weigh", {"what": "beads", "value": 4.5}),
        ("weigh", {"what": "grams", "value": 0}),
        ("weigh", {"what": "grams", "value": 1e9}),
        ("box", {"do": "choose", "igloo": 14}),
        ("box", {"do": "was"}),
        ("box", {"do": "open"}),
        ("weigh", {"what": "unknown", "value": 14}),
        ("role", {"key": "x" * 201}),
        ("role", {"key": 7}),
    ],
)
def test_what_makes_no_sense_is_refused(
    companion: SmallCompanion, player: FlaskClient, path: str, body: dict[str, Any]
) -> None:
    companion.plug_in()
    assert player.post("/api/balance/role", json={"key": "sim-1"}).status_code == 200
    assert player.post(f"/api/balance/{path}", json=body).status_code in {400, 422}


def test_a_balance_is_calibrated_and_counts_but_not_in_a_live_round(
    companion: SmallCompanion, player: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    companion.plug_in()
    assert player.get("/api/balance").json["now"]["candidates"] == [{"key": "sim-1", "kind": "simulated"}]
    assert player.post("/api/balance/role", json={"key": "sim-2"}).status_code == 409
    assert player.post("/api/balance/role", json={"key": "sim-1"}).json["now"]["balance"]["there"]
    assert player.post("/api/balance/weigh", json={"what": "unknown"}).status_code == 409
    assert player.post("/api/balance/keep", json={}).status_code == 422
    felt = felt_on_it(7)
    for what, value, accel in sequence(felt):
        assert weigh(companion, player, accel, what, value)["note"] == ""
    assert player.post("/api/balance/keep", json={}).json["now"]["calibration"]["good"]
    told = weigh(companion, player, felt["beads 7"], "unknown", 0)
    assert (told["answer"]["state"], told["answer"]["count"]) == ("counted", 7)
    assert player.post("/api/balance/box", json={"do": "end"}).status_code == 409
    assert player.post("/api/balance/box", json={"do": "begin"}).json["now"]["box"]["stage"] == "before"
    assert player.post("/api/balance/box", json={"do": "choose", "igloo": 9}).json["now"]["box"]["igloo"] == 9
    assert player.post("/api/balance/stop", json={}).json["now"]["box"] is None
    assert player.get("/api/state").json["balance"]["now"]["answer"]["count"] == 7
    with monkeypatch.context() as full:
        full.setattr("companion.calibrating.balance_run.write_small", lambda *_: (_ for _ in ()).throw(OSError(28, "")))
        assert player.post("/api/balance/role", json={"key": ""}).status_code == 503

    companion.open_match()
    companion.moves("start")
    for path, body in CHANGES:
        answer = player.post(f"/api/balance/{path}", json=body)
        if path != "stop":
            assert (answer.status_code, answer.json["error"]["code"]) == (409, "live-round"), path
    for told in (player.get("/api/balance").json, player.get("/api/state").json["balance"]):
        assert (told["hidden"], told["now"]) == (True, None)
