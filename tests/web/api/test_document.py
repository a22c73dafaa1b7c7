"""The API's own description: every route is in it, with the parameters that it reads, and says who may ask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.night.commands.handlers import COMMANDS
from companion.rules import games
from tests.web.assembly import SmallCompanion
from web.app import create_app
from web.http.openapi import ApiContract, Route, document, promise_of, routes


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Flask, list[Route]]]:
    companion = SmallCompanion(tmp_path_factory.mktemp("described"))
    app = create_app(companion)
    yield app, routes(app)
    companion.close()


def test_every_route_is_described(described: tuple[Flask, list[Route]]) -> None:
    _, found = described
    assert [route.path for route in found if route.promise is None] == []
    assert all(route.words[0].endswith((".", ":")) for route in found)


def test_a_view_takes_what_its_path_names_and_nothing_that_is_not_declared(
    described: tuple[Flask, list[Route]],
) -> None:
    _, found = described
    for route in found:
        promise = promise_of(route.view)
        assert isinstance(promise, ApiContract)
        assert set(promise.path) == set(route.arguments), route.path
        assert promise.body is None or promise.media is None, route.path
        assert promise.body is None or route.method == "POST", route.path


def test_the_document_describes_the_body_and_the_query_that_are_read(described: tuple[Flask, list[Route]]) -> None:
    app, _ = described
    told = document(app, "1.2.3", games())
    do = told["paths"]["/api/do"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    form = told["components"]["schemas"][do["$ref"].rpartition("/")[2]]
    assert set(form["properties"]) == {"command", "body", "state", "action_id"}
    assert set(form["required"]) == {"command", "action_id"}
    assert form["properties"]["state"]["anyOf"][0]["maximum"] == 2**53
    commands = {one["properties"]["command"]["const"]: one["properties"]["body"]["$ref"] for one in do["anyOf"]}
    assert set(commands) == set(COMMANDS)
    undo = told["components"]["schemas"][commands["undo"].rpartition("/")[2]]
    assert (set(undo["properties"]), undo["required"]) == (COMMANDS["undo"].fields, ["to"])
    assert undo["additionalProperties"] is False
    brought = told["paths"]["/api/backups/brought"]["post"]["parameters"]
    assert [(one["name"], one["required"]) for one in brought] == [("at", True), ("size", True), ("name", False)]
    assert brought[1]["schema"]["minimum"] == 1
    assert (
        told["paths"]["/api/boxes/{game_id}"]["get"]["parameters"][0]["schema"]["$ref"] == "#/components/schemas/Game"
    )
    assert told["components"]["schemas"]["Game"]["enum"] == list(games())


def test_the_document_has_the_paths_and_their_parameters(described: tuple[Flask, list[Route]]) -> None:
    app, found = described
    told = document(app, "1.2.3", games())
    assert told["openapi"] == "3.1.0"
    assert {(path, method.upper()) for path, way in told["paths"].items() for method in way} == {
        (route.path, route.method) for route in found
    }
    for route in found:
        parameters = told["paths"][route.path][route.method.lower()]["parameters"]
        assert {one["name"] for one in parameters if one["in"] == "path"} == set(route.arguments)
        assert all(f"{{{name}}}" in route.path for name in route.arguments)


def test_the_document_names_the_games_that_are_offered(guest: FlaskClient, companion: SmallCompanion) -> None:
    assert guest.get("/api/openapi.json").json["components"]["schemas"]["Game"]["enum"] == list(games())
    companion.night.offered = ("arctic", "toy-game")
    assert guest.get("/api/openapi.json").json["components"]["schemas"]["Game"]["enum"] == ["arctic", "toy-game"]


def test_it_is_served_for_programs_and_as_a_page(guest: FlaskClient, app: Flask) -> None:
    assert guest.get("/api/openapi.json").json == document(app, "0.0.test", games())
    for language in ("en", "fr"):
        page = guest.get("/api", headers={"Accept-Language": language}).text
        assert "``" not in page
        assert "<code>?after=SEQ</code>" in page
        assert f'<html lang="{language}">' in page
        assert all(route.path in page for route in routes(app))


def test_everybody_else_is_turned_away(described: tuple[Flask, list[Route]], app: Flask, player: FlaskClient) -> None:
    _, found = described
    guest = app.test_client()
    for route in found:
        assert route.promise is not None
        path = re.sub(r"\{\w+\}", "1", route.path.replace("{game_id}", "arctic"))
        body: dict[str, Any] = {} if route.method == "GET" else {"json": {}}
        if route.promise.who != "anybody":
            assert guest.open(path, method=route.method, **body).status_code == 403, route.path
        if route.promise.who == "host":
            assert player.open(path, method=route.method, **body).status_code == 403, route.path
