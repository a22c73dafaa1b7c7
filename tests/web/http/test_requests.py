"""What a request holds is read into types: what does not fit is refused in a sentence that names the field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient
from msgspec import UNSET, Meta, UnsetType

from companion.rules.core import JSON
from tests.web.assembly import NAME, SmallCompanion
from tests.web.conftest import Client
from web.app import create_app
from web.http.openapi import documented
from web.http.requests import MAX_JSON_DEPTH, Body, Query
from web.http.responses import languages


class Guest(msgspec.Struct, frozen=True):
    name: Annotated[str, Meta(max_length=5)]


class Supper(Body, frozen=True):
    dish: Annotated[str, Meta(max_length=10, pattern=r"^[a-z]+$(?!\n)")]
    plates: Annotated[int, Meta(ge=1, le=2**53)] = 1
    warm: bool = False
    heat: Annotated[float, Meta(gt=-1000, lt=1000)] = 0.0
    guests: Annotated[list[Guest], Meta(max_length=3)] = msgspec.field(default_factory=list)
    course: Literal["first", "last"] = "first"
    notes: dict[str, JSON] = msgspec.field(default_factory=dict)
    cook: str | UnsetType | None = UNSET


class Seats(Query, frozen=True):
    table: Annotated[int, Meta(ge=1, le=99)]
    near: Annotated[int, Meta(ge=0, le=10**15)] | None = None
    by: Annotated[str, Meta(max_length=5)] = ""


@pytest.fixture
def eater(tmp_path: Path) -> Iterator[FlaskClient]:
    companion = SmallCompanion(tmp_path)
    app: Flask = create_app(companion)
    app.test_client_class = Client

    @app.post("/api/supper")
    @documented()
    def supper(body: Supper) -> dict[str, JSON]:
        """Eat."""
        return msgspec.to_builtins(body)  # type: ignore[no-any-return]

    @app.get("/api/seats")
    @documented()
    def seats(query: Seats) -> dict[str, JSON]:
        """Sit."""
        return msgspec.to_builtins(query)  # type: ignore[no-any-return]

    yield app.test_client()
    companion.close()


GOOD = '"dish": "soup"'


def test_what_is_sent_comes_as_the_type_says_and_what_is_left_out_by_its_default(eater: FlaskClient) -> None:
    told = eater.post("/api/supper", json={"dish": "soup", "heat": 3, "guests": [{"name": "Ann"}], "unknown": 1}).json
    assert told == {
        "dish": "soup",
        "plates": 1,
        "warm": False,
        "heat": 3.0,
        "guests": [{"name": "Ann"}],
        "course": "first",
        "notes": {},
    }
    assert eater.post("/api/supper", json={"dish": "soup", "cook": None}).json["cook"] is None
    assert eater.post("/api/supper", json={"dish": "soup", "plates": 2**53}).json["plates"] == 2**53
    # The last of two of the same name counts, as everywhere.
    assert eater.post("/api/supper", data='{"dish": "a", "dish": "b"}', content_type="application/json").json[
        "dish"
    ] == ("b")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("{}", "dish"),
        ('{"dish": null}', "dish"),
        ('{"dish": 3}', "dish"),
        ('{"dish": "soupsoupsoup"}', "dish"),
        ('{"dish": "soup\\n"}', "dish"),
        (f'{{{GOOD}, "plates": true}}', "plates"),
        (f'{{{GOOD}, "plates": 2.0}}', "plates"),
        (f'{{{GOOD}, "plates": "2"}}', "plates"),
        (f'{{{GOOD}, "plates": null}}', "plates"),
        (f'{{{GOOD}, "plates": 0}}', "plates"),
        (f'{{{GOOD}, "plates": {2**53 + 1}}}', "plates"),
        (f'{{{GOOD}, "plates": {"9" * 300}}}', "plates"),
        (f'{{{GOOD}, "plates": {"9" * 5000}}}', "plates"),
        (f'{{{GOOD}, "warm": 1}}', "warm"),
        (f'{{{GOOD}, "warm": "true"}}', "warm"),
        (f'{{{GOOD}, "heat": true}}', "heat"),
        (f'{{{GOOD}, "heat": 1e3}}', "heat"),
        (f'{{{GOOD}, "heat": 1e999}}', "heat"),
        (f'{{{GOOD}, "guests": {{}}}}', "guests"),
        (f'{{{GOOD}, "guests": [{{}}]}}', "guests"),
        (f'{{{GOOD}, "guests": [{{"name": "Annabella"}}]}}', "guests"),
        (f'{{{GOOD}, "guests": [{{"name": "A"}}, 1]}}', "guests"),
        (f'{{{GOOD}, "guests": {json.dumps([{"name": "A"}] * 4)}}}', "guests"),
        (f'{{{GOOD}, "course": "middle"}}', "course"),
        (f'{{{GOOD}, "course": "x` - at `$.warm`"}}', "course"),
        (f'{{{GOOD}, "notes": []}}', "notes"),
        (f'{{{GOOD}, "cook": 1}}', "cook"),
    ],
)
def test_what_does_not_fit_is_refused_by_the_name_of_its_field(eater: FlaskClient, text: str, field: str) -> None:
    answer = eater.post("/api/supper", data=text, content_type="application/json")
    error = answer.json["error"]
    assert (answer.status_code, error["code"]) == (400, "bad-field")
    assert error["en"] == f"The field {field} is missing or is not what it should be."
    assert all(field in error[language] for language in languages())
    assert len({error[language] for language in languages()}) == len(languages()) >= 2
    assert set(answer.json) == {"ok", "error"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soup",
        "[]",
        "3",
        "null",
        '{"dish": "soup"',
        '{"dish": "soup"} x',
        f'{{{GOOD}, "heat": NaN}}',
        f'{{{GOOD}, "notes": {{"a": Infinity}}}}',
        '{"dish": "\\ud800"}',
        f'{{{GOOD}, "notes": {{"a": "\\udc00"}}}}',
        f'{{{GOOD}, "notes": {{"a": {"[" * 100_000}{"]" * 100_000}}}}}',
        "[" * 60_000,
        '{"a":' * 10_000,
        f'{{{GOOD}, "other": {"[" * 40}{"]" * 40}}}',
        f'{{{GOOD}, "other": 1e999, "notes": {{"a": {"[" * 40}{"]" * 40}}}}}',
    ],
)
def test_what_is_no_json_object_of_sound_depth_is_said_to_be_none(eater: FlaskClient, text: str) -> None:
    answer = eater.post("/api/supper", data=text, content_type="application/json")
    expected = (413, "too-large") if len(text) > 64 * 1024 else (400, "bad-json")
    assert (answer.status_code, answer.json["error"]["code"]) == expected


def test_a_body_may_be_as_deep_as_it_ever_might_and_no_deeper(eater: FlaskClient) -> None:
    def nested(depth: int) -> str:
        return f'{{{GOOD}, "notes": {{"a": {"[" * (depth - 2)}{"]" * (depth - 2)}}}}}'

    for depth, status in ((MAX_JSON_DEPTH, 200), (MAX_JSON_DEPTH + 1, 400)):
        assert eater.post("/api/supper", data=nested(depth), content_type="application/json").status_code == status
    # Brackets in a text are no depth.
    told = eater.post("/api/supper", json={"dish": "soup", "notes": {"a": "[" * 50}})
    assert told.json["notes"] == {"a": "[" * 50}


def test_a_body_of_another_kind_is_not_read(eater: FlaskClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = eater.post("/api/supper", data='{"dish": "soup"}', content_type=kind)
        assert (answer.status_code, answer.json["error"]["code"]) == (415, "not-json")


def test_a_query_is_read_into_its_type(eater: FlaskClient) -> None:
    assert eater.get("/api/seats?table=7").json == {"table": 7, "near": None, "by": ""}
    assert eater.get("/api/seats?table=07&near=0&by=12&other=x").json == {"table": 7, "near": 0, "by": "12"}
    assert eater.get("/api/seats?table=7&table=x").json["table"] == 7


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "table"),
        ("table=", "table"),
        ("table=100", "table"),
        ("table=x", "table"),
        ("table=-1", "table"),
        ("table=%2B1", "table"),
        ("table=%201", "table"),
        ("table=1.0", "table"),
        ("table=1e1", "table"),
        ("table=%D9%A1", "table"),
        ("table=null", "table"),
        (f"table={'9' * 5000}", "table"),
        ("table=1&near=null", "near"),
        (f"table=1&near={10**15 + 1}", "near"),
        ("table=1&by=abcdef", "by"),
    ],
)
def test_a_parameter_that_does_not_fit_is_refused_by_its_name(eater: FlaskClient, query: str, field: str) -> None:
    answer = eater.get(f"/api/seats?{query}", base_url=f"http://{NAME}")
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "bad-field")
    assert f"“{field}”" in answer.json["error"]["fr"] or field in answer.json["error"]["fr"]


def test_who_may_not_ask_is_not_read(guest: FlaskClient, player: FlaskClient) -> None:
    assert guest.post("/api/do", data=b"{", content_type="application/json").status_code == 403
    assert player.post("/api/settings", data=b"{", content_type="application/json").status_code == 403
    assert guest.options("/api/do").status_code == 200
