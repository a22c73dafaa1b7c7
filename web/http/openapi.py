"""What the API promises: a declaration beside each route, and the OpenAPI 3.1 document that is made of them all.

A view says with :func:`documented` who may ask, and by its own types what it takes and answers: an argument ``body``
(a :class:`web.http.requests.Body`), an argument ``query`` (a :class:`web.http.requests.Query`), the arguments of its
path, and what it returns. The same types read the request, so what is described is what is taken; the words come from
the docstring. A test plays junk against the document.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, TypedDict, get_args, get_type_hints

import msgspec
from flask import Flask, Response

from companion.rules.core import JSON
from web.http.assets import packed as as_packed
from web.http.requests import Query, body_reader, query_reader
from web.http.responses import Refusal, json_response

Who = Literal["anybody", "player", "host"]
View = Callable[..., Any]
Schema = dict[str, Any]


class ApiDocument(TypedDict):
    """An OpenAPI 3.1 document."""

    openapi: str
    info: dict[str, JSON]
    paths: dict[str, JSON]
    components: dict[str, JSON]


class DoneForm(TypedDict):
    """It was done."""

    ok: Literal[True]


@dataclass(frozen=True, slots=True)
class ApiContract:
    """What a route promises: ``who`` may ask, what it takes and answers.

    ``guard`` is asked in place of the usual question for ``who``; ``path``, ``query`` and ``body`` are the types of
    what is taken, ``media`` the kind of a body that is no JSON; ``answer`` is the type of the JSON answer, or the media
    types of another; ``parts`` are further types that those name by ``#/components/schemas/``.
    """

    who: Who
    guard: Callable[[], object] | None = None
    path: Mapping[str, Any] = field(default_factory=dict)
    query: type[Query] | None = None
    body: Any = None
    media: str | None = None
    answer: Any = DoneForm
    parts: Sequence[Any] = ()

    @property
    def asked(self) -> list[str]:
        """Return the names of the query parameters."""
        return [one.encode_name for one in msgspec.structs.fields(self.query)] if self.query is not None else []

    @property
    def fields(self) -> list[tuple[str, bool]]:
        """Return the names of the body's fields, and whether each must be there."""
        kind = getattr(self.body, "__origin__", self.body)  # an annotated type has the type itself there
        if not isinstance(kind, type) or not issubclass(kind, msgspec.Struct):
            return []
        return [(one.encode_name, one.required) for one in msgspec.structs.fields(kind)]


_MARK = "__promise__"
_ARGUMENT = re.compile(r"<(?:[a-z]+:)?(\w+)>")
_REFERENCE = "#/components/schemas/{name}"


def documented(
    who: Who = "anybody",
    *,
    guard: Callable[[], object] | None = None,
    media: str | None = None,
    answer: Any = None,
    packed: bool = False,
    parts: Sequence[Any] = (),
) -> Callable[[View], View]:
    """Return a decorator that makes a route of a view; put it below the route's own.

    The view gets its ``body`` and ``query`` read and checked, and what it returns is answered as JSON, ``packed`` where
    it may be long. A view that makes a response of its own (``-> Response``) says with ``answer`` what is in it: a
    type, or media types. ``guard`` is asked before anything is read, in place of the usual question for ``who``.

    :raises ValueError: for a role that there is not.
    """
    if who not in get_args(Who):
        raise ValueError(who)

    def note(view: View) -> View:
        hints = get_type_hints(view, include_extras=True)
        returned, body, query = (hints.pop(name, None) for name in ("return", "body", "query"))
        readers = {}
        if body is not None:
            readers["body"] = body_reader(body)
        if query is not None:
            readers["query"] = query_reader(query)

        @wraps(view)
        def route(**path: str) -> Response:
            given = view(**path, **{name: read() for name, read in readers.items()})
            response = given if isinstance(given, Response) else json_response(given)
            return as_packed(response) if packed and response.status_code == 200 else response

        told = answer or (DoneForm if returned is Response else returned)
        setattr(route, _MARK, ApiContract(who, guard, hints, query, body, media, told, parts))
        return route

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


def document(app: Flask, version: str, offered: Sequence[str]) -> ApiDocument:
    """Return the OpenAPI 3.1 document of the API; ``offered`` are the games of the page."""
    promised = [(route, route.promise) for route in routes(app) if route.promise is not None]
    kinds = [Refusal]
    for _, promise in promised:
        kinds += promise.parts
        kinds += [promise.body] if promise.body is not None else []
        kinds += [] if isinstance(promise.answer, tuple) else [promise.answer]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    of = dict(zip(map(_key, kinds), schemas, strict=True))
    paths: dict[str, Any] = {}
    for route, promise in promised:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, promise, of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tabletop companion",
            "version": version,
            "description": "Everything the page does. A change carries the page's own Origin or, from a program, the "
            "header X-Companion: 1. Who one is, is a cookie: POST /api/join with the table's PIN gives a player's.",
        },
        "components": {
            "schemas": {**components, "Game": {"type": "string", "enum": list(offered)}},
            "securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": "companion"}},
        },
        "paths": paths,
    }


def _key(kind: Any) -> str:
    return repr(kind)


def _parameters(promise: ApiContract, arguments: Sequence[str]) -> list[Schema]:
    found: list[Schema] = [
        {"name": name, "in": "path", "required": True, "schema": msgspec.json.schema(promise.path[name])}
        for name in arguments
    ]
    if promise.query is not None:
        ((_,), known) = msgspec.json.schema_components([promise.query])
        schema = known[promise.query.__name__]
        found += [
            {"name": name, "in": "query", "required": name in schema["required"], "schema": one}
            for name, one in schema["properties"].items()
        ]
    return found


def _operation(route: Route, promise: ApiContract, of: Mapping[str, Schema]) -> Schema:
    summary, more = route.words
    operation: Schema = {
        "operationId": route.endpoint.replace(".", "_"),
        "tags": [route.path.split("/")[2].split(".")[0]],
        "summary": summary,
        "description": " ".join(part for part in (more, f"Who may ask: {promise.who}.") if part),
        "parameters": _parameters(promise, route.arguments),
        "responses": _responses(promise, of),
    }
    if promise.who != "anybody":
        operation["security"] = [{"session": []}]
    if promise.body is not None or promise.media is not None:
        kind = promise.media or "application/json"
        schema = of[_key(promise.body)] if promise.body is not None else {"type": "string", "format": "binary"}
        operation["requestBody"] = {"required": True, "content": {kind: {"schema": schema}}}
    return operation


def _responses(promise: ApiContract, of: Mapping[str, Schema]) -> Schema:
    refusal = {
        "description": "Refused, and why.",
        "content": {"application/json": {"schema": of[_key(Refusal)]}},
    }
    if isinstance(promise.answer, tuple):
        content: Schema = {kind: {} for kind in promise.answer}
    else:
        content = {"application/json": {"schema": of[_key(promise.answer)]}}
    return {"200": {"description": "Done.", "content": content}, "4XX": refusal, "503": refusal}
