"""What the API promises: a line of a table beside each route, and the OpenAPI 3.1 document that is made of them all.

A view says with :func:`documented` who may ask, which query parameters and which body it takes, and what it answers;
the path, its parameters and the words come from the route and the docstring. The small functions here write the
schemas. A test holds every route under ``/api`` to its line, and another plays junk against the document.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from flask import Flask

from companion.rules.i18n import CODE

Schema = Mapping[str, Any]
View = TypeVar("View", bound=Callable[..., Any])

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
ANYTHING: Schema = {}
OBJECT: Schema = {"type": "object"}
COLOUR: Schema = {"type": "string", "maxLength": 20}
GAME: Schema = {"$ref": "#/components/schemas/Game"}
LANGUAGE: Schema = {"type": "string", "maxLength": 35}


def text(longest: int, *, pattern: str = "") -> Schema:
    """Return the schema of a text of at most ``longest`` characters."""
    return {"type": "string", "maxLength": longest, **({"pattern": pattern} if pattern else {})}


def whole(low: int, high: int) -> Schema:
    """Return the schema of a whole number from ``low`` to ``high``."""
    return {"type": "integer", "minimum": low, "maximum": high}


def choice(*values: object) -> Schema:
    """Return the schema of one of some values."""
    return {"enum": list(values)}


def listed(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def maybe(schema: Schema) -> Schema:
    """Return the schema of something that may be null."""
    return {"anyOf": [schema, {"type": "null"}]}


def fields(_optional: Sequence[str] = (), /, **schemas: Schema) -> Schema:
    """Return the schema of an object with these fields; all but the optional ones are always there."""
    return {
        "type": "object",
        "properties": schemas,
        "required": [name for name in schemas if name not in _optional],
    }


MORE: Schema = {"patternProperties": {f"^{CODE.pattern}$": TEXT}}
"""Further languages beside ``en`` and ``fr``, each by its code."""
BOTH = {**fields(en=TEXT, fr=TEXT), **MORE}
"""A sentence in every language."""
OK = fields(ok=choice(True))
ERROR = fields(
    ok=choice(False),
    error={**fields(code=TEXT, en=TEXT, fr=TEXT, clauses=listed(TEXT)), **MORE},
)
"""The form of every refusal."""


@dataclass(frozen=True, slots=True)
class ApiContract:
    """What a route promises: ``who`` may ask (``anybody``, ``player`` or ``host``), what it takes and answers.

    ``query`` maps names to schemas; ``body`` is the schema of a JSON body, ``media`` the kind of a body that is none;
    ``answer`` is the schema of the JSON answer, or the media types of another.
    """

    who: str
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Schema | None = None
    media: str | None = None
    answer: Schema | Sequence[str] = field(default_factory=lambda: OK)


WHO = ("anybody", "player", "host")
PARAMETERS: Mapping[str, Schema] = {"game_id": GAME, "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}
"""What is known of the parameters of paths, by name; any other is a text."""

_MARK = "__promise__"
_ARGUMENT = re.compile(r"<(?:[a-z]+:)?(\w+)>")


def documented(
    who: str = "anybody",
    *,
    query: Mapping[str, Schema] | None = None,
    body: Schema | None = None,
    media: str | None = None,
    answer: Schema | Sequence[str] = OK,
) -> Callable[[View], View]:
    """Return a decorator that writes a route's line of the table; put it below the route's own.

    :raises ValueError: for a role that there is not.
    """
    if who not in WHO:
        raise ValueError(who)

    def note(view: View) -> View:
        setattr(view, _MARK, ApiContract(who, query or {}, body, media, answer))
        return view

    return note


def promise_of(view: Callable[..., Any]) -> ApiContract | None:
    """Return what a view promises, None when nobody wrote it down."""
    found: ApiContract | None = getattr(view, _MARK, None)
    return found


@dataclass(frozen=True, slots=True)
class Route:
    """A way to ask: its method and path as written, its arguments, the view and what it promises."""

    method: str
    path: str
    arguments: tuple[str, ...]
    endpoint: str
    view: Callable[..., Any]
    promise: ApiContract | None

    @property
    def words(self) -> tuple[str, str]:
        """Return what the docstring says: its first sentence, and the rest."""
        first, _, rest = (inspect.getdoc(self.view) or "").partition("\n\n")
        return " ".join(first.split()), " ".join(rest.split())


def routes(app: Flask) -> list[Route]:
    """Return every route of the API, in the order of paths."""
    found = []
    for rule in app.url_map.iter_rules():
        if not rule.rule.startswith("/api/"):
            continue
        view = app.view_functions[rule.endpoint]
        arguments = tuple(_ARGUMENT.findall(rule.rule))
        path = _ARGUMENT.sub(r"{\1}", rule.rule)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            found.append(Route(method, path, arguments, rule.endpoint, view, promise_of(view)))
    return sorted(found, key=lambda route: (route.path, route.method))


def document(app: Flask, version: str, offered: Sequence[str]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the API; ``offered`` are the games of the page."""
    paths: dict[str, Any] = {}
    for route in routes(app):
        if route.promise is not None:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, route.promise)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tabletop companion",
            "version": version,
            "description": "Everything the page does. A change carries the page's own Origin or, from a program, the "
            "header X-Companion: 1. Who one is, is a cookie: POST /api/join with the table's PIN gives a player's.",
        },
        "components": {
            "schemas": {"Refusal": ERROR, "Game": {**TEXT, **choice(*offered)}},
            "securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": "companion"}},
        },
        "paths": paths,
    }


def _operation(route: Route, promise: ApiContract) -> dict[str, Any]:
    summary, more = route.words
    operation: dict[str, Any] = {
        "operationId": route.endpoint.replace(".", "_"),
        "tags": [route.path.split("/")[2].split(".")[0]],
        "summary": summary,
        "description": " ".join(part for part in (more, f"Who may ask: {promise.who}.") if part),
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": PARAMETERS.get(name, TEXT)}
            for name in route.arguments
        ]
        + [{"name": name, "in": "query", "schema": schema} for name, schema in promise.query.items()],
        "responses": _responses(promise),
    }
    if promise.who != "anybody":
        operation["security"] = [{"session": []}]
    if promise.body is not None or promise.media is not None:
        kind = promise.media or "application/json"
        schema = promise.body if promise.body is not None else {"type": "string", "format": "binary"}
        operation["requestBody"] = {"required": True, "content": {kind: {"schema": schema}}}
    return operation


def _responses(promise: ApiContract) -> dict[str, Any]:
    refusal = {
        "description": "Refused, and why.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
    }
    if isinstance(promise.answer, Mapping):
        content: dict[str, Any] = {"application/json": {"schema": promise.answer}}
    else:
        content = {kind: {} for kind in promise.answer}
    return {"200": {"description": "Done.", "content": content}, "4XX": refusal, "503": refusal}
