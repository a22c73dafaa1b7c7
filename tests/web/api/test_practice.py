"""The API of the training room: who may do what, what it refuses, sound in ranges, a hundred rounds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.ports import CountPosterior, DeviceKind, DeviceState, IglooStatus
from companion.practice.shakes import CountedShake, Shake
from companion.service.practice import shake_bank
from tests.web.assembly import NAME, SmallCompanion
from web.app import create_app

BASE = f"http://{NAME}"
REAL = IglooStatus("igloo-1", DeviceKind.REAL, DeviceState.CONNECTED, port="/dev/ttyACM0", unit=1)


@pytest.fixture
def companion(tmp_path: Path) -> Iterator[SmallCompanion]:
    companion = SmallCompanion(tmp_path)
    yield companion
    companion.close()


@pytest.fixture
def app(companion: SmallCompanion) -> Flask:
    return create_app(companion)


class Phone:
    """A browser on our page."""

    def __init__(self, client: FlaskClient) -> None:
        self.client = client

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(path, base_url=BASE, headers=headers)

    def post(self, path: str, body: object) -> Any:
        return self.client.post(path, json=body, base_url=BASE, headers={"Origin": BASE})

    def told(self, path: str, body: object | None = None) -> Any:
        answer = self.get(path) if body is None else self.post(path, body)
        assert answer.status_code == 200, answer.text
        return answer.json

    def refused(self, path: str, body: object | None = None) -> tuple[int, str]:
        answer = self.get(path) if body is None else self.post(path, body)
        error = answer.json["error"]
        assert error["en"]
        assert error["fr"]
        assert error["en"] != error["fr"]
        return answer.status_code, error["code"]


@pytest.fixture
def guest(app: Flask) -> Phone:
    return Phone(app.test_client())


@pytest.fixture
def player(app: Flask, companion: SmallCompanion) -> Phone:
    phone = Phone(app.test_client())
    assert phone.post("/api/join", {"pin": companion.access.pin}).status_code == 200
    return phone


@pytest.fixture
def host(app: Flask, companion: SmallCompanion) -> Phone:
    phone = Phone(app.test_client())
    assert phone.post(f"/host/{companion.access.host_token()}", {}).status_code == 303
    return phone


def truth_of(companion: SmallCompanion, round_id: str, folder: Path) -> int:
    db = sqlite3.connect(folder / "training.sqlite")
    found = db.execute("SELECT truth FROM rounds WHERE id = ?", (round_id,)).fetchone()[0]
    db.close()
    return int(found)


def hear(companion: SmallCompanion) -> None:
    companion.igloos.told = [REAL]
    stored = shake_bank().shake(12)
    p = tuple(0.34 if i == 4 else 0.06 for i in range(12))
    companion.ear.newest = CountedShake(
        Shake(stored.accel, stored.rate_hz, DeviceKind.REAL), CountPosterior("counted", p, 2.0, kind=DeviceKind.REAL)
    )


def test_who_only_watches_neither_trains_nor_looks(guest: Phone) -> None:
    for path in ("/api/training", "/api/training/people/1/figures", "/api/training/rounds/x/full.wav"):
        assert guest.refused(path) == (403, "watching")
    for path in ("/api/training/people", "/api/training/rounds", "/api/training/duels", "/api/training/rounds/x/guess"):
        assert guest.refused(path, {}) == (403, "watching")
    assert guest.get("/training").status_code == 200


def test_a_name_is_forgotten_by_the_host_alone(player: Phone, host: Phone) -> None:
    ann = player.told("/api/training/people", {"name": "  Ann   Lee "})
    assert ann["name"] == "Ann Lee"
    path = f"/api/training/people/{ann['person']}"
    assert player.refused(path, {"name": None}) == (403, "not-host")
    assert host.refused(path, {}) == (400, "bad-field")
    assert host.told(path, {"name": "Annie"})["name"] == "Annie"
    assert host.told(path, {"name": None})["name"] is None
    assert host.told("/api/training")["people"] == []
    assert host.refused(path, {"name": "Ann"}) == (404, "no-person")


@pytest.mark.parametrize("name", ["", "   ", "x" * 41, 7, None, "a\u0000b"])
def test_a_name_is_a_name(player: Phone, name: object) -> None:
    assert player.refused("/api/training/people", {"name": name}) == (400, "bad-field")


@pytest.mark.parametrize(
    ("path", "body", "refused"),
    [
        ("rounds", {}, (400, "bad-field")),
        ("rounds", {"person": 99}, (404, "no-person")),
        ("rounds", {"person": True}, (400, "bad-field")),
        ("rounds", {"person": 1, "source": "moon"}, (400, "bad-field")),
        ("rounds", {"person": 1, "source": "igloo"}, (409, "no-igloo")),
        ("rounds/nothing/guess", {"person": 1, "guess": 5}, (404, "no-round")),
        (f"rounds/{'x' * 500}/guess", {"person": 1, "guess": 5}, (404, "no-round")),
        ("rounds/nothing/guess", {"person": 1, "guess": 14}, (400, "bad-field")),
        ("rounds/nothing/guess", {"person": 1, "guess": 5.0}, (400, "bad-field")),
        ("rounds/nothing/truth", {"truth": 1}, (400, "bad-field")),
        ("rounds/nothing/drop", {}, (404, "no-round")),
        ("duels", {"people": [1], "rounds": 3}, (400, "duellists")),
        ("duels", {"people": [1, 99], "rounds": 3}, (404, "no-person")),
        ("duels", {"people": "1", "rounds": 3}, (400, "bad-field")),
        ("duels", {"people": [1, 2], "rounds": 21}, (400, "bad-field")),
        ("duels/nothing/next", {"after": 1}, (404, "no-duel")),
        ("duels/nothing/close", {}, (404, "no-duel")),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    player: Phone, path: str, body: object, refused: tuple[int, str]
) -> None:
    player.told("/api/training/people", {"name": "Ann"})
    assert player.refused(f"/api/training/{path}", body) == refused


def test_a_shake_is_heard_whole_or_in_ranges_and_tells_nothing(player: Phone) -> None:
    ann = player.told("/api/training/people", {"name": "Ann"})["person"]
    dealt = player.told("/api/training/rounds", {"person": ann})
    path = f"/api/training/rounds/{dealt['id']}"
    sizes = []
    for speed in ("full", "half", "quarter"):
        answer = player.get(f"{path}/{speed}.wav")
        assert answer.status_code == 200
        assert answer.mimetype == "audio/wav"
        assert answer.data[:4] == b"RIFF"
        assert "ETag" not in answer.headers
        assert "Content-Disposition" not in answer.headers
        sizes.append(len(answer.data))
    assert sizes[0] < sizes[1] < sizes[2]
    part = player.get(f"{path}/full.wav", Range="bytes=0-1")
    assert part.status_code == 206
    assert part.data == b"RI"
    assert player.refused(f"{path}/double.wav") == (404, "no-sound")


def test_what_was_answered_is_told_newest_first(player: Phone, guest: Phone) -> None:
    ann = player.told("/api/training/people", {"name": "Ann"})["person"]
    path = f"/api/training/people/{ann}/shakes"
    assert player.told(path) == {"shakes": [], "kept": 300, "more": None}
    for guess in (5, 6):
        dealt = player.told("/api/training/rounds", {"person": ann})["id"]
        player.told(f"/api/training/rounds/{dealt}/guess", {"person": ann, "guess": guess})
    assert [one["guess"] for one in player.told(path)["shakes"]] == [6, 5]
    assert player.told(f"{path}?before=1")["shakes"] == []
    for before in ("", "x", "0", "-1", "9" * 40):
        assert player.refused(f"{path}?before={before}") == (400, "bad-field")
    assert player.refused("/api/training/people/99/shakes") == (404, "no-person")
    assert guest.refused(path) == (403, "watching")


def test_examples_of_a_number_are_heard(player: Phone, guest: Phone) -> None:
    assert player.get("/api/training/examples/13/half.wav").data[:4] == b"RIFF"
    for path in ("14/half", "1/half", "x/half", "999/half", "7/double"):
        assert player.refused(f"/api/training/examples/{path}.wav") == (404, "no-sound")
    assert guest.refused("/api/training/examples/7/full.wav") == (403, "watching")


def test_nothing_that_is_sent_before_the_answer_holds_the_truth(player: Phone, companion: SmallCompanion) -> None:
    ann = player.told("/api/training/people", {"name": "Ann"})["person"]
    seen: dict[str, set[str]] = {}
    for _ in range(12):
        dealt = player.told("/api/training/rounds", {"person": ann})
        for told in (dealt, player.told(f"/api/training/rounds/{dealt['id']}")):
            for name, value in told.items():
                seen.setdefault(name, set()).add(json.dumps(value))
        player.told(f"/api/training/rounds/{dealt['id']}/guess", {"person": ann, "guess": 7})
    seen.pop("id")
    seen.pop("number")
    # What is the same for every shake says nothing of any.
    assert {name: len(values) for name, values in seen.items()} == dict.fromkeys(seen, 1)


def test_the_igloo_of_a_live_round_is_not_spoken_of(player: Phone, companion: SmallCompanion) -> None:
    hear(companion)
    ann = player.told("/api/training/people", {"name": "Ann"})["person"]
    dealt = player.told("/api/training/rounds", {"person": ann, "source": "igloo"})
    path = f"/api/training/rounds/{dealt['id']}"
    assert player.told(path)["state"] == "heard"
    player.told(f"{path}/guess", {"person": ann, "guess": 6})
    player.told(f"{path}/truth", {"truth": 7})
    told = player.told("/api/training")
    assert told["igloo"] == "real"
    assert {row["who"] for row in told["ladder"]} == {"person", "machine", "published", "chance"}
    companion.open_match()
    companion.moves("start")
    assert companion.night.live_round()
    told = player.told("/api/training")
    assert told["igloo"] is None
    assert [row["who"] for row in told["ladder"]] == ["published", "chance"]
    assert player.refused("/api/training/rounds", {"person": ann, "source": "igloo"}) == (409, "live-round")
    assert player.refused(path) == (409, "live-round")
    assert player.refused(f"{path}/full.wav") == (409, "live-round")
    assert player.refused(f"{path}/guess", {"person": ann, "guess": 6}) == (409, "live-round")
    assert player.told(f"/api/training/people/{ann}/figures")["overall"]["own"]["answers"] == 0
    assert player.told("/api/training/rounds", {"person": ann})["kind"] == "simulated"


def test_a_listening_that_nobody_answered_can_be_left(player: Phone, companion: SmallCompanion) -> None:
    companion.igloos.told = [REAL]
    ann = player.told("/api/training/people", {"name": "Ann"})["person"]
    first = player.told("/api/training/rounds", {"person": ann, "source": "igloo"})
    player.told(f"/api/training/rounds/{first['id']}/drop", {})
    assert player.refused(f"/api/training/rounds/{first['id']}") == (404, "no-round")
    stored = player.told("/api/training/rounds", {"person": ann})
    assert player.refused(f"/api/training/rounds/{stored['id']}/drop", {}) == (409, "known")
    assert player.refused(f"/api/training/rounds/{stored['id']}/truth", {"truth": 4}) == (409, "known")


def test_a_book_that_cannot_be_used_spoils_nothing_else(
    player: Phone, tmp_path: Path, companion: SmallCompanion
) -> None:
    (tmp_path / "training.sqlite").write_bytes(b"")
    assert player.refused("/api/training") == (503, "storage")
    assert player.get("/api/state").status_code == 200


def test_a_hundred_rounds_of_a_duel_and_of_drills_are_all_kept(
    player: Phone, companion: SmallCompanion, tmp_path: Path
) -> None:
    """A person who is right up to four and 15 % off above, and one who plays duels against it."""
    rng = Random(2)
    ann, bob = (player.told("/api/training/people", {"name": name})["person"] for name in ("Ann", "Bob"))

    def heard(truth: int) -> int:
        return truth if truth <= 4 else min(13, max(2, round(rng.gauss(truth, 0.15 * truth))))

    exact = 0
    for number in range(1, 81):
        dealt = player.told("/api/training/rounds", {"person": ann})
        assert dealt["number"] == number
        truth = truth_of(companion, dealt["id"], tmp_path)
        told = player.told(f"/api/training/rounds/{dealt['id']}/guess", {"person": ann, "guess": heard(truth)})
        assert told["result"]["truth"] == truth
        exact += told["result"]["guesses"][str(ann)] == truth
    duel = player.told("/api/training/duels", {"people": [ann, bob], "rounds": 20})
    points = {ann: 0, bob: 0}
    while True:
        shake = duel["round"]
        truth = truth_of(companion, shake["id"], tmp_path)
        for person in (ann, bob):
            guess = heard(truth)
            points[person] += 3 if guess == truth else 1 if abs(guess - truth) == 1 else 0
            exact += person == ann and guess == truth
            player.told(f"/api/training/rounds/{shake['id']}/guess", {"person": person, "guess": guess})
        duel = player.told(f"/api/training/duels/{duel['id']}/next", {"after": shake["number"]})
        if duel["over"]:
            break
    assert {one["person"]: one["points"] for one in duel["people"]} == points
    figures = player.told(f"/api/training/people/{ann}/figures")
    assert figures["overall"]["own"]["answers"] == 100
    assert sum(figures["confusion"][i][i] for i in range(12)) == exact
    assert figures["counts"][0]["own"]["exact"] == 1.0
    assert sum(week["answers"] for week in figures["weeks"]) == 100
    assert 0.05 < figures["weber"] < 0.25
    ladder = player.told("/api/training")["ladder"]
    assert {row["who"] for row in ladder} == {"person", "machine", "published", "chance"}
    assert [row["standing"] for row in ladder] == sorted(row["standing"] for row in ladder)
