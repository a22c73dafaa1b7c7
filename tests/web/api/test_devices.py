"""The devices beside igloo and camera, and the doctor, as the API tells of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from companion.doctor.finding import FindingState
from companion.service import Service
from companion.service.messages import BAD_BROKER
from companion.service.options import ServeOptions
from companion.settings import Settings
from tests.web.assembly import SmallCompanion


@pytest.mark.process
def test_players_see_the_devices_and_the_host_has_everything_checked(
    guest: FlaskClient, player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    assert guest.get("/api/devices").status_code == 403
    assert player.get("/api/devices").json == {"panel": None, "mqtt": None}
    for client in (guest, player):
        assert client.post("/api/doctor", json={}).status_code == 403
    found = host.post("/api/doctor", json={}).json["findings"]
    assert {one["state"] for one in found} <= set(FindingState)
    assert {"disk", "journal", "panel"} <= {one["check"] for one in found}
    for one in found:
        assert one["en"] and one["fr"] and (one["cure"] is None or one["cure"]["fr"])
        assert one["state"] != "wrong" or one["cure"], one


@pytest.mark.process
def test_the_service_tells_of_its_panel_and_its_broker(tmp_path: Path) -> None:
    Settings(tmp_path / "settings.json").set({"panel_pins": ["next 5", "undo 5"], "mqtt_address": "http://x"})
    service = Service(ServeOptions(tmp_path))
    try:
        service.buttons.start()
        service._start_mqtt()
        told = service.other_devices()
        assert told["panel"]["state"] == "faulty" and told["panel"]["detail"]
        assert told["mqtt"] == {"state": "faulty", "note": BAD_BROKER}
        assert any(one["check"] == "settings" for one in service.check_up())
    finally:
        service.close()
