"""The API of encrypted backups: chosen by the host, never told again, asked for where the box does not keep it."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from companion.night.backup.archive import STAGE
from companion.night.backup.encryption import is_encrypted
from companion.night.backup.restore import settle
from tests.web.assembly import SmallCompanion

WORDS = "quatre pingouins à l’heure"
ELSEWHERE = "cinq renards sous la neige"


def test_from_now_on_and_no_more(host: FlaskClient, player: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    assert host.get("/api/backups").json["encrypts"] is False
    assert host.post("/api/backups/passphrase", json={"passphrase": WORDS}).status_code == 200
    listed = host.get("/api/backups")
    assert listed.json["encrypts"] is True and WORDS not in listed.get_data(as_text=True)
    made = host.post("/api/backups").json["backup"]
    assert (made["sound"], made["encrypted"], made["locked"]) == (True, True, False)
    file = host.get(f"/api/backups/{made['name']}")
    assert file.mimetype == "application/octet-stream" and made["name"].endswith(".zip.age")
    file.close()
    assert host.post("/api/backups/passphrase", json={"passphrase": ""}).status_code == 200
    plain = host.post("/api/backups").json["backup"]
    assert (plain["encrypted"], plain["name"][-4:]) == (False, ".zip")
    # The box keeps it no more: the first one is closed now.
    old = host.get("/api/backups").json["backups"][1]
    assert (old["sound"], old["encrypted"], old["locked"], old["seq"]) == (False, True, True, None)
    refused = player.post("/api/backups/passphrase", json={"passphrase": WORDS})
    assert refused.status_code == 403


@pytest.mark.parametrize("passphrase", ["short", "x" * 201, 7, None])
def test_what_is_no_passphrase(host: FlaskClient, passphrase: object) -> None:
    answer = host.post("/api/backups/passphrase", json={"passphrase": passphrase})
    assert answer.status_code in {400, 409} and answer.json["error"]["en"]
    assert host.get("/api/backups").json["encrypts"] is False


def test_one_from_elsewhere_opens_with_its_own(host: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    seq = companion.night.seq
    host.post("/api/backups/passphrase", json={"passphrase": ELSEWHERE})
    made = host.post("/api/backups").json["backup"]
    path = companion.folder / "backups" / made["name"]
    file = path.read_bytes()
    host.post("/api/backups/passphrase", json={"passphrase": ""})
    path.unlink()
    query = {"at": 0, "size": len(file), "name": "of-paul.zip.age"}
    brought = host.post("/api/backups/brought", query_string=query, data=file).json["backup"]
    assert (brought["sound"], brought["locked"]) == (False, True)
    name = brought["name"]
    assert is_encrypted(companion.folder / "backups" / name)
    for passphrase, code in (("", "needs-passphrase"), (WORDS, "wrong-passphrase")):
        told = {"confirm": name, "passphrase": passphrase}
        refused = host.post(f"/api/backups/{name}/restore", json=told)
        assert (refused.status_code, refused.json["error"]["code"]) == (409, code)
        assert not (companion.folder / STAGE).exists()
    told = {"confirm": name, "passphrase": ELSEWHERE}
    assert host.post(f"/api/backups/{name}/restore", json=told).status_code == 200
    folder = companion.folder
    companion.close()
    settle(folder)
    again = SmallCompanion(folder)
    try:
        assert again.night.seq == seq
    finally:
        again.close()


def test_one_from_elsewhere_under_the_same_passphrase_is_checked_as_it_comes(
    host: FlaskClient, companion: SmallCompanion
) -> None:
    companion.open_match()
    host.post("/api/backups/passphrase", json={"passphrase": WORDS})
    file = (companion.folder / "backups" / host.post("/api/backups").json["backup"]["name"]).read_bytes()
    query = {"at": 0, "size": len(file), "name": "nights.zip.age"}
    assert host.post("/api/backups/brought", query_string=query, data=file).json["backup"]["sound"] is True
    spoilt = file[:-9] + bytes(9)
    refused = host.post("/api/backups/brought", query_string=query, data=spoilt)
    assert (refused.status_code, refused.json["error"]["code"]) == (409, "broken")
