"""The API: the state, the one door for changes, devices, rules; one form for every refusal."""

from __future__ import annotations

import io
from typing import Any

import pytest
import segno
from flask.testing import FlaskClient

from companion.ports import CameraStatus, DeviceKind, DeviceState, MotionState, TableStatus
from companion.rules.i18n import languages
from tests.web.assembly import JPEG, SmallCompanion


def do(
    client: FlaskClient, command: str, body: dict[str, Any] | None = None, *, action: str, state: int | None = None
) -> Any:
    """Ask on the newest state, unless told another."""
    if state is None:
        state = client.get("/api/state").json["view"]["state"]
    return client.post("/api/do", json={"command": command, "body": body or {}, "state": state, "action_id": action})


def test_health_says_what_runs(guest: FlaskClient, companion: SmallCompanion) -> None:
    companion.plug_in()
    health = guest.get("/api/health").json
    assert health["devices"] == [{"key": "sim-1", "kind": "simulated", "state": "connected"}]
    assert health["match"] is None
    assert health["journal"] == companion.night.seq


def test_the_state_is_the_whole_page_and_short_when_nothing_happened(
    guest: FlaskClient, companion: SmallCompanion
) -> None:
    companion.open_match()
    whole = guest.get("/api/state").json
    assert whole["view"] == companion.night.view() | {"log_since": None}
    same = guest.get(f"/api/state?after={whole['seq']}").json
    assert same["view"] is None
    assert same["seq"] == whole["seq"]
    companion.moves("start")
    assert guest.get(f"/api/state?after={whole['seq']}").json["view"]["match"]["phase"] == "shaking"


