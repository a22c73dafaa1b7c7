"""The API of the workshop: people, who may do what, backups, the buttons of the table."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import cv2
import numpy as np
import pytest
from flask.testing import FlaskClient

from companion.night.backup.archive import STAGE
from companion.night.backup.restore import settle
from tests.web.assembly import JPEG, SmallCompanion


def photo(width: int = 400, height: int = 300) -> bytes:
    image = np.zeros((height, width, 3), np.uint8)
    image[:, : width // 8] = 255
    return bytes(cv2.imencode(".png", image)[1].tobytes())


def person(client: FlaskClient, name: str) -> Any:
    return next(one for one in client.get("/api/people").json["people"] if one["name"] == name)


# --- people ------------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_players_give_themselves_a_colour_and_a_face(player: FlaskClient, guest: FlaskClient) -> None:
    assert player.post("/api/people", json={"name": " Ann "}).json["people"][0]["name"] == "Ann"
    ann = person(player, "Ann")["id"]
    assert player.post(f"/api/people/{ann}", json={"colour": "red", "token": "fox"}).status_code == 200
    told = player.post(f"/api/people/{ann}/picture", data=photo(), content_type="image/png").json["people"][0]
    assert (told["colour"], told["token"]) == ("red", None)
    picture = player.get(f"/api/portraits/{told['picture']}")
    small = cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)
    assert small.shape == (256, 256, 3)
    # The middle of the photo: the white edge is cut off.
    assert int(small.max()) < 40
    assert guest.get(f"/api/portraits/{told['picture']}").status_code == 403
    assert player.post(f"/api/people/{ann}/picture", data=b"").json["people"][0]["picture"] is None
    assert player.get(f"/api/portraits/{told['picture']}").status_code == 404


def test_names_are_the_hosts(player: FlaskClient, host: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    ann, bob = person(player, "Ann")["id"], person(player, "Bob")["id"]
    for path, body in ((f"{ann}", {"name": "Anna"}), (f"{ann}/merge", {"into": bob}), (f"{ann}/forget", {})):
        assert player.post(f"/api/people/{path}", json=body).status_code == 403
    assert host.post(f"/api/people/{ann}", json={"name": "Anna"}).status_code == 200
    assert companion.night.view()["match"]["players"][0]["name"] == "Anna"
    together = host.post(f"/api/people/{ann}/merge", json={"into": bob})
    assert (together.status_code, together.json["error"]["code"]) == (409, "played-together")
    zoe = next(s for s in companion.access.sessions() if s.label == "Zoé")
    host.post("/api/people", json={"name": "Zoé"})
    forgotten = host.post(f"/api/people/{person(host, 'Zoé')['id']}/forget", json={})
    assert forgotten.json["mentions"] == 0
    assert next(s for s in companion.access.sessions() if s.id == zoe.id).label == ""


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("nobody", {"colour": "red"}, 404),
        ("nobody", {}, 400),
        ("nobody", {"colour": 3}, 400),
        ("nobody/merge", {"into": 3}, 400),
        ("nobody/merge", {"into": "nobody"}, 404),
        ("nobody/forget", {}, 404),
    ],
)
def test_odd_requests_about_people(host: FlaskClient, path: str, body: dict[str, Any], status: int) -> None:
    answer = host.post(f"/api/people/{path}", json=body)
    assert answer.status_code == status
    assert answer.json["error"]["fr"]


def test_a_face_is_a_picture_of_bounded_size(player: FlaskClient) -> None:
    player.post("/api/people", json={"name": "Ann"})
    ann = person(player, "Ann")["id"]
    assert player.post(f"/api/people/{ann}/picture", data=b"no picture").status_code == 422
    assert player.post(f"/api/people/{ann}/picture", data=b"x" * (15 * 1024 * 1024 + 1)).status_code == 413


# --- who may do what ---------------------------------------------------------------------------------------------


def test_the_host_decides_who_moves(player: FlaskClient, host: FlaskClient, companion: SmallCompanion) -> None:
    state = companion.open_match().state
    body = {"command": "moves", "body": {"moves": ["start"]}, "state": state, "action_id": "start-001"}
    host.post("/api/settings", json={"players_move": False})
    refused = player.post("/api/do", json=body)
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "host-moves")
    assert player.post("/api/button", json={"button": "next"}).status_code == 403
    assert host.post("/api/do", json={**body, "action_id": "start-002"}).status_code == 200


def test_the_host_decides_who_sees_pictures(
    guest: FlaskClient, player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    companion.camera_service.shown["frame"] = JPEG
    assert [client.get("/api/camera/frame.jpg").status_code for client in (guest, player, host)] == [403, 200, 200]
    host.post("/api/settings", json={"players_pictures": False, "watchers_pictures": True})
    assert [client.get("/api/camera/frame.jpg").status_code for client in (guest, player, host)] == [200, 403, 200]


def test_the_host_closes_the_door_and_changes_the_lock(
    guest: FlaskClient, player: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    old = companion.access.pin
    pin = host.post("/api/pin").json["pin"]
    assert pin == companion.access.pin
    assert player.get("/api/people").status_code == 200
    if pin != old:
        assert guest.post("/api/join", json={"pin": old}).json["error"]["code"] == "wrong-pin"
    host.post("/api/settings", json={"joining": False})
    assert guest.post("/api/join", json={"pin": pin}).json["error"]["code"] == "closed"
    assert guest.post("/join", data={"pin": pin}).status_code == 403
    host.post("/api/settings", json={"joining": True})
    assert guest.post("/api/join", json={"pin": pin}).status_code == 200


def test_the_host_withdraws_a_phone(player: FlaskClient, host: FlaskClient, companion: SmallCompanion) -> None:
    joined = {one["role"]: one["id"] for one in host.get("/api/table").json["joined"]}
    assert player.post(f"/api/sessions/{joined['host']}/end").status_code == 403
    assert host.post(f"/api/sessions/{joined['host']}/end").status_code == 409
    assert host.post(f"/api/sessions/{joined['player']}/end").status_code == 200
    assert host.post(f"/api/sessions/{joined['player']}/end").status_code == 404
    assert player.get("/api/people").status_code == 403


def test_the_buttons_of_the_table(player: FlaskClient, companion: SmallCompanion) -> None:
    nothing = player.post("/api/button", json={"button": "next"})
    assert (nothing.status_code, nothing.json["error"]["code"]) == (422, "refused")
    companion.open_match()
    assert player.post("/api/button", json={"button": "shake"}).status_code == 200
    assert companion.night.view()["match"]["phase"] == "shaking"
    assert player.post("/api/button", json={"button": "shake"}).status_code == 422
    with companion.hub.subscribe(["notice"]) as notices:
        assert player.post("/api/button", json={"button": "dispute"}).json == {"ok": True}
        heard = notices.get(1.0)
    assert heard is not None
    assert heard.data["panel"] == "dispute"
    companion.moves("place red card4")
    assert player.post("/api/button", json={"button": "next"}).status_code == 200
    assert companion.night.view()["match"]["phase"] == "checking"
    assert player.post("/api/button", json={"button": "undo"}).status_code == 400


# --- backups -----------------------------------------------------------------------------------------------------


def test_a_backup_is_made_listed_taken_and_brought_back(host: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    seq = companion.night.seq
    made = host.post("/api/backups").json["backup"]
    assert (made["sound"], made["seq"]) == (True, seq)
    (listed,) = host.get("/api/backups").json["backups"]
    assert listed == made
    file = host.get(f"/api/backups/{made['name']}")
    assert file.mimetype == "application/zip"
    with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
        assert "journal.sqlite" in archive.namelist()
    file.close()
    companion.do("close-match")
    assert host.post(f"/api/backups/{made['name']}/restore", json={"confirm": "yes"}).status_code == 400
    assert not companion.begun_again
    assert host.post(f"/api/backups/{made['name']}/restore", json={"confirm": made["name"]}).status_code == 200
    assert companion.begun_again == [True]
    folder = companion.folder
    assert (folder / STAGE).is_dir()
    companion.close()
    settle(folder)
    again = SmallCompanion(folder)
    try:
        assert again.night.seq == seq
        assert again.night.view()["match"] is not None
    finally:
        again.close()


def test_backups_that_are_not_there_or_damaged(
    host: FlaskClient, player: FlaskClient, companion: SmallCompanion
) -> None:
    for name in ("nothing.zip", "..", "companion-0001-20260101.zip"):
        assert host.get(f"/api/backups/{name}").status_code == 404
        assert host.post(f"/api/backups/{name}/restore", json={"confirm": name}).status_code == 404
    name = host.post("/api/backups").json["backup"]["name"]
    path = companion.folder / "backups" / name
    path.write_bytes(path.read_bytes()[:-300])
    (listed,) = host.get("/api/backups").json["backups"]
    assert (listed["sound"], listed["seq"]) == (False, None)
    broken = host.post(f"/api/backups/{name}/restore", json={"confirm": name})
    assert broken.status_code == 409
    assert broken.json["error"]["fr"]
    assert not (companion.folder / STAGE).exists()
    assert player.get(f"/api/backups/{name}").status_code == 403


def test_a_backup_of_this_device_is_laid_beside_the_others(host: FlaskClient, companion: SmallCompanion) -> None:
    made = host.post("/api/backups").json["backup"]
    answer = host.get(f"/api/backups/{made['name']}")
    file = answer.data
    answer.close()
    (companion.folder / "backups" / made["name"]).unlink()
    half = len(file) // 2

    def send(at: int, end: int, **more: object) -> Any:
        query = {"at": at, "size": len(file), "name": "from\nmy phone.zip", **more}
        return host.post("/api/backups/brought", query_string=query, data=file[at:end])

    assert send(0, half).json == {"ok": True, "taken": half, "backup": None}
    assert host.get("/api/backups").json["backups"] == []
    told = send(half, len(file)).json
    assert told == {"ok": True, "taken": len(file), "backup": host.get("/api/backups").json["backups"][0]}
    assert told["backup"]["seq"] == made["seq"]
    assert not companion.begun_again
    # What is none is refused in a sentence that names it, and leaves nothing behind.
    send(0, half)
    missing = send(half + 1, len(file))
    assert (missing.status_code, missing.json["error"]["code"]) == (409, "pieces-missing")
    assert missing.json["error"]["en"].startswith("from my phone.zip did not arrive")
    assert host.post("/api/backups/brought?at=0&size=5", data=b"a cat").json["error"]["code"] == "not-ours"
    assert send(0, half, size=1 << 33).status_code == 413
    assert len(list((companion.folder / "backups").iterdir())) == 1


@pytest.mark.parametrize(
    ("query", "body", "status"),
    [
        ("", b"PK", 400),
        ("at=-1&size=4", b"PK", 400),
        ("at=0&size=0", b"PK", 400),
        ("at=0&size=99999999999999", b"PK", 400),
        ("at=0&size=6000000", b"PK" + bytes(4 << 20), 413),
        ("at=4&size=6", b"PK", 409),
        ("at=0&size=6", b"", 409),
    ],
)
def test_odd_pieces_of_a_backup(
    host: FlaskClient, companion: SmallCompanion, query: str, body: bytes, status: int
) -> None:
    answer = host.post(f"/api/backups/brought?{query}", data=body)
    assert answer.status_code == status
    assert answer.json["error"]["fr"]
    assert not list((companion.folder / "backups").glob("*"))


def test_only_the_host_brings_a_backup(player: FlaskClient, guest: FlaskClient) -> None:
    for client in (player, guest):
        assert client.post("/api/backups/brought?at=0&size=4", data=b"PK12").status_code == 403
