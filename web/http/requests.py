"""What a request holds: a JSON body and query parameters, each read into the type that its route declares.

A route names a :class:`Body` or a :class:`Query` (structs of msgspec) as an argument; what does not fit is refused in
one sentence that names the field. A field that a struct does not have is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec
from flask import request
from msgspec import Meta, inspect
from werkzeug.exceptions import BadRequest

from companion.night.commands.bodies import misfit
from companion.rules.core import JSON
from web.http.responses import RefusedError, bad_field

MAX_JSON_BYTES = 64 * 1024
MAX_JSON_DEPTH = 12
MAX_PHOTO_MB = 15
MAX_PHOTO_BYTES = MAX_PHOTO_MB * 1024 * 1024
MOST_DIGITS = 16

GameId = Annotated[str, Meta(max_length=40, extra_json_schema={"$ref": "#/components/schemas/Game"})]
"""A game; whether there is one of that name the view says, for each says it in words of its own."""
Sha256 = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{64}$"})]
"""The name of a picture."""

Reader = Callable[[], Any]


class Body(msgspec.Struct, frozen=True):
    """The JSON object that a request has as its body."""


class Query(msgspec.Struct, frozen=True):
    """The parameters behind the question mark of an address."""


def body_reader(kind: Any) -> Reader:
    """Return what reads the body of the request in hand as a ``kind``.

    What it returns raises :class:`web.http.responses.RefusedError` for a body that is no JSON (415, 400), is too large
    (413), is nested too deeply, or does not fit (400, with the field).
    """
    decoder = msgspec.json.Decoder(kind)

    def read() -> Any:
        data = _json_bytes()
        try:
            body = decoder.decode(data)
            deep = _too_deep(data)
        except msgspec.ValidationError as error:
            field = misfit(error)
            raise (_no_json() if field is None else bad_field(field)) from None
        except (msgspec.DecodeError, RecursionError):
            raise _no_json() from None
        if deep:
            raise _no_json()
        return body

    return read


def query_reader(kind: type[Query]) -> Reader:
    """Return what reads the query of the request in hand as a ``kind``; of a parameter that is there twice the first.

    What it returns raises :class:`web.http.responses.RefusedError` for a parameter that does not fit (400). A number is
    digits and nothing else.
    """
    known = inspect.type_info(kind)
    assert isinstance(known, inspect.StructType)  # noqa: S101 - a Query is a struct
    numbers = {field.encode_name for field in known.fields if _is_whole(field.type)}

    def read() -> Any:
        given = {name: _digits(text) if name in numbers else text for name, text in request.args.items()}
        try:
            return msgspec.convert(given, kind)
        except msgspec.ValidationError as error:
            raise bad_field(misfit(error) or "?") from None

    return read


def photo_body(*, needed: bool = True) -> bytes:
    """Return the request's body, a picture as it was sent.

    :raises RefusedError: when it is too large (413), or empty though a photo is ``needed``.
    """
    if (request.content_length or 0) > MAX_PHOTO_BYTES:
        raise RefusedError(
            413, "too-large", "This picture is too large: at most %(limit)s MB can be taken in.", limit=MAX_PHOTO_MB
        )
    request.max_content_length = MAX_PHOTO_BYTES
    data = request.get_data(cache=False)
    if needed and not data:
        raise RefusedError(400, "no-photo", "No photo was sent.")
    return data


def _json_bytes() -> bytes:
    if request.mimetype != "application/json":
        raise RefusedError(415, "not-json", "The body of this request must be JSON.")
    if (request.content_length or 0) > MAX_JSON_BYTES:
        raise RefusedError(413, "too-large", "This is more than can be taken in.")
    request.max_content_length = MAX_JSON_BYTES
    try:
        return request.get_data(cache=False)
    except BadRequest:
        raise _no_json() from None


def _no_json() -> RefusedError:
    return RefusedError(400, "bad-json", "The body of this request must be JSON.")


def _too_deep(data: bytes) -> bool:
    if data.count(b"[") + data.count(b"{") <= MAX_JSON_DEPTH:
        return False
    return _deeper(msgspec.json.decode(data), MAX_JSON_DEPTH)


def _deeper(value: JSON, left: int) -> bool:
    if isinstance(value, Mapping):
        return left == 0 or any(_deeper(inner, left - 1) for inner in value.values())
    if isinstance(value, list):
        return left == 0 or any(_deeper(inner, left - 1) for inner in value)
    return False


def _is_whole(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.IntType) or (
        isinstance(kind, inspect.UnionType) and any(isinstance(one, inspect.IntType) for one in kind.types)
    )


def _digits(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else text