def test_a_phone_that_asks_again_hears_of_another_name(guest: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    told = guest.get("/api/state").json
    query = f"/api/state?after={told['seq']}&reading="
    assert guest.get(query + str(told["reading"])).json["view"] is None
    person = next(one["id"] for one in companion.people.all() if one["name"] == "Ann")
    companion.people.change(person, {"name": "Annabel"})
    again = guest.get(query + str(told["reading"])).json
    assert again["seq"] == told["seq"]
    assert again["view"]["match"]["players"][0]["name"] == "Annabel"
    assert guest.get(query + str(again["reading"])).json["view"] is None


@pytest.mark.parametrize("after", ["x", "-1", "", "99999999999999999999", "1e3"])
def test_an_odd_position_gets_the_whole_state(guest: FlaskClient, companion: SmallCompanion, after: str) -> None:
    assert guest.get(f"/api/state?after={after}").json["view"]["seq"] == companion.night.seq


def test_a_game_goes_through_the_one_door(host: FlaskClient, player: FlaskClient, companion: SmallCompanion) -> None:
    players = [{"name": "Ann", "colour": "red"}, {"name": "Bob", "colour": "blue"}]
    opened = do(host, "open-match", {"game": "igloo-pop", "players": players, "draw": True}, action="open-0001")
    assert opened.status_code == 200
    state = opened.json["state"]
    dealt = do(host, "deal", action="deal-0001", state=state)
    started = do(player, "moves", {"moves": ["start"]}, action="start-001", state=dealt.json["state"])
    placed = do(player, "moves", {"moves": ["place red card4"]}, action="place-001", state=started.json["state"])
    assert placed.json["ok"]
    assert companion.night.view()["match"]["cards"][3]["igloos"] == [{"colour": "red", "number": None, "sensor": False}]


def test_what_the_rules_forbid_is_a_clause_and_a_sentence(player: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    companion.moves("start", "take red")
    answer = do(player, "moves", {"moves": ["take red"]}, action="take-0001")
    assert answer.status_code == 422
    error = answer.json["error"]
    assert error["code"] == "refused"
    assert error["clauses"][0] == "POP-2.2"
    assert error["en"].startswith("Ann (red)")
    assert error["fr"].startswith("Ann (rouge)")
    assert answer.json["ruling"]["legal"] is False


def test_a_stale_phone_is_told_and_nothing_is_done(
    host: FlaskClient, player: FlaskClient, companion: SmallCompanion
) -> None:
    state = companion.open_match().state
    assert do(host, "moves", {"moves": ["start"]}, action="start-001", state=state).json["ok"]
    seq = companion.night.seq
    late = do(player, "moves", {"moves": ["start"]}, action="start-002", state=state)
    assert late.status_code == 409
    assert late.json["error"]["code"] == "stale"
    assert companion.night.seq == seq


def test_an_action_names_the_state_that_it_was_made_on(player: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    seq = companion.night.seq
    for missing in ({}, {"state": None}):
        body = {"command": "moves", "body": {"moves": ["start"]}, "action_id": "start-001", **missing}
        answer = player.post("/api/do", json=body)
        assert (answer.status_code, answer.json["error"]["code"]) == (400, "no-state")
    assert companion.night.seq == seq
    fault = {"command": "fault", "body": {"clause": "POP-2.4"}, "action_id": "fault-001"}
    assert player.post("/api/do", json=fault).status_code == 200


def test_the_same_action_is_done_once(player: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    companion.moves("start")
    answers = [do(player, "moves", {"moves": ["place red card1"]}, action="place-001") for _ in range(3)]
    assert len({a.text for a in answers}) == 1
    assert len(companion.night.view()["match"]["cards"][0]["igloos"]) == 1


def test_who_only_watches_changes_nothing(guest: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    seq = companion.night.seq
    answer = do(guest, "moves", {"moves": ["start"]}, action="start-001")
    assert answer.status_code == 403
    assert answer.json["error"]["code"] == "watching"
    assert companion.night.seq == seq


def test_players_ask_the_host_for_what_is_his(player: FlaskClient, companion: SmallCompanion) -> None:
    companion.open_match()
    answer = do(player, "close-match", action="close-001")
    assert answer.status_code == 403
    assert answer.json["error"]["code"] == "forbidden"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"command": 3, "action_id": "12345678"},
        {"command": "pause", "action_id": "short"},
        {"command": "pause", "action_id": "bad id !!"},
        {"command": "pause", "action_id": "12345678", "body": []},
        {"command": "pause", "action_id": "12345678", "state": "3"},
        {"command": "pause", "action_id": "12345678", "state": True},
        {"command": "pause", "action_id": "12345678", "state": 2**60},
        {"command": "pause" * 20, "action_id": "12345678"},
        {"command": "\ud800", "action_id": "12345678"},
        {"command": "make-tea", "action_id": "12345678"},
    ],
)
def test_an_odd_command_is_refused_in_one_sentence(
    host: FlaskClient, companion: SmallCompanion, body: dict[str, Any]
) -> None:
    seq = companion.night.seq
    answer = host.post("/api/do", json=body)
    assert answer.status_code == 400
    assert set(answer.json["error"]) == {"code", *languages(), "clauses"}
    assert companion.night.seq == seq


def test_errors_are_json_in_the_api_and_a_page_elsewhere(guest: FlaskClient) -> None:
    missing = guest.get("/api/nothing")
    assert missing.status_code == 404
    assert missing.json["error"]["fr"] == "Il n’y a rien ici."
    assert guest.get("/nothing", headers={"Accept-Language": "fr"}).text.count("Il n’y a rien ici.") == 1
    wrong = guest.get("/api/do")
    assert wrong.status_code == 405
    assert "POST" in wrong.headers["Allow"]


def test_a_disk_that_refuses_is_said_and_not_a_crash(host: FlaskClient, companion: SmallCompanion) -> None:
    companion.access.close()
    answer = host.get("/api/state")
    assert answer.status_code == 503
    assert answer.json["error"]["code"] == "storage"
    assert answer.json["error"]["en"] != answer.json["error"]["fr"]


# --- devices -----------------------------------------------------------------------------------------------------


def test_a_live_round_hides_the_count_everywhere(host: FlaskClient, companion: SmallCompanion) -> None:
    companion.plug_in()
    companion.hear(9)
    assert host.get("/api/state").json["count"]["count"] == 9
    companion.open_match()
    companion.moves("start")
    companion.hear(11)
    for pause in (False, True):
        if pause:
            companion.do("pause")
        told = host.get("/api/state").json
        assert told["count"] == {"hidden": True, "state": None}
        assert "posterior" not in str(told)
        assert "posterior" not in host.get("/").text
    companion.do("resume")
    companion.do("check")
    assert host.get("/api/state").json["count"]["count"] == 11


def test_the_igloo_says_what_it_is_and_what_was_lost(guest: FlaskClient, companion: SmallCompanion) -> None:
    companion.plug_in()
    companion.feel(MotionState.SHAKEN)
    told = guest.get("/api/state").json
    (igloo,) = told["igloo"]["igloos"]
    assert igloo["kind"] == "simulated"
    assert igloo["rate_hz"] == 3197.4
    assert igloo["counts"]["lost"] == 16
    assert told["igloo"]["simulated"] is True
    assert told["motion"]["state"] == "shaken"


def test_the_simulated_igloo_can_be_played_with(
    player: FlaskClient, guest: FlaskClient, companion: SmallCompanion
) -> None:
    assert player.post("/api/simulate", json={"action": "shake", "count": 5}).status_code == 409
    companion.plug_in()
    assert player.post("/api/simulate", json={"action": "shake", "count": 5}).status_code == 200
    assert player.post("/api/simulate", json={"action": "turn_over"}).status_code == 200
    assert companion.played == [("shake", 5), ("turn_over", None)]
    assert guest.post("/api/simulate", json={"action": "lift"}).status_code == 403
    for odd in (
        {"action": "eat"},
        {"action": "shake", "count": 14},
        {"action": "shake", "count": True},
        {"action": []},
    ):
        assert player.post("/api/simulate", json=odd).status_code == 400
    assert len(companion.played) == 2


def test_a_photo_from_a_phone_and_its_evidence(player: FlaskClient, companion: SmallCompanion) -> None:
    assert player.post("/api/evidence", json={}).status_code == 409
    sent = player.post("/api/photo", data=JPEG, content_type="image/jpeg")
    assert sent.json["table"] == {"markers": [0, 1], "missing": [2, 3], "straight": False, "number": 1, "note": ""}
    picture = player.get("/api/camera/frame.jpg")
    assert picture.data == JPEG
    assert picture.mimetype == "image/jpeg"
    assert picture.headers["Cache-Control"] == "no-store"
    assert player.get("/api/camera/table.jpg").status_code == 404

    companion.open_match()
    kept = player.post("/api/evidence", json={}).json
    (entry,) = companion.night.view()["match"]["evidence"]
    assert entry["sha256"] == kept["sha256"]
    evidence = player.get(f"/api/evidence/{kept['sha256']}")
    assert evidence.data == JPEG
    assert "private" in evidence.headers["Cache-Control"]


def test_what_is_no_photo_is_refused_in_one_sentence(player: FlaskClient, guest: FlaskClient) -> None:
    assert player.post("/api/photo", data=b"hello").status_code == 422
    assert player.post("/api/photo", data=b"").status_code == 400
    assert guest.post("/api/photo", data=JPEG).status_code == 403


def test_the_host_chooses_the_camera(host: FlaskClient, player: FlaskClient, companion: SmallCompanion) -> None:
    assert player.post("/api/camera", json={"source": "usb:0"}).status_code == 403
    chosen = host.post("/api/camera", json={"source": " usb:0 "}).json
    assert chosen["camera"]["source"] == "usb:0"
    assert host.post("/api/camera", json={"source": "file:/etc/passwd"}).status_code == 422
    assert host.post("/api/camera", json={}).status_code == 400
    assert host.post("/api/camera", json={"source": ""}).json["camera"] is None


def test_the_camera_says_how_it_does(guest: FlaskClient, companion: SmallCompanion) -> None:
    companion.camera_service.told = CameraStatus("usb:0", DeviceKind.REAL, DeviceState.CONNECTED, 1280, 720, 14.96, "")
    companion.camera_service.newest_table = TableStatus((0, 1, 2, 3), (), True, 7)
    told = guest.get("/api/state").json["camera"]
    assert told["camera"]["fps"] == 15.0
    assert told["table"]["straight"] is True


# --- rules, and the way in for others ----------------------------------------------------------------------------


def test_a_clause_opens_in_both_languages(guest: FlaskClient) -> None:
    clause = guest.get("/api/rules/igloo-pop/clauses/pop-3.6").json
    assert clause["id"] == "POP-3.6"
    assert clause["en"] != clause["fr"]
    assert clause["book"]["fr"]
    assert guest.get("/api/rules/igloo-pop/clauses/POP-Q.2").json["kind"] == "dispute"
    assert guest.get("/api/rules/igloo-pop/clauses/POP-99").status_code == 404
    assert guest.get("/api/rules/chess/clauses/POP-3.6").status_code == 404


def test_the_rulebook_can_be_searched(guest: FlaskClient) -> None:
    found = guest.get("/api/rules/igloo-pop/search?q=highest").json["found"]
    assert any("POP-3.6" in (item["id"], *item.get("clauses", ())) for item in found)
    french = guest.get("/api/rules/igloo-pop/search?q=pièce", headers={"Accept-Language": "fr"}).json["found"]
    assert french
    assert guest.get("/api/rules/igloo-pop/search").json["found"] == []


def test_options_are_questions_with_the_default_first(guest: FlaskClient) -> None:
    options = guest.get("/api/rules/igloo-pop/options").json["options"]
    ends = next(option for option in options if option["name"] == "pop.cards_end")
    assert [value["value"] for value in ends["values"]] == ["immediate", "last_round"]
    assert ends["question"]["fr"].endswith("?")
    assert ends["clause"] == "POP-4.2"


def test_the_host_can_invite(host: FlaskClient, companion: SmallCompanion) -> None:
    table = host.get("/api/table").json
    assert table["pin"] == companion.access.pin
    assert table["address"] == "http://companion.test"
    assert [one["role"] for one in table["joined"]] == ["host"]
    code = host.get("/api/join.svg")
    assert code.mimetype == "image/svg+xml"
    assert b"<path" in code.data
    assert code.headers["Cache-Control"] == "no-store"


def test_anybody_may_have_the_way_to_the_door_as_a_code(
    guest: FlaskClient, host: FlaskClient, companion: SmallCompanion
) -> None:
    code = guest.get("/api/address.svg")
    assert code.mimetype == "image/svg+xml"
    door = io.BytesIO()
    segno.make("http://companion.test/join", error="m", micro=False).save(
        door, kind="svg", border=2, scale=4, dark="#0f2233", light="#ffffff", omitsize=True
    )
    assert code.data == door.getvalue()
    # The PIN is not in it: another one changes the host's code, and not this one.
    before = host.get("/api/join.svg").data
    companion.access.new_pin()
    assert host.get("/api/join.svg").data != before
    assert guest.get("/api/address.svg").data == code.data


def test_an_address_that_only_this_machine_knows_is_not_given_to_phones(
    host: FlaskClient, companion: SmallCompanion
) -> None:
    secret = host.get_cookie("companion", domain="companion.test").value
    host.set_cookie("companion", secret, domain="localhost")
    table = host.get("/api/table", base_url="http://localhost:8080").json
    assert table["address"] == companion.addresses()[0]
