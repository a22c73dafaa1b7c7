"""The API's own description: every route is in it, with the parameters that it reads, and says who may ask."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.rules import games
from tests.web.assembly import SmallCompanion
from web.app import create_app
from web.http.openapi import ApiContract, Route, document, promise_of, routes

READERS = {"text_field", "_whole", "_count", "whole_field", "_flag"}
"""Functions of the views that read the field of a body that is named by their second argument."""


def calls_within(view: Callable[..., Any]) -> Iterator[ast.AST]:
    """Yield every node of a view and of the functions of its module that it calls, one in the other."""
    module = inspect.getmodule(view)
    assert module is not None
    functions = {
        node.name: node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.FunctionDef)
    }
    todo, seen = [view.__name__], set()
    while todo:
        name = todo.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        for node in ast.walk(functions[name]):
            yield node
            if isinstance(node, ast.Name):
                todo.append(node.id)


def constant(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def read_by(view: Callable[..., Any]) -> tuple[set[str], set[str]]:
    """Return the names of the query parameters and of the fields of the body that a view reads."""
    query, body = set(), set()
    for node in calls_within(view):
        if isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func)
            first = constant(node.args[0])
            if called == "request.args.get" and first:
                query.add(first)
            elif called in {"body.get", "json_body().get"} and first:
                body.add(first)
            elif called in READERS and len(node.args) > 1 and (second := constant(node.args[1])):
                body.add(second)
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "body" and (name := constant(node.slice)):
            body.add(name)
    return query, body


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


def test_the_parameters_are_those_that_are_read(described: tuple[Flask, list[Route]]) -> None:
    _, found = described
    wrong = []
    for route in found:
        promise = promise_of(route.view)
        assert isinstance(promise, ApiContract)
        query, body = read_by(route.view)
        promised = set((promise.body or {}).get("properties", {}))
        open_body = promise.body is not None and "properties" not in promise.body
        if query != set(promise.query) or (body != promised and not open_body):
            wrong.append((route.method, route.path, sorted(query), sorted(body)))
    assert wrong == []


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
