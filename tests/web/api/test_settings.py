"""The settings on the page: the host's, checked, answered in both languages."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from companion.settings import SETTINGS
from tests.web.assembly import NAME, SmallCompanion
from web.i18n import catalogue


def test_the_host_gets_every_setting_with_its_question(host: FlaskClient, companion: SmallCompanion) -> None:
    told = host.get("/api/settings").json
    assert [one["name"] for one in told["settings"]] == [setting.name for setting in SETTINGS]
    by_name = {one["name"]: one for one in told["settings"]}
    assert by_name["host_names"]["kind"] == "lines"
    assert by_name["host_names"]["value"] == [NAME]
    assert by_name["house_name"]["kind"] == "text"
    assert by_name["evidence_each_round"]["kind"] == "switch"
    assert (by_name["max_streams"]["kind"], by_name["max_streams"]["high"]) == ("number", 100)
    assert told["note"] == ""
    companion.settings.note = "A setting was ignored."
    assert host.get("/api/settings").json["note"] == "A setting was ignored."


def test_what_the_host_changes_is_kept(host: FlaskClient, companion: SmallCompanion) -> None:
    told = host.post("/api/settings", json={"house_name": " Chez nous ", "host_names": [NAME, "games.example"]})
    assert told.status_code == 200
    assert companion.settings.text("house_name") == "Chez nous"
    assert host.get("/", headers={"Host": "games.example"}).status_code == 200


@pytest.mark.parametrize(
    ("change", "english", "french"),
    [
        ({"keep_pictures_days": 9999}, "this is a number from 0 to 3650.", "c’est un nombre de 0 à 3650."),
        ({"keep_pictures_days": True}, "this is a number from 0 to 3650.", "c’est un nombre de 0 à 3650."),
        ({"evidence_each_round": "yes"}, "this is yes or no.", "c’est oui ou non."),
        ({"house_name": "two\nlines"}, "one line", "une seule ligne"),
        ({"igloo_deny": "ttyUSB0"}, "short lines", "lignes courtes"),
        ({"host_names": ["http://games.example"]}, "without http://", "sans http://"),
        ({"house_name": "x", "colour": 1}, "colour", "colour"),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_changes_nothing(
    host: FlaskClient, companion: SmallCompanion, change: dict[str, object], english: str, french: str
) -> None:
    before = companion.settings.all()
    answer = host.post("/api/settings", json=change)
    assert answer.status_code == 400
    assert english in answer.json["error"]["en"]
    assert french in answer.json["error"]["fr"]
    assert companion.settings.all() == before


def test_the_camera_is_changed_with_its_setting(host: FlaskClient, companion: SmallCompanion) -> None:
    assert host.post("/api/settings", json={"camera_source": "file:/etc/passwd"}).status_code == 422
    assert host.post("/api/settings", json={"camera_source": "usb:0"}).status_code == 200
    assert companion.camera_service.told is not None
    assert companion.camera_service.told.source == "usb:0"


def test_nobody_else_changes_settings(player: FlaskClient, guest: FlaskClient, companion: SmallCompanion) -> None:
    before = companion.settings.all()
    for client in (player, guest):
        assert client.post("/api/settings", json={"house_name": "mine"}).status_code == 403
    assert companion.settings.all() == before


def test_the_questions_are_in_the_catalogue() -> None:
    wanted = {message.id for message in catalogue.collect()}
    assert {setting.words for setting in SETTINGS} <= wanted
