"""The guards: names, origins, limits, who gets in, what a browser may load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web.assembly import JPEG, SmallCompanion
from web.http import responses
from web.http.requests import MAX_JSON_BYTES, MAX_PHOTO_BYTES
from web.http.security import change_is_ours, host_is_ours, own_names
from web.http.sessions import COOKIE

OURS = [
    "companion.test",
    "COMPANION.test:8080",
    "localhost",
    "localhost:8080",
    "raspberrypi",
    "raspberrypi.local",
    "raspberrypi.local.",
    "192.0.2.2:8080",
    "127.0.0.1:8080",
    "192.168.1.7",
    "10.0.0.3:80",
    "172.16.4.4",
    "169.254.3.3",
    "[::1]:8080",
    "[fe80::1]",
    "[fd12:3456::7]:8080",
]
OWN = (*own_names("RaspberryPi.fritz.box"), "companion.test", "192.0.2.2")
FOREIGN = [
    "",
    "evil.example",
    "companion.test.evil.example",
    "192.168.1.7.evil.example",
    "8.8.8.8",
    "[2001:4860:4860::8888]",
    "companion.test:99999",
    "companion.test:80:80",
    "companion.test/..",
    "user@companion.test",
    "local",
    ".local",
    "evil.local",
    "evil.localhost",
    "raspberrypi.evil.example",
    "0.0.0.0",  # noqa: S104 - asked for, not bound
    "192.0.2.1",
    "198.51.100.7",
    "240.0.0.1",
    "[::]",
    "[2001:db8::1]",
    "companion test",
]


@pytest.mark.parametrize("header", OURS)
def test_own_names_and_private_addresses_are_answered(header: str) -> None:
    assert host_is_ours(header, OWN)


@pytest.mark.parametrize("header", FOREIGN)
def test_foreign_names_are_not(header: str) -> None:
    assert not host_is_ours(header, OWN)


def test_a_machine_has_its_short_its_whole_and_its_mdns_name() -> None:
    assert own_names("RaspberryPi.fritz.box") == ("raspberrypi.fritz.box", "raspberrypi", "raspberrypi.local")
    assert own_names("pi.local") == ("pi.local", "pi")
    assert own_names("") == ()


def test_the_addresses_that_this_machine_has_are_answered(guest: FlaskClient, companion: SmallCompanion) -> None:
    assert guest.get("/", headers={"Host": "192.0.2.2:8080"}).status_code == 421
    companion.urls = ("http://192.0.2.2:8080", "http://[2001:db8::2]:8080")
    for own in ("192.0.2.2:8080", "[2001:db8::2]:8080"):
        assert guest.get("/", headers={"Host": own}).status_code == 200
    assert guest.get("/", headers={"Host": "192.0.2.3:8080"}).status_code == 421


@pytest.mark.parametrize("path", ["/", "/api/state", "/api/events", "/join", "/nothing"])
def test_a_rebound_name_gets_nothing(guest: FlaskClient, path: str) -> None:
    answer = guest.get(path, headers={"Host": "evil.example"})
    assert answer.status_code == 421
    assert b"journal" not in answer.data


def test_the_host_can_add_a_name_while_the_service_runs(guest: FlaskClient, companion: SmallCompanion) -> None:
    assert guest.get("/", headers={"Host": "games.example"}).status_code == 421
    companion.settings.set({"host_names": ["games.example"]})
    assert guest.get("/", headers={"Host": "games.example"}).status_code == 200


@pytest.mark.parametrize(
    ("origin", "site", "program", "ours"),
    [
        ("http://companion.test", None, None, True),
        ("http://companion.test", "same-origin", None, True),
        (None, "same-origin", None, True),
        (None, None, "curl", True),
        (None, None, None, False),
        ("null", None, None, False),
        ("http://evil.example", None, "curl", False),
        ("https://companion.test", None, None, False),
        ("http://companion.test:81", None, None, False),
        ("http://companion.test", "cross-site", None, False),
        ("http://companion.test", "same-site", None, False),
        (None, "none", None, False),
    ],
)
def test_where_a_change_comes_from(origin: str | None, site: str | None, program: str | None, ours: bool) -> None:
    assert change_is_ours(origin, site, program, "http://companion.test") is ours


CHANGES = [
    "/api/balance/anew",
    "/api/balance/box",
    "/api/balance/keep",
    "/api/balance/role",
    "/api/balance/stop",
    "/api/balance/take-back",
    "/api/balance/weigh",
    "/api/ballot",
    "/api/ballot/vote",
    "/api/ballot/close",
    "/api/ballot/decide",
    "/api/boxes/<game_id>",
    "/api/me",
    "/api/seat",
    "/api/position",
    "/api/rules/<game_id>/votes",
    "/api/do",
    "/api/doctor",
    "/api/join",
    "/api/leave",
    "/api/photo",
    "/api/camera",
    "/api/camera/follow",
    "/api/camera/photos/<which>",
    "/api/camera/photos/rule",
    "/api/camera/question",
    "/api/camera/question/agreed",
    "/api/camera/question/way",
    "/api/camera/table/<game_id>/calibrate",
    "/api/camera/table/<game_id>/sheet",
    "/api/camera/table/<game_id>/teach",
    "/api/cards/<game_id>/deal",
    "/api/cards/<game_id>/forget",
    "/api/cards/<game_id>/judge",
    "/api/cards/<game_id>/pile",
    "/api/cards/<game_id>/round",
    "/api/cards/<game_id>/teach",
    "/api/settings",
    "/api/simulate",
    "/api/evidence",
    "/api/igloo/calibration",
    "/api/igloo/calibration/forget",
    "/api/igloo/calibration/undo",
    "/api/igloo/recordings/<name>/forget",
    "/api/igloo/sitting",
    "/api/igloo/sitting/change",
    "/api/igloo/sitting/keep",
    "/api/igloo/sitting/simulate",
    "/api/igloo/sitting/stop",
    "/api/igloo/sitting/other-hand",
    "/api/igloo/sitting/take-back",
    "/api/button",
    "/api/pin",
    "/api/sessions/<session_id>/end",
    "/api/sessions/end-others",
    "/api/people",
    "/api/people/<person>",
    "/api/people/<person>/picture",
    "/api/people/<person>/merge",
    "/api/people/<person>/forget",
    "/api/backups",
    "/api/backups/<name>/restore",
    "/api/backups/brought",
    "/api/backups/passphrase",
    "/api/training/along",
    "/api/training/people",
    "/api/training/people/<person>",
    "/api/training/rounds",
    "/api/training/rounds/<round_id>/guess",
    "/api/training/rounds/<round_id>/truth",
    "/api/training/rounds/<round_id>/drop",
    "/api/training/duels",
    "/api/training/duels/<duel_id>/next",
    "/api/training/duels/<duel_id>/close",
    "/join",
    "/language",
    "/host/x",
]


def test_every_change_of_the_application_is_listed_here(app: Flask) -> None:
    posts = {
        rule.rule.replace("<token>", "x")
        for rule in app.url_map.iter_rules()
        if rule.methods is not None and rule.methods - {"GET", "HEAD", "OPTIONS"}
    }
    assert posts == set(CHANGES)


@pytest.mark.parametrize("path", CHANGES)
def test_a_foreign_page_changes_nothing(host: FlaskClient, companion: SmallCompanion, path: str) -> None:
    companion.open_match()
    before = companion.night.seq, len(companion.access.sessions())
    answer = host.post(path, json={}, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403
    assert host.post(path, json={}, headers={"Origin": None}).status_code == 403
    assert (companion.night.seq, len(companion.access.sessions())) == before


@pytest.mark.parametrize("path", ["/", "/join", "/api/state", "/api/health", "/nothing", "/api/nothing", "/host/x"])
def test_every_answer_is_locked_down(guest: FlaskClient, path: str) -> None:
    answer = guest.get(path)
    policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["object-src"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    # With no-referrer a browser sends `Origin: null` with our own forms, and the guard would refuse them.
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_a_module_is_taken_for_what_it_is_and_by_nobody_else(guest: FlaskClient, app: Flask) -> None:
    files = app.extensions["companion-assets"]
    for name in ("js/main.js", "css/ice.css"):
        headers = guest.get(files.url(name)).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    # A drawing can be opened as a page of its own.
    assert "script-src 'self'" in guest.get(files.url("icons.svg")).headers["Content-Security-Policy"]


def test_nothing_of_the_page_needs_inline_script_or_style_or_another_site() -> None:
    web = Path(responses.__file__).parents[1]
    for path in [*web.rglob("*.html"), *web.rglob("*.js"), *web.rglob("*.css"), *web.rglob("*.svg")]:
        text = path.read_text(encoding="utf-8")
        if path.name == "offline_bundle.html":
            # Taken along it must hold all of itself; its own policy names the hashes of the two.
            text = text.replace("<style>{{ style }}</style>", "").replace("<script>{{ code }}</script>", "")
        assert not re.search(r"\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|<style|javascript:", text), path
        foreign = [url for url in re.findall(r"https?://[^\s\"'`)]+", text) if "www.w3.org" not in url]
        assert not foreign or path.suffix == ".js", (path, foreign)
        for script in re.findall(r"<script[^>]*>", text):
            assert "src=" in script or 'type="application/json"' in script, (path, script)
        # What plain HTTP does not have is asked for in two modules, which know what to do without it.
        if path.name in {"comforts.js", "awake.js"}:
            continue
        assert not re.search(r"serviceWorker|wakeLock|navigator\.clipboard|navigator\.share\b|randomUUID\(", text), path


# --- who gets in -------------------------------------------------------------------------------------------------


def test_looking_at_a_host_link_does_not_spend_it(app: Flask, companion: SmallCompanion) -> None:
    link = f"/host/{companion.access.host_token()}"
    preview = app.test_client()
    for _ in range(3):
        shown = preview.get(link)
        assert shown.status_code == 200
        assert "Set-Cookie" not in shown.headers
        preview.head(link)
    assert preview.get("/api/state").json["me"]["role"] == "spectator"

    browser = app.test_client()
    assert browser.post(link).status_code == 303
    assert browser.get("/api/state").json["me"]["role"] == "host"

    late = app.test_client()
    assert late.post(link).status_code == 403
    assert late.get("/api/state").json["me"]["role"] == "spectator"


def test_cookies_are_for_the_server_alone(host: FlaskClient, app: Flask, companion: SmallCompanion) -> None:
    client = app.test_client()
    answer = client.post("/join", data={"pin": companion.access.pin, "label": "Zoé"})
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    chosen = client.post("/language", data={"language": "fr"}).headers["Set-Cookie"]
    assert "HttpOnly" in chosen
    assert "SameSite=Lax" in chosen


def test_a_wrong_pin_stays_outside_and_soon_waits(app: Flask, companion: SmallCompanion) -> None:
    client = app.test_client()
    wrong = f"{(int(companion.access.pin) + 1) % 1_000_000:06d}"
    answers = [client.post("/api/join", json={"pin": wrong}) for _ in range(8)]
    assert [a.status_code for a in answers[:5]] == [403] * 5
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["Retry-After"]) >= 1
    # Also the right one waits now: guessing on is not worth it.
    assert client.post("/join", data={"pin": companion.access.pin}).status_code == 429
    assert client.get("/api/state").json["me"]["role"] == "spectator"
    # The host, behind the same address, is not locked out by somebody's guessing.
    assert app.test_client().post(f"/host/{companion.access.host_token()}").status_code == 303


def test_who_guesses_beside_a_member_does_not_keep_the_member_out(app: Flask, companion: SmallCompanion) -> None:
    member, stranger = app.test_client(), app.test_client()
    assert member.post("/join", data={"pin": companion.access.pin}).status_code == 303
    wrong = f"{(int(companion.access.pin) + 1) % 1_000_000:06d}"
    answers = [stranger.post("/api/join", json={"pin": wrong}) for _ in range(8)]
    assert answers[-1].status_code == 429
    # The same address, as behind a hotspot: who has joined may join again, under another name.
    assert member.post("/join", data={"pin": companion.access.pin, "label": "Zoé"}).status_code == 303


AGENTS = [
    (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5"
        " Mobile/15E148 Safari/604.1",
        ("Safari", "iPhone"),
    ),
    (
        "Mozilla/5.0 (iPad; CPU OS 15_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/120.0.6099.119"
        " Mobile/15E148 Safari/604.1",
        ("Chrome", "iPad"),
    ),
    (
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0"
        " Mobile Safari/537.36",
        ("Chrome", "Android"),
    ),
    (
        "Mozilla/5.0 (Linux; Android 13; SAMSUNG SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/23.0"
        " Chrome/115.0.0.0 Mobile Safari/537.36",
        ("Samsung Internet", "Android"),
    ),
    ("Mozilla/5.0 (Android 14; Mobile; rv:126.0) Gecko/126.0 Firefox/126.0", ("Firefox", "Android")),
    (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0"
        " Safari/537.36 Edg/125.0.0.0",
        ("Edge", "Windows"),
    ),
    (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"
        " OPR/110.0.0.0",
        ("Opera", "Linux"),
    ),
    (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4.1"
        " Safari/605.1.15",
        ("Safari", "Mac"),
    ),
    (
        "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0"
        " Safari/537.36",
        ("Chrome", "ChromeOS"),
    ),
    ("curl/8.5.0", ("", "")),
    ("", ("", "")),
    ("Version/" * 4000, ("", "")),
]


@pytest.mark.parametrize(("agent", "family"), AGENTS)
def test_of_a_browser_only_the_family_is_kept(
    host: FlaskClient, app: Flask, companion: SmallCompanion, agent: str, family: tuple[str, str]
) -> None:
    phone = app.test_client()
    said = {"User-Agent": agent}
    assert phone.post("/api/join", json={"pin": companion.access.pin, "label": "Zoé"}, headers=said).status_code == 200
    (known,) = [one for one in host.get("/api/table").json["joined"] if one["label"] == "Zoé"]
    assert (known["browser"], known["system"]) == family
    assert known["made"] == known["seen"] > 0
    opened = app.test_client()
    assert opened.post(f"/host/{companion.access.host_token()}", headers=said).status_code == 303
    assert companion.access.sessions()[-1].device == family


def test_a_browser_that_comes_back_keeps_its_cookie_longer(app: Flask, companion: SmallCompanion) -> None:
    member, guest = app.test_client(), app.test_client()
    joined = member.post("/join", data={"pin": companion.access.pin}).headers["Set-Cookie"]
    again = member.get("/").headers["Set-Cookie"]
    assert again.split(";")[0] == joined.split(";")[0]
    assert "Max-Age=34560000" in again and "HttpOnly" in again and "SameSite=Lax" in again
    assert "Set-Cookie" not in guest.get("/").headers


def test_the_host_ends_all_other_sessions(app: Flask, host: FlaskClient, companion: SmallCompanion) -> None:
    player, other = app.test_client(), app.test_client()
    assert player.post("/join", data={"pin": companion.access.pin}).status_code == 303
    assert other.post(f"/host/{companion.access.host_token()}").status_code == 303
    assert player.post("/api/sessions/end-others", json={}).status_code == 403
    assert host.post("/api/sessions/end-others", json={}).json == {"ok": True, "ended": 2}
    assert [client.get("/api/state").json["me"]["role"] for client in (host, player, other)] == [
        "host",
        "spectator",
        "spectator",
    ]
    companion.settings.set({"session_days": 30})
    assert host.get("/api/table").json["session_days"] == 30


def test_a_wrong_pin_on_the_page_says_so(guest: FlaskClient) -> None:
    answer = guest.post("/join", data={"pin": "x"})
    assert answer.status_code == 403
    assert "That is not the PIN of this table." in answer.text


def test_leaving_ends_the_session(player: FlaskClient, companion: SmallCompanion) -> None:
    assert player.get("/api/state").json["me"] == {
        "role": "player",
        "id": companion.access.sessions()[-1].id,
        "label": "Zoé",
        "colour": None,
    }
    player.post("/api/leave")
    assert companion.access.sessions() == []
    assert player.get("/api/state").json["me"]["role"] == "spectator"


@pytest.mark.parametrize("cookie", ["", "x", "x" * 5000, "\u00e9", "'; --"])
def test_a_made_up_cookie_is_a_spectator(guest: FlaskClient, cookie: str) -> None:
    answer = guest.get("/api/state", headers={"Cookie": f"{COOKIE}={cookie}"})
    assert answer.json["me"]["role"] == "spectator"


@pytest.mark.parametrize("path", ["/api/table", "/api/join.svg", "/api/settings"])
def test_only_the_host_sees_the_pin(
    guest: FlaskClient, player: FlaskClient, host: FlaskClient, companion: SmallCompanion, path: str
) -> None:
    assert guest.get(path).status_code == 403
    assert player.get(path).status_code == 403
    assert host.get(path).status_code == 200
    for client in (guest, player):
        assert companion.access.pin not in client.get("/api/state").text


@pytest.mark.parametrize("path", ["/api/camera/frame.jpg", "/api/camera/table.jpg", "/api/evidence/" + "0" * 64])
def test_pictures_are_not_for_guests_without_a_pin(
    guest: FlaskClient, player: FlaskClient, companion: SmallCompanion, path: str
) -> None:
    companion.camera_service.shown = {"frame": JPEG, "table": JPEG}
    assert guest.get(path).status_code == 403
    assert player.get(path).status_code in {200, 404}


# --- limits ------------------------------------------------------------------------------------------------------


def test_a_body_has_a_limit(host: FlaskClient) -> None:
    assert host.post("/api/do", data=b" " * (MAX_JSON_BYTES + 1), content_type="application/json").status_code == 413
    assert host.post("/join", data={"pin": "1" * 200_000}).status_code == 413
    photo = host.post("/api/photo", data=b"\xff" * (MAX_PHOTO_BYTES + 1))
    assert photo.status_code == 413
    assert "15 MB" in photo.json["error"]["en"]
    assert "15 Mo" in photo.json["error"]["fr"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'"x"', b"[" * 30_000, b'{"a":' * 9_000 + b"1" + b"}" * 9_000, b"\xff\xfe"]
)
def test_a_broken_body_is_one_sentence(host: FlaskClient, data: bytes) -> None:
    answer = host.post("/api/do", data=data, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json["error"]["en"]
    assert answer.json["error"]["fr"] != answer.json["error"]["en"]


def test_a_form_cannot_pose_as_json(host: FlaskClient) -> None:
    body = b'{"command": "pause", "body": {}, "action_id": "12345678"}'
    assert host.post("/api/do", data=body, content_type="text/plain").status_code == 415


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/x/../../app.py",
        "/static/%2e%2e/app.py",
        "/api/evidence/..%2f..%2faccess.sqlite",
        "/api/evidence/../../access.sqlite",
        "/api/camera/..%2fframe.jpg",
        "/words/x/../../fr.json",
        "/words/x/fr.json",
    ],
)
def test_no_path_comes_from_a_request(player: FlaskClient, path: str) -> None:
    assert player.get(path).status_code == 404
